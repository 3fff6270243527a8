"""Words of a phrase table that resemble their translations: names, loans, words that two languages share."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from rapidfuzz.distance import Levenshtein

from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.unknown_words.spelled_pairs import has_letters
from phrasebeam.training.normalization.word_pairs import Pair


def resembling_pairs(model: Model, similarity: float) -> Counter[Pair]:
    """Each word that has a translation which resembles it, with the most similar one, and how often it was extracted.

    Two words are similar to the degree of 1 - (letters inserted, deleted and replaced) / (letters of the longer one),
    in lower case; `similarity` is the least degree. A word that is translated as it is counts, too.
    """
    pairs = Counter[Pair]()
    for word, forms in _translated_words(model):
        degrees = [Levenshtein.normalized_similarity(word.lower(), form.lower()) for form, _ in forms]
        degree, (form, count) = max(zip(degrees, forms), key=lambda one: (one[0], one[1][1]))
        if degree >= similarity:
            pairs[word, form] = count
    return pairs


def _translated_words(model: Model) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """Each word of the phrase table that has enough letters, with its translations by one word, and their counts."""
    phrases, target = model.tables.phrases, model.target
    ends, pair_ends = np.asarray(phrases.source_offsets), np.asarray(phrases.pair_offsets)
    for source in np.flatnonzero(np.diff(ends) == 1).tolist():
        word = model.source.word(int(phrases.source_words[ends[source]]))
        if not has_letters(word):
            continue
        begin, end = pair_ends[source : source + 2].tolist()
        sizes = pairwise(phrases.target_offsets[begin : end + 1].tolist())
        counts = phrases.joint_counts[begin:end].tolist()
        single = [(first, count) for (first, last), count in zip(sizes, counts) if last - first == 1]
        if single:
            yield word, [(target.word(int(phrases.target_words[first])), count) for first, count in single]
