"""Inner kernels that tests call from Python, each in a kernel of its own."""

from phrasebeam.decoder.features import hierarchical
from phrasebeam.decoder.input.target_constraint import follow as _follow
from phrasebeam.decoder.search.stacks import arrive as _arrive
from phrasebeam.kernels.jit import kernel

_shift_alone, _orientation_of_next = hierarchical.shift_alone, hierarchical.orientation_of_next


@kernel
def arrive(stacks, row, new, limit, ln_beam):
    return _arrive(stacks, row, new, limit, ln_beam)


@kernel
def follow(constraint, words, begin, end, position, is_open):
    return _follow(constraint, words, begin, end, position, is_open)


@kernel
def orientation_of_next(which, first_gap, window, previous_begin, previous_end):
    return _orientation_of_next(which, first_gap, window, previous_begin, previous_end)


@kernel
def shift_alone(blocks, top, begin, end):
    return _shift_alone(blocks, top, begin, end)
