"""A derivation, that is, the phrases of one translation in target order; its feature vector, computed from scratch."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.dense import FeaturePlaces
from phrasebeam.decoder.features.language_model import BEGIN_STATE, States, score_after
from phrasebeam.decoder.features.lexical_reordering import Blocks, fill_orientations
from phrasebeam.decoder.features.pair import add_pair_features
from phrasebeam.decoder.features.reordering import START_END
from phrasebeam.decoder.features.stateful import ABSENT, FeatureMemory, add_values
from phrasebeam.decoder.features.stateful_feature import DerivedPhrase
from phrasebeam.decoder.input.coverage import cover
from phrasebeam.decoder.input.lattice_paths import add_input_scores, source_words
from phrasebeam.decoder.input.synthetic_pairs import synthetic_number
from phrasebeam.decoder.model.tables import Sentence, Tables, read_target, target_length
from phrasebeam.decoder.options.option_arrays import Options
from phrasebeam.decoder.sparse.phrase_hashes import WITH_NEXT, WITH_PREVIOUS, class_sequence_hash
from phrasebeam.decoder.sparse.sparse_features import SparseFeatureBuffer, add_group_values
from phrasebeam.decoder.sparse.template_kernels import (
    NO_WORD,
    START_RULE,
    RuleHashes,
    fire_history,
    fire_orientation,
    fire_pair,
    fire_rule,
    rule_hash,
)
from phrasebeam.decoder.sparse.templates import PAIR_SPARSE
from phrasebeam.decoder.tables.language_models import LN10
from phrasebeam.decoder.tables.phrase_table import ln_score
from phrasebeam.kernels.compilation.argument_kinds import by_value
from phrasebeam.kernels.jit import inner_kernel, kernel

ZERO = np.int64(0)


@by_value
class Derivation(NamedTuple):
    """K phrases, first target phrase first; source spans are half open."""

    pair: np.ndarray  # int64[K], phrase pair; negative: one of SyntheticPairs
    begin: np.ndarray  # int32[K]
    end: np.ndarray  # int32[K]

    @classmethod
    def of(cls, options: Options, chosen: np.ndarray) -> "Derivation":
        """The phrases of the options whose numbers are `chosen` (int[K])."""
        return cls(options.pair[chosen], options.begin[chosen], options.end[chosen])


class FeatureSpace(NamedTuple):
    """Work space in which features are computed, with room for a translation of up to T words."""

    states: States
    memory: FeatureMemory  # scratch space; room for more histories than the derivation has phrases
    orientations: np.ndarray  # int8[K, 2], room for the orientations of K phrases
    places: FeaturePlaces  # of the vectors to fill
    longest_grouped: int  # see add_length_groups
    words: np.ndarray  # int32[T], target ids; larger ids are those of SyntheticPairs
    lm_words: np.ndarray  # int32[T, L], language model ids; </s> included
    fired: SparseFeatureBuffer  # room for the sparse features of the derivation
    is_complete: bool = True  # whether </s> follows


class SparseFeatureLists(NamedTuple):
    """Room for the sparse features of N derivations: those of derivation i are first[i]:first[i + 1]."""

    first: np.ndarray  # int64[N + 1]
    keys: np.ndarray  # uint64[Z]
    values: np.ndarray  # float32[Z]


@inner_kernel
def fill_features(derivation: Derivation, tables: Tables, sentence: Sentence, space: FeatureSpace, features):
    """Add the derivation's values to `features` (float64[F], as FeatureLayout); return the number of target words."""
    places, size, first_gap, window, previous_end = space.places, np.int64(0), np.int64(0), np.uint64(0), START_END
    is_hierarchical, blocks = tables.orientations.is_hierarchical, space.memory.reordering
    fill_orientations(derivation, is_hierarchical, blocks, space.orientations)
    for i in range(derivation.pair.size):
        begin, end, pair = np.int64(derivation.begin[i]), np.int64(derivation.end[i]), derivation.pair[i]
        length = read_target(tables, sentence, pair, size, space.words, space.lm_words)
        _add_alone(tables, sentence, space, pair, begin, end, length, features)
        phrase = DerivedPhrase(np.int64(i), pair, begin, end, previous_end, first_gap, window, size, length)
        add_values(tables, sentence, space, phrase, features)
        first_gap, window = cover(first_gap, window, begin, end)
        previous_end = end
        size += length
    features[places.phrase_penalty] += derivation.pair.size
    features[places.word_penalty] -= size
    for lm in range(tables.lms.orders.size):
        space.lm_words[size, lm] = tables.lms.end_ids[0, lm]
    score_after(tables.lms, space.lm_words, ZERO, size + space.is_complete, space.states, BEGIN_STATE)
    for lm in range(tables.lms.orders.size):
        features[places.language_model + lm] += LN10 * space.states.log10_prob[lm]
    fire_derivation(derivation, tables, sentence, space)
    add_group_values(tables.sparse.weights, space.fired, places.sparse, features)
    return size


