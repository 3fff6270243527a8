"""What kernels read: the parts of a model, and a sentence."""

from typing import NamedTuple

import numpy as np

from decoder.features.reordering import Orientations
from decoder.phrase_table import PhraseTable
from lm.jit import kernel
from lm.probing import ProbingTables


class Tables(NamedTuple):
    """What a model knows, mapped from its files."""

    phrases: PhraseTable
    ln_reordering: np.ndarray  # float32[P, C], shape (0, 0) without a reordering model
    orientations: Orientations
    target_lm_ids: np.ndarray  # int32[V], language model ids of the target vocabulary
    lm: ProbingTables
    end_word: np.ndarray  # int32[1], language model id of </s>


class Sentence(NamedTuple):
    """A source sentence of n words."""

    words: np.ndarray  # int32[n], source ids, -1 where unknown
    copy_lm_ids: np.ndarray  # int32[n], language model ids of the words themselves


@kernel
def target_lm_words(tables, pair, lm_words):
    """Write the language model ids of the pair's target phrase; its length."""
    begin = tables.phrases.target_offsets[pair]
    size = tables.phrases.target_offsets[pair + 1] - begin
    for i in range(size):
        lm_words[i] = tables.target_lm_ids[tables.phrases.target_words[begin + i]]
    return size
