"""Data by which a kernel calls other kernels many times without Python: their machine code, and their arguments.

Normally a kernel has a copy of the code of each kernel that it calls, which is compiled again. Here it calls, by its
address, the same machine code that Python calls. NamedTuples are passed on as images: copies of the fields that Python
passed, in which the kernel may write other addresses and sizes of arrays. It may not read fields of an image, since
compiled code may read a field before the kernel writes it: see structs.py.
"""

from collections.abc import Sequence

from phrasebeam.kernels.compilation.argument_kinds import DATA, N_ITEMS, SHAPE, WORD, StructKind, layout
from phrasebeam.kernels.jit import IS_COMPILED, Intrinsic
from phrasebeam.kernels.second_compiler import KernelCall

__all__ = ["DATA", "IS_COMPILED", "N_ITEMS", "SHAPE", "address_in", "address_of", "call_kernel", "image_at"]
__all__ += ["image_words", "word_in_image", "write_image"]

image_at, write_image = Intrinsic("image_at"), Intrinsic("write_image")
call_kernel, address_in = Intrinsic("call_kernel"), Intrinsic("address_in")


def address_of(call: KernelCall) -> int:
    """The address of the machine code of a kernel, which is compiled or loaded now. The kernel must return int64."""
    version = call.kernel.version(call.kinds)
    if version.returns != "int64":
        raise TypeError(f"{call.kernel.__name__} returns {version.returns}, expected int64")
    return version.address


def image_words(kind: StructKind) -> int:
    """The size of an image of a NamedTuple of this kind, in words of 8 bytes."""
    return layout(kind)[1] // WORD


def word_in_image(kind: StructKind, path: Sequence[str]) -> int:
    """The position in words of a field in an image of a NamedTuple; with several names, of a field within a field."""
    word = 0
    for name in path:
        word += layout(kind)[0][name] // WORD
        kind = kind.kinds[kind.struct._fields.index(name)]
    return word
