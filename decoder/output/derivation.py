"""A derivation, the phrases of one translation in target order, and its feature vector computed from scratch."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.dense import ABSENT, LN10, FeaturePlaces
from phrasebeam.decoder.features.distortion import early_distortion, jump_length
from phrasebeam.decoder.features.hierarchical import NO_BLOCKS, Blocks, orientation_of_next, shift_alone
from phrasebeam.decoder.features.language_model import BEGIN_STATE, States, score_after
from phrasebeam.decoder.features.pair import add_pair_features
from phrasebeam.decoder.features.reordering import (
    BACKWARD,
    FORWARD,
    START_BEGIN,
    START_END,
    UNSEEN,
    learned_orientation,
    ln_orientation,
    orientation,
)
from phrasebeam.decoder.input.coverage import cover
from phrasebeam.decoder.input.source_paths import path_of, source_words
from phrasebeam.decoder.input.synthetic_pairs import synthetic_number, table_pair
from phrasebeam.decoder.model.tables import Sentence, Tables, read_target, target_length
from phrasebeam.decoder.operations.operation_states import (
    JUMPS_BACK,
    LOG_P,
    OPENED_GAPS,
    OperationStates,
    fill_step_ids,
    keep_context,
    load_beginning,
    score_phrase_operations,
    walk_of,
)
from phrasebeam.decoder.operations.walk import POSITION
from phrasebeam.decoder.options.translation_options import Options
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
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.kernels.structs import by_value

ZERO = np.int64(0)


@by_value
class Derivation(NamedTuple):
    """K phrases, first target phrase first; source spans are half open."""

    pair: np.ndarray  # int64[K], phrase pair; negative: one of SyntheticPairs
    begin: np.ndarray  # int32[K]
    end: np.ndarray  # int32[K]

    @classmethod
    def of(cls, options: Options, chosen: np.ndarray) -> "Derivation":
        """The phrases of the options of those numbers (int[K])."""
        return cls(options.pair[chosen], options.begin[chosen], options.end[chosen])


class FeatureSpace(NamedTuple):
    """What computing features needs besides the model and the derivation: room for a translation of up to T words."""

    states: States
    operation_states: OperationStates  # scratch space
    blocks: Blocks  # room for a stack of as many blocks as the derivation has phrases
    orientations: np.ndarray  # int8[K, 2], room for those of as many phrases
    places: FeaturePlaces  # of the vectors that are filled
    longest_grouped: int  # see add_length_groups
    words: np.ndarray  # int32[T], target ids, or beyond them, see SyntheticPairs
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
    """Add the derivation's values to `features` (float64[F], laid out as FeatureLayout); the number of target words."""
    n_translation, synthetic, places = tables.phrases.ln_scores.shape[1], sentence.synthetic, space.places
    size = np.int64(0)
    _add_jumps(derivation, tables, sentence, space, features)
    _add_input_scores(derivation, sentence.paths, places.input_score, features)
    for i in range(derivation.pair.size):
        pair = derivation.pair[i]
        features[places.phrase_penalty] += 1.0
        length = read_target(tables, synthetic, pair, size, space.words, space.lm_words)
        size += length
        if pair < 0:
            features[places.unknown_word_penalty] += synthetic.unknown[synthetic_number(pair)]
            if places.related_words != ABSENT:
                features[places.related_words] += synthetic.n_related[synthetic_number(pair)]
            for column in range(n_translation):
                features[places.translation + column] += synthetic.ln_scores[synthetic_number(pair), column]
        else:
            for column in range(n_translation):
                features[places.translation + column] += tables.phrases.ln_scores[pair, column]
            span = np.int64(derivation.begin[i]), np.int64(derivation.end[i])
            first, end = source_words(sentence.paths, pair, span[0], span[1])
            lengths, longest_grouped = (end - first, length), space.longest_grouped
            add_pair_features(tables.phrases, tables.idf, pair, *lengths, places, longest_grouped, features)
    features[places.word_penalty] -= size
    for lm in range(tables.lms.orders.size):
        space.lm_words[size, lm] = tables.lms.end_ids[0, lm]
    score_after(tables.lms, space.lm_words, ZERO, size + space.is_complete, space.states, BEGIN_STATE)
    for lm in range(tables.lms.orders.size):
        features[places.language_model + lm] += LN10 * space.states.log10_prob[lm]
    if places.operations != ABSENT:
        _add_operations(derivation, tables, sentence, space, features)
    fire_derivation(derivation, tables, sentence, space)
    add_group_values(tables.sparse.weights, space.fired, places.sparse, features)
    return size