@inner_kernel
def _add_alone(tables, sentence, space, pair, begin, end, length, features):
    """Add the values of a pair over words begin:end, with `length` target words, that depend on no other phrase."""
    places, synthetic, n_translation = space.places, sentence.synthetic, tables.phrases.ln_scores.shape[1]
    if places.input_score != ABSENT:
        add_input_scores(sentence.paths, pair, places.input_score, features)
    if pair < 0:
        number = synthetic_number(pair)
        features[places.unknown_word_penalty] += synthetic.unknown[number]
        if places.related_words != ABSENT:
            features[places.related_words] += synthetic.n_related[number]
        if places.spelled_words != ABSENT:
            features[places.spelled_words] += synthetic.n_spelled[number]
        if places.spelling != ABSENT:
            features[places.spelling] += synthetic.ln_spelling[number]
        for column in range(n_translation):
            features[places.translation + column] += synthetic.ln_scores[number, column]
    else:
        for column in range(n_translation):
            features[places.translation + column] += ln_score(tables.phrases, pair, column)
        first, last = source_words(sentence.paths, pair, begin, end)
        lengths, longest_grouped = (last - first, length), space.longest_grouped
        add_pair_features(tables.phrases, tables.idf, pair, *lengths, places, longest_grouped, features)


@inner_kernel
def fire_derivation(derivation: Derivation, tables: Tables, sentence: Sentence, space: FeatureSpace):
    """Write all sparse features of a derivation to space.fired; space.words must contain its target words."""
    sparse, synthetic, fired, words = tables.sparse, sentence.synthetic, space.fired, space.words
    fired.n[0] = 0
    has_neighbours = sparse.has_orientations or sparse.has_history
    if not (sparse.active[PAIR_SPARSE] or sparse.has_rule_features or has_neighbours):
        return
    position, previous, previous_end = np.int64(0), RuleHashes(START_RULE, START_RULE), START_END
    for i in range(derivation.pair.size):
        begin, end, pair = np.int64(derivation.begin[i]), np.int64(derivation.end[i]), derivation.pair[i]
        size = target_length(tables, sentence, pair)
        phrase = words[position : position + size]
        first, last = source_words(sentence.paths, pair, begin, end)
        fire_pair(sparse, pair, fired)
        fire_rule(sparse, sentence, pair, phrase, size, first, last, fired)
        if has_neighbours:
            rule = RuleHashes(
                rule_hash(sparse, synthetic, sentence.classes, phrase, size, first, last),
                class_sequence_hash(sparse, sentence.classes, first, last),
            )
            is_monotone = begin == previous_end
            if i > 0:
                fire_orientation(sparse, previous.rule, WITH_NEXT, is_monotone, fired)
            fire_orientation(sparse, rule.rule, WITH_PREVIOUS, is_monotone, fired)
            last_word = np.int64(words[position - 1]) if position > 0 else NO_WORD
            before = np.int64(words[position - 2]) if position > 1 else NO_WORD
            fire_history(sparse, synthetic, previous, last_word, before, rule, is_monotone, fired)
            previous, previous_end = rule, end
        position += size


@kernel
def fill_feature_matrix(
    derivations: Derivation, offsets, tables: Tables, sentence: Sentence, space: FeatureSpace, features: np.ndarray
):
    """Call fill_features for the derivations offsets[i]:offsets[i + 1] of a concatenation; `space` fits the longest."""
    for i in range(features.shape[0]):
        first, last = offsets[i], offsets[i + 1]
        derivation = Derivation(
            derivations.pair[first:last], derivations.begin[first:last], derivations.end[first:last]
        )
        fill_features(derivation, tables, sentence, space, features[i])


@kernel
def list_orientations(derivations: Derivation, offsets, is_hierarchical: bool, blocks: Blocks, orientations):
    """Call fill_orientations for each derivation offsets[i]:offsets[i + 1]; `orientations` is int8[K, 2]."""
    for i in range(offsets.size - 1):
        begin, end = offsets[i], offsets[i + 1]
        derivation = Derivation(derivations.pair[begin:end], derivations.begin[begin:end], derivations.end[begin:end])
        fill_orientations(derivation, is_hierarchical, blocks, orientations[begin:end])


@kernel
def list_sparse_features(
    derivations: Derivation,
    offsets,
    tables: Tables,
    sentence: Sentence,
    space: FeatureSpace,
    scales: np.ndarray,
    lists: SparseFeatureLists,
):
    """Write the sparse features of the derivations offsets[i]:offsets[i + 1] of a concatenation to `lists`.

    Returns the number of features. Values are multiplied by the scale of their group (float64[len(GROUPS)]).
    """
    count = np.int64(0)
    for i in range(lists.first.size - 1):
        begin, end = offsets[i], offsets[i + 1]
        derivation = Derivation(derivations.pair[begin:end], derivations.begin[begin:end], derivations.end[begin:end])
        size = np.int64(0)
        for k in range(begin, end):
            size += read_target(tables, sentence, derivations.pair[k], size, space.words, space.lm_words)
        fire_derivation(derivation, tables, sentence, space)
        for k in range(space.fired.n[0]):
            lists.keys[count] = space.fired.keys[k]
            lists.values[count] = scales[space.fired.groups[k]] * np.float64(space.fired.values[k])
            count += 1
        lists.first[i + 1] = count
    return count
