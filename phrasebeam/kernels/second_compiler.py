"""Compilation of kernels by a second process at the same time, into the cache from which this process loads them.

numba compiles one kernel at a time, and mostly in Python. The second process gets the names of kernels and the types of
their arguments. Inner kernels that both need are in the cache as soon as one of the processes has compiled them.
"""

import logging
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any, NamedTuple, cast

from phrasebeam.kernels.compilation.argument_kinds import kinds_of
from phrasebeam.kernels.jit import Kernel
from phrasebeam.process.children import module_command, start
from phrasebeam.system.limits import processors


class KernelCall(NamedTuple):
    """A kernel, and the kinds of arguments for which it is compiled."""

    kernel: Kernel
    kinds: tuple[Any, ...]


def call_of(function: Callable[..., Any], *arguments: Any) -> KernelCall:
    """The machine code that a call of the kernel from Python with such arguments needs."""
    return KernelCall(cast(Kernel, function), kinds_of(arguments))


@contextmanager
def second_compiler(calls: Sequence[KernelCall]) -> Iterator[None]:
    """Let another process compile the kernels that are not in the cache, and wait for it at the end.

    No process is started if it would not help: on a single processor, or without a cache. A kernel that the process did
    not compile is compiled when it is called.
    """
    missing = [call for call in calls if call.kernel.is_missing(call.kinds)]
    if not missing or processors() < 2:
        yield
        return
    process = start(*module_command(__name__))
    try:
        with suppress(BrokenPipeError), cast(IO[bytes], process.stdin) as pipe:
            pickle.dump([(call.kernel, call.kinds) for call in missing], pipe)
        yield
    except BaseException:
        process.kill()
        raise
    finally:
        process.wait()


def main() -> None:
    """Compile the kernels named on standard input, in the second process; only the first process prints warnings."""
    logging.disable()
    for kernel, kinds in pickle.load(sys.stdin.buffer):
        kernel.version(kinds)


if __name__ == "__main__":
    main()
    os._exit(0)  # the other process waits; releasing everything that numba has made takes half a second
