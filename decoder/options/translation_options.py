"""Translation options: for each span of the source sentence, the target phrases worth trying, best first.

As in Moses, the table limit cuts the list of the phrase table's pairs. Synthetic pairs stand beside them.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.features.reordering import (
    BACKWARD,
    FORWARD,
    MONOTONE,
    MONOTONE_TO_BLOCK,
    N_OPTION_ORIENTATIONS,
    N_ORIENTATIONS,
    weighted_orientation,
)
from phrasebeam.decoder.features.stateful import has_prepared, prepare_option
from phrasebeam.decoder.input.lattice_paths import source_words
from phrasebeam.decoder.input.synthetic_pairs import table_pair
from phrasebeam.decoder.input.term_constraints import ALLOWED, BLOCKED, CONSTRAINED, keeps_terms
from phrasebeam.decoder.model.tables import read_target, target_length
from phrasebeam.decoder.options.candidate_cache import NO_SLOT, slot_in
from phrasebeam.decoder.options.candidates import (
    REORDERING_NOT_FINITE,
    Lookup,
    OptionPhrase,
    add_scores_in_place,
    check_estimate,
    choose,
    has_more_scores,
    is_wrong,
    item_of,
    score_synthetic,
)
from phrasebeam.decoder.sparse.phrase_hashes import WITH_NEXT, WITH_PREVIOUS, class_sequence_hash
from phrasebeam.decoder.sparse.sparse_features import weigh_fired
from phrasebeam.decoder.sparse.template_kernels import fire_orientation, rule_hash
from phrasebeam.decoder.sparse.templates import CLASS_REORDERING
from phrasebeam.decoder.tables.phrase_table import ABSENT, find_source
from phrasebeam.kernels.hashing import EMPTY, START, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.kernels.prefetch import prefetch
from phrasebeam.kernels.words import same_words

ZERO = np.int64(0)
NOT_YET = np.int32(-1)  # target of an option that complete_option has still to complete
FULL = np.int64(-1)  # returned if the arrays are too small
NOT_KNOWN = np.int64(-3)
WRONG = np.int64(-2)  # returned if the model has an error, see Candidates.wrong


class Options(NamedTuple):
    """O options of S spans, with at most D distinct target phrases of W words in all, and L language models."""

    longest: int  # words of the longest span
    # Options of the span begin:begin+k are first[begin * longest + k - 1] and on
    first: Annotated[np.ndarray, array(np.int64, "S + 1")]
    pair: Annotated[np.ndarray, array(np.int64, "O")]  # phrase pair; negative: one of SyntheticPairs
    begin: Annotated[np.ndarray, array(np.int32, "O")]  # first source word
    end: Annotated[np.ndarray, array(np.int32, "O")]  # half open
    score: Annotated[np.ndarray, array(np.float64, "O")]  # weighted sum of the features that need no context
    estimate: Annotated[np.ndarray, array(np.float64, "O")]  # score plus the weighted language model estimate
    bound: Annotated[np.ndarray, array(np.float64, "O")]  # the most that score and language model are in any context
    # Weighted reordering scores by orientation to the phrase before, and of the phrase after, sparse features included
    backward: Annotated[np.ndarray, array(np.float64, "O", N_OPTION_ORIENTATIONS)]
    forward: Annotated[np.ndarray, array(np.float64, "O", N_OPTION_ORIENTATIONS)]
    target: Annotated[np.ndarray, array(np.int32, "O")]  # index of the distinct target phrase, or NOT_YET
    rule: Annotated[np.ndarray, array(np.uint64, "O", 2)]  # RuleHashes, if sparse features depend on phrases beside it
    # Equal for options after which the next phrase has the same reordering scores
    state: Annotated[np.ndarray, array(np.int32, "O")]
    n_targets: Annotated[np.ndarray, array(np.int64, 1)]  # distinct target phrases so far
    target_first: Annotated[np.ndarray, array(np.int64, "D + 1")]  # into words and lm_words
    words: Annotated[np.ndarray, array(np.int32, "W")]  # target ids, or beyond them, see SyntheticPairs
    lm_words: Annotated[np.ndarray, array(np.int32, "W", "L")]  # language model ids
    order: Annotated[np.ndarray, array(np.int64, "O")]  # pairs of a span while they are merged
    slots: Annotated[np.ndarray, array(np.int32, "T")]  # hash table of options by target, T a power of two >= 2 O
    state_slots: Annotated[np.ndarray, array(np.int32, "T")]  # hash table of options by state


def new_options(n_words: int, longest: int, capacity: int, n_target_words: int, n_models: int) -> Options:
    """Options with room for `capacity` options (a power of two) with `n_target_words` target words in all."""
    sizes = {"S": n_words * longest, "O": capacity, "D": capacity, "T": 2 * capacity}
    return allocate(Options, sizes | {"W": n_target_words, "L": n_models}, longest=longest)


@kernel
def fill_options(lookup: Lookup, options: Options):
    """Fill `options` for the sentence of `lookup`; their number (int64), FULL, or WRONG.

    With lookup.is_lazy, target and reordering scores are left for complete_option, where features allow it.

    An example: "das haus" with longest = 2, where "das" has the pairs "the", "this", "das haus" has "the house", and
    "haus" has "house", "the". The spans 0:1, 0:2, 1:2, 1:3 have the indices 0 to 3; the last one leaves the sentence.

        option    0 the    1 this    2 the house    3 house    4 the
        target    0        1         2              3          0         each distinct target phrase is stored once
        first     [0, 2, 3, 5, 5]                                        those of span s are first[s]:first[s + 1]

    Language model scores are remembered by target, so that option 4 costs as little as if 0 had been asked.
    """
    options.slots[:] = EMPTY
    options.state_slots[:] = EMPTY
    options.target_first[0], options.n_targets[0] = 0, 0
    n, longest, count = lookup.sentence.words.size, options.longest, np.int64(0)
    is_later = _can_be_completed_later(lookup)
    for begin in range(n):
        for length in range(1, longest + 1):
            options.first[begin * longest + length - 1] = count
            if begin + length > n:  # an empty span keeps the index regular
                continue
            source = _source_of(begin, begin + length, lookup, options)
            n_pairs = _recall_span(begin, begin + length, source, lookup, options, count)
            is_known = n_pairs >= 0
            if not is_known:
                n_pairs = _pairs_of(begin, begin + length, source, lookup, options)
            if n_pairs == FULL or count + n_pairs > options.pair.size:
                return FULL
            if not is_known:
                _add_pairs(options, count, n_pairs, lookup.candidates)
            for option in range(count, count + n_pairs):
                options.begin[option], options.end[option] = begin, begin + length
                options.target[option] = NOT_YET
            if not is_later:
                _fetch(options, count, n_pairs, lookup.tables)
                for option in range(count, count + n_pairs):
                    if not _complete_now(options, option, lookup):
                        return FULL
            count += n_pairs
    options.first[n * longest] = count
    # Nobody looks for room when the rest is completed
    if is_later and count * lookup.candidates.words.size > options.words.size:
        return FULL
    return WRONG if is_wrong(lookup.candidates) else count


@inlined_kernel
def _can_be_completed_later(lookup):
    """Whether nothing else depends on target and reordering scores of the options, so that complete_option suffices."""
    sparse = lookup.tables.sparse
    return lookup.is_lazy and not (sparse.has_history or sparse.has_orientations or has_prepared(lookup))


@inlined_kernel
def _fetch(options, first, n_pairs, tables):
    """Have the rows of these options' pairs fetched: they lie anywhere in a table larger than the caches."""
    for option in range(first, first + n_pairs):
        if options.pair[option] >= 0:
            prefetch(tables.phrases.target_offsets, options.pair[option])
            prefetch(tables.ln_reordering, options.pair[option])
    for option in range(first, first + n_pairs):
        if options.pair[option] >= 0:
            prefetch(tables.phrases.target_words, tables.phrases.target_offsets[options.pair[option]])


