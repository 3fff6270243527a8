"""What kernels read: the parts of a model, and a sentence."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.reordering import Orientations
from phrasebeam.decoder.input.synthetic_pairs import SyntheticPairs, synthetic_number
from phrasebeam.decoder.input.zones import Zones
from phrasebeam.decoder.sparse.sparse_features import Sparse
from phrasebeam.decoder.tables.language_models import LanguageModels
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.kernels.jit import inlined_kernel


class Tables(NamedTuple):
    """What a model knows, mapped from its files."""

    phrases: PhraseTable
    ln_reordering: np.ndarray  # float32[P, C], shape (0, 0) without a reordering model
    orientations: Orientations
    lms: LanguageModels
    sparse: Sparse


class Sentence(NamedTuple):
    """A source sentence of n words."""

    words: np.ndarray  # int32[n], source ids, -1 where unknown
    synthetic: SyntheticPairs
    longest: int  # words of the longest span that has a place
    rules: np.ndarray  # int8[n * longest], whether the phrase table is asked for a span, see span_rules
    zones: Zones
    classes: np.ndarray  # uint64[n + 2, 1 + L], what stands for <s>, its words and </s> in sparse features


@inlined_kernel
def target_length(tables, synthetic, pair):
    """Words of the target phrase of a pair, of the phrase table or a synthetic one."""
    if pair < 0:
        return synthetic.target_offsets[synthetic_number(pair) + 1] - synthetic.target_offsets[synthetic_number(pair)]
    return tables.phrases.target_offsets[pair + 1] - tables.phrases.target_offsets[pair]


@inlined_kernel
def read_target(tables, synthetic, pair, at, words, lm_words):
    """Write the pair's target phrase to words[at:] and, as the language models call it, lm_words[at:]; its length."""
    size = target_length(tables, synthetic, pair)
    n_known = tables.lms.word_ids.shape[0]
    for i in range(size):
        if pair < 0:
            word = np.int64(synthetic.target_words[synthetic.target_offsets[synthetic_number(pair)] + i])
        else:
            word = np.int64(tables.phrases.target_words[tables.phrases.target_offsets[pair] + i])
        words[at + i] = word
        for which in range(lm_words.shape[1]):
            if word < n_known:
                lm_words[at + i, which] = tables.lms.word_ids[word, which]
            else:
                lm_words[at + i, which] = synthetic.lm_ids[word - n_known, which]
    return size
