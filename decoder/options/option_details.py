"""Data of options besides pairs and scores: target phrases, reordering scores, and the states after options."""

import numpy as np

from phrasebeam.decoder.features.reordering import (
    BACKWARD,
    FORWARD,
    MONOTONE,
    MONOTONE_TO_BLOCK,
    N_OPTION_ORIENTATIONS,
    N_ORIENTATIONS,
    weighted_orientation,
)
from phrasebeam.decoder.features.stateful import prepare_option
from phrasebeam.decoder.input.lattice_paths import source_words
from phrasebeam.decoder.input.synthetic_pairs import table_pair
from phrasebeam.decoder.model.tables import read_target, target_length
from phrasebeam.decoder.options.candidates import REORDERING_NOT_FINITE, Lookup, OptionPhrase
from phrasebeam.decoder.options.option_arrays import Options
from phrasebeam.decoder.sparse.phrase_hashes import WITH_NEXT, WITH_PREVIOUS, class_sequence_hash
from phrasebeam.decoder.sparse.sparse_features import weigh_fired
from phrasebeam.decoder.sparse.template_kernels import fire_orientation, rule_hash
from phrasebeam.decoder.sparse.templates import CLASS_REORDERING
from phrasebeam.kernels.hashing import EMPTY, START, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel
from phrasebeam.kernels.words import same_words


@inlined_kernel
def complete_now(options: Options, option, lookup: Lookup):
    """Fill in target, reordering scores, rule and state of an `option` (int64), and prepare features for it.

    Returns whether there was room.
    """
    sentence, tables = lookup.sentence, lookup.tables
    if not _add_target(options, option, sentence, tables):
        return False
    phrase = _phrase(options, option, sentence)
    if not prepare_option(lookup, option, phrase):
        return False
    _add_rule(options, option, phrase, lookup)
    pair = table_pair(sentence.synthetic, options.pair[option])
    total = _add_reordering(options, option, pair, tables, lookup.weights.reordering)
    if options.pair[option] < 0 and not np.isfinite(total):  # `choose` has checked all other pairs
        lookup.candidates.wrong[REORDERING_NOT_FINITE] = 1 + pair
    _add_sparse_reordering(options, option, lookup)
    options.state[option] = _same_state(options, option, tables.orientations.keeps_span)
    return True


@inner_kernel
def complete_option(options: Options, option, tables, sentence, weights):
    """Fill in target, reordering scores and state of an `option` (int64) that fill_options has left incomplete.

    `tables` are Tables, `sentence` a Sentence, `weights` DenseWeights.
    """
    _add_target(options, option, sentence, tables)
    pair = table_pair(sentence.synthetic, options.pair[option])
    _add_reordering(options, option, pair, tables, weights.reordering)
    options.state[option] = _same_state(options, option, tables.orientations.keeps_span)


@inlined_kernel
def _add_target(options, option, sentence, tables):
    """Find the option's target phrase among the distinct ones, or add it; return whether there was room."""
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
    """Compute the option's reordering scores with `weights` (float64[n]), without sparse features; return their sum."""
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
    """Weighted score of the sparse features that fire_orientation lists."""
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