@inlined_kernel
def _complete_now(options, option, lookup):
    """Fill in target, reordering scores, rule and state of an option, and prepare features; whether there was room."""
    sentence, tables = lookup.sentence, lookup.tables
    if not _add_target(options, option, sentence, tables):
        return False
    phrase = _phrase(options, option, sentence)
    if not prepare_option(lookup, option, phrase):
        return False
    _add_rule(options, option, phrase, lookup)
    pair = table_pair(sentence.synthetic, options.pair[option])
    total = _add_reordering(options, option, pair, tables, lookup.weights.reordering)
    if options.pair[option] < 0 and not np.isfinite(total):  # `choose` has seen the others
        lookup.candidates.wrong[REORDERING_NOT_FINITE] = 1 + pair
    _add_sparse_reordering(options, option, lookup)
    options.state[option] = _same_state(options, option, tables.orientations.keeps_span)
    return True


@inner_kernel
def complete_option(options: Options, option, tables, sentence, weights):
    """Fill in target, reordering scores and state of an `option` (int64) that fill_options has left for later.

    `tables` are Tables, `sentence` a Sentence, `weights` DenseWeights.
    """
    _add_target(options, option, sentence, tables)
    pair = table_pair(sentence.synthetic, options.pair[option])
    _add_reordering(options, option, pair, tables, weights.reordering)
    options.state[option] = _same_state(options, option, tables.orientations.keeps_span)


