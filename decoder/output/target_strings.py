"""Numbers for target strings, equal for equal strings: nodes of a trie, to which options are appended."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.options.option_arrays import Options
from phrasebeam.kernels.jit import inner_kernel
from phrasebeam.kernels.trie import NO_ROOM, ROOT, Trie, child, new_trie

EMPTY_STRING = ROOT
NO_STRING = NO_ROOM


class TargetStrings(NamedTuple):
    """Strings over the words of one sentence's options. Unless they `matter`, all are treated as empty."""

    matter: bool
    target: np.ndarray  # int32[O]; like `target_first` and `words`, an array of Options
    target_first: np.ndarray  # int64[D + 1]
    words: np.ndarray  # int32[W]
    trie: Trie


def new_strings(options: Options, matter: bool, capacity: int) -> TargetStrings:
    """Room for `capacity` strings, if they matter."""
    capacity = capacity if matter else 1
    return TargetStrings(
        matter,
        options.target,
        options.target_first,
        options.words,
        new_trie(capacity),
    )


@inner_kernel
def append_option(strings: TargetStrings, string, option):
    """The `string` followed by the target words of an option; NO_STRING if there is no room."""
    if not strings.matter:
        return EMPTY_STRING
    target = strings.target[option]
    for position in range(strings.target_first[target], strings.target_first[target + 1]):
        string = child(strings.trie, string, np.int64(strings.words[position]))
        if string == NO_STRING:
            break
    return string