@inner_kernel
def _add_operations(derivation, tables, sentence, space, features):
    """Add ln p of the operations, minus gaps and jumps back, of a derivation whose words stand in space.words."""
    operations, states, place = tables.operations, space.operation_states, space.places.operations
    first_gap, window, size, length = np.int64(0), np.uint64(0), np.int64(0), np.int64(1)
    load_beginning(operations, states)
    states.at[POSITION] = 0
    for i in range(derivation.pair.size):
        begin, end, pair = np.int64(derivation.begin[i]), np.int64(derivation.end[i]), derivation.pair[i]
        n_target = target_length(tables, sentence.synthetic, pair)
        target, source = space.words[size : size + n_target], sentence.words[begin:end]
        n_steps = fill_step_ids(operations, states, sentence.synthetic, pair, source, target, n_target)
        position, ids = states.steps.position[:n_steps], states.step_ids[: n_steps + end - begin]
        walk = walk_of(operations, states, begin, end, first_gap, window)
        row, length = score_phrase_operations(operations, states, walk, position, ids, length)
        keep_context(states, row, length)
        features[place + LOG_P] += LN10 * states.values[LOG_P]
        features[place + OPENED_GAPS] += states.values[OPENED_GAPS]
        features[place + JUMPS_BACK] += states.values[JUMPS_BACK]
        first_gap, window = cover(first_gap, window, begin, end)
        size += n_target


@inner_kernel
def fire_derivation(derivation: Derivation, tables: Tables, sentence: Sentence, space: FeatureSpace):
    """List all sparse features of a derivation, whose target words stand in space.words, in space.fired."""
    sparse, synthetic, fired, words = tables.sparse, sentence.synthetic, space.fired, space.words
    fired.n[0] = 0
    has_neighbours = sparse.has_orientations or sparse.has_history
    if not (sparse.active[PAIR_SPARSE] or sparse.has_rule_features or has_neighbours):
        return
    position, previous, previous_end = np.int64(0), RuleHashes(START_RULE, START_RULE), START_END
    for i in range(derivation.pair.size):
        begin, end, pair = np.int64(derivation.begin[i]), np.int64(derivation.end[i]), derivation.pair[i]
        size = target_length(tables, synthetic, pair)
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


@inner_kernel
def _add_input_scores(derivation, paths, place, features):
    """Add the scores of the paths of a lattice to the features from features[place] on."""
    if place != ABSENT and paths.of_span.size > 0:
        for i in range(derivation.pair.size):
            path = path_of(paths, derivation.pair[i])
            for k in range(paths.ln_scores.shape[1]):
                features[place + k] += paths.ln_scores[path, k]


@inner_kernel
def _add_jumps(derivation, tables, sentence, space, features):
    """Add what depends on where the phrases lie: lexicalized reordering, distortion."""
    model, places = tables.orientations, space.places
    fill_orientations(derivation, model.is_hierarchical, space.blocks, space.orientations)
    previous_end, first_gap, window = START_END, np.int64(0), np.uint64(0)
    for i in range(derivation.pair.size):
        begin, end = np.int64(derivation.begin[i]), np.int64(derivation.end[i])
        for direction in (BACKWARD, FORWARD):
            orientation_id = np.int64(space.orientations[i, direction])
            if orientation_id != UNSEEN:
                pair = table_pair(sentence.synthetic, derivation.pair[i])
                _add_orientation(tables, pair, direction, orientation_id, places.reordering, features)
        features[places.distortion] -= jump_length(sentence.paths.distances, previous_end, begin)
        if places.early_distortion != ABSENT:
            features[places.early_distortion] += early_distortion(first_gap, previous_end, begin, end)
        first_gap, window = cover(first_gap, window, begin, end)
        previous_end = end