@inlined_kernel
def _source_of(begin, end, lookup, options):
    """The source phrase of words begin:end of a sentence, ABSENT where there is none or may be none, or a lattice."""
    if lookup.sentence.paths.of_span.size > 0:
        return np.int64(ABSENT)
    if lookup.sentence.rules[begin * options.longest + end - begin - 1] == BLOCKED:
        return np.int64(ABSENT)
    return find_source(lookup.tables.phrases, lookup.sentence.words, begin, end)


@inlined_kernel
def _recall_span(begin, end, source, lookup, options, count):
    """Copy the pairs of `source` and their scores from the cache to the options from `count` on; their number.

    Nothing is copied if there is no room for so many. NOT_KNOWN where they are not in the cache, or not all that the
    span has.
    """
    synthetic, cache = lookup.sentence.synthetic, lookup.candidates.cache
    span_index = begin * options.longest + end - begin - 1
    is_alone = synthetic.first[span_index] == synthetic.first[span_index + 1]
    is_free = lookup.sentence.rules[span_index] == ALLOWED and lookup.sentence.paths.of_span.size == 0
    if not (is_alone and is_free) or has_more_scores(lookup):
        return NOT_KNOWN
    if source == ABSENT:
        return ZERO
    slot = slot_in(cache, source)
    if slot == NO_SLOT:
        return NOT_KNOWN
    size, first = cache.size[slot], lookup.tables.phrases.pair_offsets[source]
    if count + size > options.pair.size:
        return size
    for k in range(size):
        options.pair[count + k] = first + cache.item[slot, k]
    for k in range(size):
        options.score[count + k] = cache.score[slot, k]
    for k in range(size):
        options.estimate[count + k] = cache.estimate[slot, k]
    for k in range(size):
        options.bound[count + k] = cache.bound[slot, k]
    return size


@inlined_kernel
def _add_pairs(options, first, n_pairs, candidates):
    """Copy the pairs in options.order and their scores to the options from `first` on."""
    for k in range(n_pairs):
        pair, option = options.order[k], first + k
        options.pair[option], item = pair, item_of(pair, candidates)
        options.score[option], options.estimate[option] = candidates.score[item], candidates.estimate[item]
        options.bound[option] = candidates.bound[item]
        check_estimate(pair, options.estimate[option], candidates)


@inlined_kernel
def _pairs_of(begin, end, source, lookup, options):
    """Write the pairs for words begin:end to options.order, best estimate first; their number, or FULL.

    `source` is their phrase in the table, see _source_of.
    """
    synthetic, phrases, candidates = lookup.sentence.synthetic, lookup.tables.phrases, lookup.candidates
    span_index, order, n_pairs = begin * options.longest + end - begin - 1, options.order, ZERO
    rule, behind = lookup.sentence.rules[span_index], source + 1
    if lookup.sentence.paths.of_span.size > 0:
        source, behind = lookup.sentence.paths.of_span[span_index], lookup.sentence.paths.of_span[span_index + 1]
        source = source if source < behind else np.int64(ABSENT)
    if source != ABSENT:
        n_chosen = choose(source, behind, lookup)
        candidates.first_pair[0] = phrases.pair_offsets[source]
        if n_chosen > order.size:
            return FULL
        for k in range(n_chosen):
            pair = candidates.first_pair[0] + candidates.heap[k]
            if rule != CONSTRAINED or keeps_terms(phrases, pair, synthetic, options.longest, begin, end):
                order[n_pairs] = pair
                n_pairs += 1
    for number in range(synthetic.first[span_index], synthetic.first[span_index + 1]):
        if n_pairs == order.size:
            return FULL
        score_synthetic(number, lookup)
        k = int(n_pairs)
        pair = -1 - number
        while k > 0 and _estimate_of(order[k - 1], candidates) < _estimate_of(pair, candidates):
            order[k] = order[k - 1]
            k -= 1
        order[k] = pair
        n_pairs += 1
    if n_pairs > 0 and has_more_scores(lookup):
        _rank_again(begin, end, lookup, order, n_pairs)
    return n_pairs


@inner_kernel
def _rank_again(begin, end, lookup, order, n_pairs):
    """Add to the scores of the pairs in `order` what depends on their place, and sort them by their estimates."""
    candidates = lookup.candidates
    for i in range(n_pairs):
        pair = order[i]
        add_scores_in_place(pair, begin, end, lookup)
        estimate, k = _estimate_of(pair, candidates), i
        while k > 0 and _estimate_of(order[k - 1], candidates) < estimate:
            order[k] = order[k - 1]
            k -= 1
        order[k] = pair


@inlined_kernel
def _estimate_of(pair, candidates):
    return candidates.estimate[item_of(pair, candidates)]


