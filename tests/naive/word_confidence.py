"""Word confidences by enumeration: the probability of each derivation, and whose words stand where."""

import math


def probabilities(scores, scale):
    """The probabilities of derivations with these scores, proportional to exp(scale * score)."""
    weights = [math.exp(scale * (score - max(scores))) for score in scores]
    return [weight / sum(weights) for weight in weights]


def has_word(phrase, position, word):
    """Whether a phrase (begin, end, words, points inside it) has the word at a source position.

    Linked to the position, or linked to none.
    """
    begin, end, words, points = phrase
    if not begin <= position < end:
        return False
    return any(
        words[j] == word and ((position - begin, j) in points or j not in {target for _, target in points})
        for j in range(len(words))
    )


def positions(phrase, j):
    """The source positions that word `j` of a phrase is linked to; all of the phrase, if to none."""
    begin, end, _, points = phrase
    return [begin + i for i, target in points if target == j] or list(range(begin, end))


def confidences(derivation, derivations, scores, scale):
    """The largest posterior at one of its positions of each word of a derivation, a list of phrases."""
    shares = probabilities(scores, scale)
    return [
        max(
            sum(share for share, other in zip(shares, derivations) if any(has_word(p, at, word) for p in other))
            for at in positions(phrase, j)
        )
        for phrase in derivation
        for j, word in enumerate(phrase[2])
    ]