@inner_kernel
def fill_orientations(derivation: Derivation, is_hierarchical: bool, blocks: Blocks, orientations):
    """Write how each phrase lies to what comes before and after it to `orientations` (int8[K, 2]); UNSEEN at the end.

    By DIRECTIONS; what follows the last phrase has no orientation.
    """
    previous_begin, previous_end, top = START_BEGIN, START_END, NO_BLOCKS
    first_gap, window = np.int64(0), np.uint64(0)
    for i in range(derivation.pair.size):
        begin, end = np.int64(derivation.begin[i]), np.int64(derivation.end[i])
        backward = orientation(previous_begin, previous_end, begin, end)
        forward = backward
        if is_hierarchical:
            forward = orientation_of_next(backward, first_gap, window, previous_begin, previous_end)
            backward = orientation(np.int64(blocks.begin[top]), np.int64(blocks.end[top]), begin, end)
            top = shift_alone(blocks, top, begin, end)
        orientations[i, BACKWARD], orientations[i, FORWARD] = backward, UNSEEN
        if i > 0:
            orientations[i - 1, FORWARD] = forward
        first_gap, window = cover(first_gap, window, begin, end)
        previous_begin, previous_end = begin, end


@inner_kernel
def _add_orientation(tables, pair, direction, orientation_id, begin, features):
    """Add the scores of a pair in an orientation to the reordering features, which start at features[begin]."""
    model, column = tables.orientations, tables.orientations.features[direction, orientation_id]
    if column != ABSENT:
        features[begin + column] += ln_orientation(tables.ln_reordering, model, pair, direction, orientation_id)
    for layer in range(model.n_learned):
        column, score = learned_orientation(tables.ln_reordering, model, pair, direction, orientation_id, layer)
        if column != ABSENT:
            features[begin + column] += score


@kernel
def fill_feature_matrix(
    derivations: Derivation, offsets, tables: Tables, sentence: Sentence, space: FeatureSpace, features: np.ndarray
):
    """fill_features of the derivations offsets[i]:offsets[i + 1] of a long one; `space` has room for the longest."""
    for i in range(features.shape[0]):
        first, last = offsets[i], offsets[i + 1]
        derivation = Derivation(
            derivations.pair[first:last], derivations.begin[first:last], derivations.end[first:last]
        )
        fill_features(derivation, tables, sentence, space, features[i])


@kernel
def list_orientations(derivations: Derivation, offsets, is_hierarchical: bool, blocks: Blocks, orientations):
    """fill_orientations of the derivations offsets[i]:offsets[i + 1] of a long one; `orientations` is int8[K, 2]."""
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
    """Write the sparse features of the derivations offsets[i]:offsets[i + 1] of a long one to `lists`; their number.

    Values are multiplied by the scale of their group (float64[len(GROUPS)]).
    """
    count = np.int64(0)
    for i in range(lists.first.size - 1):
        begin, end = offsets[i], offsets[i + 1]
        derivation = Derivation(derivations.pair[begin:end], derivations.begin[begin:end], derivations.end[begin:end])
        size = np.int64(0)
        for k in range(begin, end):
            size += read_target(tables, sentence.synthetic, derivations.pair[k], size, space.words, space.lm_words)
        fire_derivation(derivation, tables, sentence, space)
        for k in range(space.fired.n[0]):
            lists.keys[count] = space.fired.keys[k]
            lists.values[count] = scales[space.fired.groups[k]] * np.float64(space.fired.values[k])
            count += 1
        lists.first[i + 1] = count
    return count