@inlined_kernel
def _add_target(options, option, sentence, tables):
    """Find or add the option's target phrase among the distinct ones; whether there was room."""
    targets = options.n_targets[0]
    begin = options.target_first[targets]
    size = target_length(tables, sentence, options.pair[option])
    if begin + size > options.words.size:
        return False
    read_target(tables, sentence, options.pair[option], begin, options.words, options.lm_words)
    h = START
    for i in range(begin, begin + size):
        h = combine(h, np.int64(options.words[i]))
    slot = first_slot(mix(h), options.slots.size)
    while options.slots[slot] != EMPTY:
        target = np.int64(options.target[options.slots[slot]])
        if _is_target(options, target, begin, size):
            options.target[option] = target
            return True
        slot = next_slot(slot, options.slots.size)
    options.target_first[targets + 1], options.n_targets[0] = begin + size, targets + 1
    options.slots[slot] = option
    options.target[option] = targets
    return True


@inlined_kernel
def _add_rule(options, option, phrase, lookup):
    """Compute the hashes of the option's rule that sparse features need."""
    sparse, sentence = lookup.tables.sparse, lookup.sentence
    if sparse.has_history or sparse.has_orientations:
        words, span = (phrase.words, phrase.size), (phrase.begin, phrase.end)
        options.rule[option, 0] = rule_hash(sparse, sentence.synthetic, sentence.classes, *words, *span)
        if sparse.active[CLASS_REORDERING]:
            options.rule[option, 1] = class_sequence_hash(sparse, sentence.classes, phrase.begin, phrase.end)


@inlined_kernel
def _phrase(options, option, sentence):
    """The option as an OptionPhrase."""
    target = np.int64(options.target[option])
    first, size = options.target_first[target], options.target_first[target + 1] - options.target_first[target]
    span = np.int64(options.begin[option]), np.int64(options.end[option])
    begin, end = source_words(sentence.paths, options.pair[option], span[0], span[1])
    words = options.words[first : first + size]
    return OptionPhrase(options.pair[option], words, np.int64(size), np.int64(begin), np.int64(end))


@inlined_kernel
def _is_target(options, target, begin, size):
    """Whether the target phrase consists of options.words[begin:begin + size]."""
    first = options.target_first[target]
    if options.target_first[target + 1] - first != size:
        return False
    return same_words(options.words, first, options.words, begin, size)


@inlined_kernel
def _add_reordering(options, option, pair, tables, weights):
    """Compute the option's reordering scores by `weights` (float64[n]), without sparse features; their sum."""
    ln_reordering, model, total = tables.ln_reordering, tables.orientations, 0.0
    for orientation in range(N_ORIENTATIONS):
        backward = weighted_orientation(ln_reordering, model, weights, pair, BACKWARD, orientation)
        forward = weighted_orientation(ln_reordering, model, weights, pair, FORWARD, orientation)
        options.backward[option, orientation] = backward
        options.forward[option, orientation] = forward
        total += backward + forward
    options.backward[option, MONOTONE_TO_BLOCK] = options.backward[option, MONOTONE]
    options.forward[option, MONOTONE_TO_BLOCK] = options.forward[option, MONOTONE]
    return total


@inlined_kernel
def _add_sparse_reordering(options, option, lookup):
    """Add the scores of sparse features of orientations to the option's reordering scores."""
    if lookup.tables.sparse.has_orientations:
        for orientation in range(N_OPTION_ORIENTATIONS):
            is_monotone, rule = orientation == MONOTONE, options.rule[option, 0]
            options.backward[option, orientation] += _sparse_score(rule, WITH_PREVIOUS, is_monotone, lookup)
            options.forward[option, orientation] += _sparse_score(rule, WITH_NEXT, is_monotone, lookup)


@inner_kernel
def _sparse_score(rule, neighbour, is_monotone, lookup):
    """Weighted score of the sparse features of fire_orientation."""
    sparse, fired = lookup.tables.sparse, lookup.candidates.fired
    fired.n[0] = 0
    fire_orientation(sparse, rule, neighbour, is_monotone, fired)
    return weigh_fired(sparse.weights, lookup.weights.sparse, fired)


@inlined_kernel
def _same_state(options, option, keeps_span):
    """The first option with the same forward scores and end and, if the model `keeps_span`, the same begin."""
    h = combine(START, np.int64(options.end[option]))
    if keeps_span:
        h = combine(h, np.int64(options.begin[option]))
    for orientation in range(N_ORIENTATIONS):
        h = combine(h, np.int64(options.forward[option, orientation] * 65536.0))
    slot = first_slot(mix(h), options.state_slots.size)
    while options.state_slots[slot] != EMPTY:
        other = options.state_slots[slot]
        same = options.end[other] == options.end[option]
        if keeps_span:
            same = same and options.begin[other] == options.begin[option]
        for orientation in range(N_OPTION_ORIENTATIONS):
            same = same and options.forward[other, orientation] == options.forward[option, orientation]
        if same:
            return other
        slot = next_slot(slot, options.state_slots.size)
    options.state_slots[slot] = option
    return option
