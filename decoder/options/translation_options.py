"""Translation options: for each span of the source sentence, the target phrases worth trying, best first.

As in Moses, the table limit cuts the list of the phrase table's pairs. Synthetic pairs are added to it.
"""

import numpy as np

from phrasebeam.decoder.features.stateful import has_prepared
from phrasebeam.decoder.input.term_constraints import ALLOWED, BLOCKED, CONSTRAINED, keeps_terms
from phrasebeam.decoder.options.candidate_cache import NO_SLOT, slot_in
from phrasebeam.decoder.options.candidates import (
    Lookup,
    add_scores_in_place,
    check_estimate,
    choose,
    has_more_scores,
    is_wrong,
    item_of,
    score_synthetic,
)
from phrasebeam.decoder.options.option_arrays import NOT_YET, Options
from phrasebeam.decoder.options.option_details import complete_now
from phrasebeam.decoder.sparse.span_edges import forget_span
from phrasebeam.decoder.tables.phrase_table import ABSENT
from phrasebeam.kernels.hashing import EMPTY
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.kernels.prefetch import prefetch

ZERO = np.int64(0)
FULL = np.int64(-1)  # returned if the arrays are too small
WRONG = np.int64(-2)  # returned if the model has an error, see Candidates.wrong
NOT_KNOWN = np.int64(-3)  # returned if the cache lacks some pairs of a span


@kernel
def fill_options(lookup: Lookup, options: Options):
    """Fill `options` for the sentence of `lookup`. Returns their number (int64), FULL, or WRONG.

    With lookup.is_lazy, target and reordering scores are left to complete_option, if the features allow it.

    An example: "das haus" with longest = 2, where "das" has the pairs "the", "this", "das haus" has "the house", and
    "haus" has "house", "the". The spans 0:1, 0:2, 1:2, 1:3 have the indices 0 to 3; the last one exceeds the sentence.

        option    0 the    1 this    2 the house    3 house    4 the
        target    0        1         2              3          0         each distinct target phrase is stored once
        first     [0, 2, 3, 5, 5]                                        those of span s are first[s]:first[s + 1]

    Language model scores are memoized by target, so that option 4 costs as little as if it were option 0.
    """
    options.slots[:] = EMPTY
    options.state_slots[:] = EMPTY
    options.target_first[0], options.n_targets[0] = 0, 0
    forget_span(lookup.candidates.span)
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
                    if not complete_now(options, option, lookup):
                        return FULL
            count += n_pairs
    options.first[n * longest] = count
    # complete_option, called later, does not check for room
    if is_later and count * lookup.candidates.words.size > options.words.size:
        return FULL
    return WRONG if is_wrong(lookup.candidates) else count


@inlined_kernel
def _can_be_completed_later(lookup):
    """Whether complete_option can fill target and reordering scores later, because nothing needs them before."""
    sparse = lookup.tables.sparse
    return lookup.is_lazy and not (sparse.has_history or sparse.has_orientations or has_prepared(lookup))


@inlined_kernel
def _fetch(options, first, n_pairs, tables):
    """Prefetch the table rows of these options' pairs: they lie anywhere in a table larger than processor caches."""
    for option in range(first, first + n_pairs):
        if options.pair[option] >= 0:
            prefetch(tables.phrases.target_offsets, options.pair[option])
            prefetch(tables.ln_reordering, options.pair[option])
    for option in range(first, first + n_pairs):
        if options.pair[option] >= 0:
            prefetch(tables.phrases.target_words, tables.phrases.target_offsets[options.pair[option]])


@inlined_kernel
def _source_of(begin, end, lookup, options):
    """The source phrase of words begin:end; ABSENT if the table has none, if the span is blocked, or in a lattice."""
    span_index = begin * options.longest + end - begin - 1
    if lookup.sentence.paths.of_span.size > 0 or lookup.sentence.rules[span_index] == BLOCKED:
        return np.int64(ABSENT)
    return lookup.sentence.sources[span_index]


@inlined_kernel
def _recall_span(begin, end, source, lookup, options, count):
    """Copy the pairs of `source` and their scores from the cache to the options from `count` on; return their number.

    Nothing is copied if there is no room for all. Returns NOT_KNOWN if they are not in the cache, or the span has
    further pairs.
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
    """Write the pairs for words begin:end to options.order, best estimate first. Returns their number, or FULL.

    `source` is the span's phrase in the table, see _source_of.
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
    """Add the scores that depend on a pair's place to the scores of the pairs in `order`, and sort them by estimate."""
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
