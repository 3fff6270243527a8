"""The perceptron's definitions (Yu et al. 2013, section 3), over lists and dicts."""

import math


def strategies(good, bad, has_good, is_solved, phrase_limit):
    """By strategy: the bin that is updated, or None; scores are None where there is no derivation."""
    n = len(good) - 1
    both = [i for i in range(n + 1) if good[i] is not None and bad[i] is not None]
    hopeless = [
        i for i in range(1, n + 1) if all(j > n or not has_good[j] for j in range(i, i + phrase_limit))
    ]  # bins at which a row of that many begins; bins behind the last one have nobody
    early = next((i for i in both if hopeless and i >= hopeless[0]), None)
    violations = {i: bad[i] - good[i] for i in both}
    worst = max(violations.values(), default=-math.inf)
    largest = next((i for i in both if violations[i] == worst), None) if worst >= 0 else None
    last = n if not is_solved and n in both else None
    local = n if not is_solved and bad[n] is not None else None
    return {"early": early, "max_violation": largest, "standard": last, "local": local}


def texts(graph, options, node):
    """Target ids of the best derivation that leads to a node, of each of its edges; the best edge first."""
    found = []
    for edge in range(int(graph.edge_first[node]), int(graph.edge_first[node + 1])):
        option, before = int(graph.edge_option[edge]), int(graph.edge_from[edge])
        target = int(options.target[option])
        words = options.words[options.target_first[target] : options.target_first[target + 1]].tolist()
        found.append((texts(graph, options, before)[0] if before else []) + words)
    return found


def beam(graph, options, n_words, is_whole, reference):
    """By bin: (best score of a y-bad hypothesis or None, whether there is a y-good one)."""
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
                    bad.append(float(graph.edge_score[graph.edge_first[node] + i]))
        bins.append((max(bad, default=None), has_good))
    return bins
