"""Tuning methods by definition, over lists: features[i][j] and statistics[i][j] are hypothesis j's of sentence i."""

import math
from itertools import pairwise

from tests.naive.bleu import corpus, smoothed


def dot(a, b):
    """Scalar product."""
    return sum(x * y for x, y in zip(a, b))


def add(a, b, factor=1.0):
    return [x + factor * y for x, y in zip(a, b)]


def argmax(values):
    """Index of the largest value, the first of several."""
    return max(range(len(values)), key=lambda j: (values[j], -j))


def corpus_bleu(statistics, chosen):
    """BLEU of hypothesis chosen[i] of each sentence i."""
    return corpus([sum(column) for column in zip(*(rows[j] for rows, j in zip(statistics, chosen)))])


def best(features, weights):
    """Index of the best hypothesis of each sentence."""
    return [argmax([dot(weights, h) for h in rows]) for rows in features]


def deviations(features):
    """The square root of the mean variance of each feature within sentences."""
    roots = []
    for column in range(len(features[0][0])):
        lists = [[h[column] for h in rows] for rows in features]
        variances = [sum((x - sum(v) / len(v)) ** 2 for x in v) / len(v) for v in lists]
        roots.append(math.sqrt(sum(variances) / len(variances)))
    return roots


def crossings(features, weights, direction):
    """All x, ascending, at which two hypotheses of a sentence score the same under weights + x * direction."""
    points = set()
    for rows in features:
        lines = [(dot(weights, h), dot(direction, h)) for h in rows]
        for a, b in lines:
            for other_a, other_b in lines:
                if b != other_b:
                    points.add((other_a - a) / (b - other_b))
    return sorted(points)


def best_on_line(features, statistics, weights, direction):
    """The best corpus BLEU of weights + x * direction, tried between crossings and beyond the outermost (MERT)."""
    points = crossings(features, weights, direction)
    if not points:
        middles = [0.0]
    else:
        middles = [points[0] - 1, *((a + b) / 2 for a, b in pairwise(points)), points[-1] + 1]
    return max(corpus_bleu(statistics, best(features, add(weights, direction, x))) for x in middles)


def batch_mira_epoch(features, statistics, weights, order, c, decay, background):
    """Weights after each sentence of `order` by batch MIRA (Cherry and Foster 2012); updates `background`."""
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
    """For one sentence after the other, choose the hypothesis of greatest model score plus sign * N * corpus BLEU.

    N sentences; chosen: the hypotheses of all sentences before, which count until theirs are chosen.
    """
    chosen, n_sentences = list(chosen), len(features)
    for i, rows in enumerate(features):
        values = []
        for j, h in enumerate(rows):
            changed = [*chosen[:i], j, *chosen[i + 1 :]]
            values.append(dot(weights, h) + sign * n_sentences * corpus_bleu(statistics, changed))
        chosen[i] = argmax(values)
    return chosen


def corpus_mira(features, statistics, weights, c, epochs, gains="corpus"):
    """Averaged weights after 0 to `epochs` epochs of corpus-level MIRA (Tan et al. 2013, algorithm 1), line by line.

    gains: "corpus" chooses hope and fear by `one_by_one`, another value by sentence BLEU, as in lines 4 and 5.
    """
    sentence_gains = [[smoothed(row) for row in rows] for rows in statistics]
    corpora = {sign: [argmax([dot(weights, h) for h in rows]) for rows in features] for sign in (1, -1)}
    all_weights, averages, n_sentences = [weights], [weights], len(features)
    for _ in range(epochs):
        for sign, chosen in corpora.items():
            corpora[sign] = (
                one_by_one(features, statistics, weights, sign, chosen)
                if gains == "corpus"
                else [
                    argmax([dot(weights, h) + sign * gain for h, gain in zip(rows, row_gains)])
                    for rows, row_gains in zip(features, sentence_gains)
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
        all_weights.append(weights)
        averages.append(mean(all_weights))
    return averages


def pairwise_loss(features, pairs, weights, penalty):
    """Logistic loss of pairs (sentence, better, worse hypothesis), plus penalty / 2 times the weights' squared norm."""
    leads = [dot(weights, add(features[i][better], features[i][worse], -1.0)) for i, better, worse in pairs]
    return sum(math.log1p(math.exp(-lead)) for lead in leads) + penalty / 2 * dot(weights, weights)
