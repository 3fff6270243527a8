"""Tuning methods the obvious way, over lists of lists: scores[i][j] belongs to hypothesis j of sentence i."""

import math
from itertools import pairwise

from tests.naive.bleu import corpus, smoothed


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def add(a, b, factor=1.0):
    return [x + factor * y for x, y in zip(a, b)]


def argmax(values):
    """The first of the largest."""
    return max(range(len(values)), key=lambda j: (values[j], -j))


def corpus_bleu(statistics, chosen):
    return corpus([sum(column) for column in zip(*(rows[j] for rows, j in zip(statistics, chosen)))])


def best(features, weights):
    return [argmax([dot(weights, h) for h in rows]) for rows in features]


def deviations(features):
    """Of each feature the root of its mean variance within sentences."""
    found = []
    for column in range(len(features[0][0])):
        lists = [[h[column] for h in rows] for rows in features]
        variances = [sum((x - sum(v) / len(v)) ** 2 for x in v) / len(v) for v in lists]
        found.append(math.sqrt(sum(variances) / len(variances)))
    return found


def crossings(features, weights, direction):
    """All x at which two hypotheses of a sentence score the same under weights + x direction."""
    found = set()
    for rows in features:
        lines = [(dot(weights, h), dot(direction, h)) for h in rows]
        for a, b in lines:
            for other_a, other_b in lines:
                if b != other_b:
                    found.add((other_a - a) / (b - other_b))
    return sorted(found)


def best_on_line(features, statistics, weights, direction):
    """The best corpus BLEU in the middle of any interval between crossings, and beyond the outermost."""
    points = crossings(features, weights, direction)
    if not points:
        middles = [0.0]
    else:
        middles = [points[0] - 1, *((a + b) / 2 for a, b in pairwise(points)), points[-1] + 1]
    return max(corpus_bleu(statistics, best(features, add(weights, direction, x))) for x in middles)


def batch_mira_epoch(features, statistics, weights, order, c, decay, background):
    """Weights after each sentence; `background` changes."""
    after = []
    for i in order:
        sums = [add(background, row) for row in statistics[i]]
        gains = [corpus(row) * row[1] for row in sums]
        scores = [dot(weights, h) for h in features[i]]
        hope = argmax([score + gain for score, gain in zip(scores, gains)])
        fear = argmax([score - gain for score, gain in zip(scores, gains)])
        difference = add(features[i][hope], features[i][fear], -1.0)
        loss = gains[hope] - gains[fear] - dot(weights, difference)
        norm = dot(difference, difference)
        if gains[hope] > gains[fear] and loss > 0 and norm > 0:
            weights = add(weights, difference, min(c, loss / norm))
        background[:] = add(statistics[i][hope], background, decay)
        after.append(weights)
    return after


def mean(vectors):
    return [sum(column) / len(vectors) for column in zip(*vectors)]


def one_by_one(features, statistics, weights, sign, chosen):
    """What is best of each sentence, model score plus `sign` times corpus BLEU, all others as they are by then."""
    chosen, n_sentences = list(chosen), len(features)
    for i, rows in enumerate(features):
        values = []
        for j, h in enumerate(rows):
            changed = [*chosen[:i], j, *chosen[i + 1 :]]
            values.append(dot(weights, h) + sign * n_sentences * corpus_bleu(statistics, changed))
        chosen[i] = argmax(values)
    return chosen


def corpus_mira(features, statistics, weights, c, epochs, gains="corpus"):
    """Averaged weights of epochs 0 .. epochs, algorithm 1 line by line; its lines 4 and 5, or one_by_one."""
    alone = [[smoothed(row) for row in rows] for rows in statistics]
    corpora = {sign: [argmax([dot(weights, h) for h in rows]) for rows in features] for sign in (1, -1)}
    seen, averages, n_sentences = [weights], [weights], len(features)
    for _ in range(epochs):
        for sign, chosen in corpora.items():
            corpora[sign] = (
                one_by_one(features, statistics, weights, sign, chosen)
                if gains == "corpus"
                else [
                    argmax([dot(weights, h) + sign * gain for h, gain in zip(rows, own)])
                    for rows, own in zip(features, alone)
                ]
            )
        hope, fear = corpora[1], corpora[-1]
        delta_b = corpus_bleu(statistics, hope) - corpus_bleu(statistics, fear)
        total_hope, total_fear = (
            [sum(column) / n_sentences for column in zip(*(rows[j] for rows, j in zip(features, chosen)))]
            for chosen in (hope, fear)
        )
        delta_h = add(total_fear, total_hope, -1.0)
        loss, norm = delta_b + dot(weights, delta_h), dot(delta_h, delta_h)
        if loss > 0 and norm > 0:
            weights = add(weights, delta_h, -min(c, loss / norm))
        seen.append(weights)
        averages.append(mean(seen))
    return averages


def pairwise_loss(features, pairs, weights, penalty):
    """Pairs of (sentence, better, worse)."""
    leads = [dot(weights, add(features[i][better], features[i][worse], -1.0)) for i, better, worse in pairs]
    return sum(math.log1p(math.exp(-lead)) for lead in leads) + penalty / 2 * dot(weights, weights)
