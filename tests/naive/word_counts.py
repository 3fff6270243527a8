"""How often words stand in a text, and how rare they are, by the definitions."""

import math


def occurrences(sentences):
    """{word: times that it occurs} in lists of words."""
    return {word: sum(one.count(word) for one in sentences) for one in sentences for word in one}


def document_frequencies(sentences):
    """{word: sentences that have it}."""
    return {word: sum(word in one for one in sentences) for one in sentences for word in one}


def idf(sentences):
    """{word: ln of the sentences over those that have it}."""
    return {word: math.log(len(sentences) / n) for word, n in document_frequencies(sentences).items()}
