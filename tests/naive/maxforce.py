"""Update strategies of the violation-fixing perceptron by definition, and beams (Yu et al. 2013, section 3)."""

import math


def strategies(good, bad, futures, has_good, is_solved, closest, phrase_limit):
    """{strategy: the bin at which it updates, or None}.

    good, bad: best score of a y-good and of a y-bad derivation of each bin, or None; futures: for each bin the future
    cost that counts with either when the largest violation is looked for; has_good: whether the beam of each bin has a
    y-good one; is_solved: whether the reference is the best translation; closest: the score of the hypothesis that is
    most like the reference, or None if that is the best y-bad one; phrase_limit: of source words.
    """
    n = len(good) - 1
    compared = [i for i in range(n + 1) if good[i] is not None and bad[i] is not None]
    hopeless = [
        i for i in range(1, n + 1) if all(j > n or not has_good[j] for j in range(i, i + phrase_limit))
    ]  # where `phrase_limit` bins without a y-good one begin; past the last bin there is none
    valid = [i for i in compared if bad[i] >= good[i]]  # elsewhere an update would be invalid
    violations = {i: bad[i] + futures[i][1] - (good[i] + futures[i][0]) for i in valid}
    worst = max(violations.values(), default=-math.inf)
    largest = next((i for i in valid if violations[i] == worst), None) if worst >= 0 else None
    last = n if not is_solved and n in compared else None
    early = next((i for i in compared if i >= hopeless[0]), None) if hopeless else last
    local = n if not is_solved and closest is not None else None
    return {"early": early, "max_violation": largest, "standard": last, "local": local}


def texts(graph, options, node):
    """Target ids of the best derivation to a node of a search graph through each edge to it, the best edge first."""
    ids = []
    for edge in range(int(graph.edge_first[node]), int(graph.edge_first[node + 1])):
        option, before = int(graph.edge_option[edge]), int(graph.edge_from[edge])
        target = int(options.target[option])
        words = options.words[options.target_first[target] : options.target_first[target + 1]].tolist()
        ids.append((texts(graph, options, before)[0] if before else []) + words)
    return ids


def covered_words(graph, options, node):
    """Source words that the best derivation to a node of a search graph covers."""
    words = set()
    while node:
        edge = int(graph.edge_first[node])
        option = int(graph.edge_option[edge])
        words |= set(range(int(options.begin[option]), int(options.end[option])))
        node = int(graph.edge_from[edge])
    return words


def beam(graph, options, n_words, is_whole, reference, remaining):
    """For each bin of a search graph: (score of the best y-bad hypothesis or None, whether there is a y-good one).

    The best one is that by score and `remaining`, a function from the words that are covered to the cost of the others.
    y-good: its text is a prefix of `reference` (ids); in the last bin of a whole sentence, it is the reference.
    """
    bins = []
    for covered in range(n_words + 1):
        bad, has_good = [], covered == 0
        for node in range(int(graph.stack_first[covered]), int(graph.stack_first[covered + 1])) if covered else ():
            is_final = is_whole and covered == n_words
            for i, text in enumerate(texts(graph, options, node)):
                if i > 0 and not is_final:
                    break
                if text == reference or (not is_final and text == reference[: len(text)]):
                    has_good = True
                else:
                    score = float(graph.edge_score[graph.edge_first[node] + i])
                    bad.append((score + remaining(covered_words(graph, options, node)), score))
        bins.append((max(bad)[1] if bad else None, has_good))
    return bins
