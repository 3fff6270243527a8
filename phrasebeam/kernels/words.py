"""Sequences of word ids inside kernels: arrays of int32 hold phrases one after another, each phrase a span."""

from phrasebeam.kernels.jit import inlined_kernel


@inlined_kernel
def same_words(words, first, others, begin, length):
    """Whether words[first:first + length] and others[begin:begin + length] are equal; int32 arrays, int64 places."""
    for i in range(length):
        if words[first + i] != others[begin + i]:
            return False
    return True
