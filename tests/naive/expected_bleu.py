"""Maximum expected BLEU training (Wuebker et al. 2015): objective, Rprop, sentence BLEU and features, over lists."""

import math


def rprop(last_weight, weight, last_gradient, gradient, last_step, increase, decrease):
    """(weight, step) of the next iteration: the two case tables of Wuebker et al. (2015), section 4.2."""
    product = last_gradient * gradient
    if product > 0:
        step = increase * last_step
    elif product < 0:
        step = decrease * last_step
    else:
        step = last_step
    if product < 0:
        return last_weight, step
    if gradient > 0:
        return weight + step, step
    if gradient < 0:
        return weight - step, step
    return weight, step


def expected_bleu(lists, weights, scale):
    """Mean over n-best lists of the expectation of BLEU under softmax(scale * score).

    lists: of (score, BLEU, features); the weights of the features that fire are added to the score.
    """
    expected = []
    for hypotheses in lists:
        scores = [scale * (score + sum(weights[f] for f in features)) for score, _, features in hypotheses]
        best = max(scores)
        mass = [math.exp(score - best) for score in scores]
        bleu = [hypothesis[1] for hypothesis in hypotheses]
        expected.append(sum(p * b for p, b in zip(mass, bleu)) / sum(mass))
    return sum(expected) / len(expected)


def objective(lists, weights, tau, scale):
    """ln of the expected BLEU, minus tau times the squared norm of the weights (equation 9)."""
    return math.log(expected_bleu(lists, weights, scale)) - tau * sum(weight**2 for weight in weights)


def sentence_bleu(hypothesis, reference):
    """Sentence BLEU of two lists of words: 0 without a common bigram, no limit to the reward for long hypotheses.

    The precision p(n) of 3- and 4-grams is smoothed by 5 n-grams with the prior p(n-1)^2 / p(n-2).
    """
    precisions = []
    for n in range(1, 5):
        unmatched = [tuple(reference[i : i + n]) for i in range(len(reference) - n + 1)]
        grams = [tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1)]
        matches = 0
        for gram in grams:
            if gram in unmatched:
                unmatched.remove(gram)
                matches += 1
        if n <= 2:
            if not matches:
                return 0.0
            precisions.append(matches / len(grams))
        else:
            prior = precisions[-1] * precisions[-1] / precisions[-2]
            precisions.append((matches + 5 * prior) / (len(grams) + 5))
    return math.exp(1 - len(reference) / len(hypothesis)) * math.prod(precisions) ** 0.25


def features(source, target, name):
    """Features (tuples of words) of a phrase pair, two lists of words, in the paper's feature set `name`: a, b or c."""
    if name == "a":
        return [(tuple(source), tuple(target))]
    if name == "b":
        return [(f, e) for f in source for e in target]
    n_source, n_target = len(source), len(target)
    two_targets = [(f, target[j], target[k]) for f in source for j in range(n_target) for k in range(j + 1, n_target)]
    two_sources = [(e, source[i], source[k]) for i in range(n_source) for e in target for k in range(i + 1, n_source)]
    return [("f ee", *words) for words in two_targets] + [("e ff", *words) for words in two_sources]
