"""A source sentence made ready for the search: its words, and the phrase pairs of its own that it needs."""

from typing import NamedTuple

import numpy as np

from decoder.features.dense import UNKNOWN_WORD
from decoder.model import Model
from decoder.own_pairs import OwnPair, pack_own_pairs
from decoder.phrase_table import find_lonely_words
from decoder.tables import Sentence


class Source(NamedTuple):
    """A sentence as people and as kernels see it."""

    words: list[str]
    own: list[OwnPair]  # by their numbers in OwnPairs
    sentence: Sentence


def read_source(words: list[str], model: Model, longest: int) -> Source:
    """The sentence `words`; a word that is no phrase on its own is copied, as in Moses."""
    ids = model.source.ids(words)
    lonely = np.empty(len(words), bool)
    find_lonely_words(model.tables.phrases, ids, lonely)
    own = [_copy(words[i], i) for i in np.flatnonzero(lonely).tolist()]
    packed = pack_own_pairs(own, len(words), longest, model.target, model.language_models)
    return Source(words, own, Sentence(ids, packed))


def _copy(word: str, position: int) -> OwnPair:
    return OwnPair(position, position + 1, (word,), unknown=UNKNOWN_WORD, alignment=((0, 0),))
