"""Inner kernels that tests call from Python, each in a kernel of its own."""

from phrasebeam.decoder.adaptation.static_counts import _place_of_hash
from phrasebeam.decoder.features import histories, lexical_reordering
from phrasebeam.decoder.forced.forced_states import is_closed as _is_closed
from phrasebeam.decoder.input.target_constraint import follow as _follow
from phrasebeam.decoder.search.stacks import arrive as _arrive
from phrasebeam.decoder.sparse.sparse_weights import find_slots as _find_slots
from phrasebeam.kernels.decimals import read_number as _read_number
from phrasebeam.kernels.hashing import first_slot as _first_slot
from phrasebeam.kernels.hashing import next_slot as _next_slot
from phrasebeam.kernels.jit import kernel
from phrasebeam.kernels.words import same_words as _same_words
from phrasebeam.lm.text.fields import read_points as _read_points
from phrasebeam.lm.text.fields import split_fields as _split_fields
from phrasebeam.training.tuning.methods.bleu_bounds import fill_bounds as _fill_bounds

_intern_history = histories.intern_history
_shift_alone, _orientation_of_next = lexical_reordering.shift_alone, lexical_reordering.orientation_of_next


@kernel
def arrive(stacks, row, new, limit, ln_beam):
    return _arrive(stacks, row, new, limit, ln_beam)


@kernel
def fill_bounds(bounds, begin, size, sums, present, bleu, factor):
    _fill_bounds(bounds, begin, size, sums, present, bleu, factor)


@kernel
def find_slots(weights, keys, n, slots):
    _find_slots(weights, keys, n, slots)


@kernel
def follow(constraint, words, begin, end, position, is_open):
    return _follow(constraint, words, begin, end, position, is_open)


@kernel
def intern_history(table, n_columns):
    return _intern_history(table, n_columns)


@kernel
def is_closed(links, source, target):
    return _is_closed(links, source, target)


@kernel
def orientation_of_next(which, first_gap, window, previous_begin, previous_end):
    return _orientation_of_next(which, first_gap, window, previous_begin, previous_end)


@kernel
def shift_alone(blocks, top, begin, end):
    return _shift_alone(blocks, top, begin, end)


@kernel
def slots_of(h, size, found):
    """All slots of a hash table of `size` in the order in which a key of that hash is looked for."""
    found[0] = _first_slot(h, size)
    for i in range(1, size):
        found[i] = _next_slot(found[i - 1], size)


@kernel
def same_words(words, first, others, begin, length):
    return _same_words(words, first, others, begin, length)


@kernel
def read_number(text, begin, end, numbers, place):
    return _read_number(text, begin, end, numbers, place)


@kernel
def split_fields(text, begin, end, fields):
    return _split_fields(text, begin, end, fields)


@kernel
def read_points(text, begin, end, points, place, most_digits, has_possible):
    return _read_points(text, begin, end, points, place, most_digits, has_possible)


@kernel
def place_of_hash(ascending, key):
    return _place_of_hash(ascending, key)
