"""The structs that kernels of the decoder read: the tables of a model, and a sentence."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.reordering import Orientations
from phrasebeam.decoder.input.lattice_paths import NO_PATHS, SourcePaths
from phrasebeam.decoder.input.synthetic_pairs import SyntheticPairs, no_synthetic_pairs, synthetic_number
from phrasebeam.decoder.input.zones import NO_ZONES, Zones
from phrasebeam.decoder.operations.operation_model import Operations, no_operations
from phrasebeam.decoder.sparse.levels import NO_CLASSES, NO_CONTENT
from phrasebeam.decoder.sparse.sparse_features import Sparse
from phrasebeam.decoder.tables.language_models import LanguageModels
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.decoder.tables.word_counts import NO_IDF, WordIdf
from phrasebeam.kernels.jit import inlined_kernel

NO_SOURCES = np.zeros(0, np.int64)  # of a sentence whose spans are not looked up, such as a lattice


class Tables(NamedTuple):
    """The tables of a model with P phrase pairs, mapped from its files."""

    phrases: PhraseTable
    ln_reordering: np.ndarray  # float32[P, C], shape (0, 0) if there is no reordering model
    orientations: Orientations
    lms: LanguageModels
    sparse: Sparse
    idf: WordIdf = NO_IDF  # for features that need it
    operations: Operations = no_operations()


class Sentence(NamedTuple):
    """A source sentence of n words."""

    words: np.ndarray  # int32[n], source ids, -1 for words that are not in the vocabulary
    synthetic: SyntheticPairs
    longest: int  # words of the longest span in `sources`, `rules` and synthetic.first
    sources: np.ndarray  # int64[n * longest], the source phrase of each span, see span_sources; [0] for a lattice
    rules: np.ndarray  # int8[n * longest], which pairs of the phrase table each span may use, see span_rules
    zones: Zones
    classes: np.ndarray  # uint64[n + 2, 1 + levels], hashes of <s>, the words and </s> at each level of sparse features
    is_content: np.ndarray  # bool[n], see Levels.content_words; [0] in models without sparse features
    # For a lattice only the size of `words` counts; classes and is_content are those of the words of its paths
    paths: SourcePaths = NO_PATHS


def empty_sentence(n_models: int) -> Sentence:
    """A sentence without words, for `n_models` language models."""
    ids, rules = np.zeros(0, np.int32), np.zeros(0, np.int8)
    return Sentence(ids, no_synthetic_pairs(n_models), 1, NO_SOURCES, rules, NO_ZONES, NO_CLASSES, NO_CONTENT)


@inlined_kernel
def target_length(tables: Tables, sentence: Sentence, pair):
    """Number of words of the target phrase of `pair`, which is synthetic if negative."""
    offsets, number = tables.phrases.target_offsets, pair
    if pair < 0:
        offsets, number = sentence.synthetic.target_offsets, synthetic_number(pair)
    return offsets[number + 1] - offsets[number]


@inlined_kernel
def read_target(tables: Tables, sentence: Sentence, pair, begin, words, lm_words):
    """Write the target phrase of `pair` from position `begin` on; return its length.

    Target ids go to `words` (int32[n]), ids in the L language models to `lm_words` (int32[n, L]).
    """
    synthetic, size = sentence.synthetic, target_length(tables, sentence, pair)
    n_vocabulary = tables.lms.word_ids.shape[0]
    for i in range(size):
        if pair < 0:
            word = np.int64(synthetic.target_words[synthetic.target_offsets[synthetic_number(pair)] + i])
        else:
            word = np.int64(tables.phrases.target_words[tables.phrases.target_offsets[pair] + i])
        words[begin + i] = word
        for lm in range(lm_words.shape[1]):
            if word < n_vocabulary:
                lm_words[begin + i, lm] = tables.lms.word_ids[word, lm]
            else:
                lm_words[begin + i, lm] = synthetic.lm_ids[word - n_vocabulary, lm]
    return size
