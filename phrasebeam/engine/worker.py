"""A Ray worker: it keeps the functions that it received last, and calls them on items."""

import hashlib
import platform
import socket
import time
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from typing import Any, NamedTuple

from phrasebeam.base.errors import ConfigError, SmtError
from phrasebeam.base.ordered_map import results_of
from phrasebeam.engine.mapped_files import FileIdentity, MissingFile, keep_shipped
from phrasebeam.engine.parcel import Parcel, pack, unpack
from phrasebeam.process.places import source_files
from phrasebeam.system.memory_use import peak_memory

KEPT_FUNCTIONS, KEPT_SHARED = 3, 4  # the most recent ones; functions have decoders with memory of their own


class Call(NamedTuple):
    """A function, and the items on which a worker calls it.

    References are in lists, so that Ray does not fetch them before they are needed.
    """

    function: tuple[int, list[Any]]  # its number, and the reference to its parcel
    shared: list[tuple[int, list[Any]]]  # further arguments, the same for all items: number and reference of each
    items: Parcel
    is_long: bool  # whether it has a single long item; the function's second argument is then `advance`


class Done(NamedTuple):
    """The result of a call: its values, or the error."""

    kind: str  # "results", "error" or "missing"
    value: Any  # a parcel, or a FileIdentity
    steps: int  # steps of a long piece that were done
    seconds: float
    processor_seconds: float
    processor_seconds_in_all: float  # of the worker, since its start
    peak: int  # bytes, the largest resident memory of the worker so far


class Versions(NamedTuple):
    """The versions that must be equal at both ends of a connection."""

    phrasebeam: str
    sources: str  # digest of the package
    python: str
    numba: str
    numpy: str


class Worker:
    """An actor of Ray: one process, on one processor."""

    def __init__(self, expected: Versions) -> None:
        self._functions, self._shared = Latest(KEPT_FUNCTIONS), Latest(KEPT_SHARED)
        self._different = differing(expected, own_versions())
        self._steps = 0

    def about(self) -> tuple[str, str]:
        """The package versions that differ from the caller's, and the name of this host."""
        return self._different, socket.gethostname()

    def steps(self) -> int:
        return self._steps

    def receive(self, file: FileIdentity, parts: list[Any]) -> None:
        """Store a file that this machine does not see; `parts`: references to its bytes."""
        import ray

        keep_shipped(file, [ray.get(part) for part in parts])

    def do(self, call: Call) -> Done:
        begin, processor = time.perf_counter(), time.process_time()
        self._steps = 0
        try:
            kind, value = "results", pack(self._results(call))
        except MissingFile as missing:
            kind, value = "missing", missing.file  # type: ignore[assignment]
        except Exception as error:
            kind, value = "error", _packed(error)
        now = time.process_time()
        spent = time.perf_counter() - begin, now - processor, now
        return Done(kind, value, self._steps, *spent, peak_memory())

    def _results(self, call: Call) -> list[Any]:
        if self._different:  # this worker replaced another one, and is on another machine
            raise ConfigError(f"{socket.gethostname()}: {self._different}; install the same on all machines")
        function, items = self._functions.value(*call.function), unpack(call.items)
        if call.is_long:
            return [function(item, self._advance) for item in items]
        shared = [self._shared.value(*entry) for entry in call.shared]
        return [function(item, *shared) for item in items] if shared else list(results_of(function, items))

    def _advance(self, n: int) -> None:
        self._steps += n


class Latest:
    """Values sent for many calls; the most recently used ones are kept."""

    def __init__(self, most: int) -> None:
        self._most, self._values = most, OrderedDict[int, Any]()

    def value(self, number: int, reference: Sequence[Any]) -> Any:
        """The value with this number; it is fetched if this worker does not have it."""
        import ray

        if number not in self._values:
            while len(self._values) >= self._most:
                self._values.popitem(last=False)
            self._values[number] = unpack(ray.get(reference[0]))
        self._values.move_to_end(number)
        return self._values[number]


def _packed(error: Exception) -> Parcel:
    """The parcel of an error, or of its message if the error cannot be sent."""
    try:
        parcel = pack(error)
        unpack(parcel)
        return parcel
    except Exception:
        return pack(SmtError(f"{type(error).__name__}: {error}"))


def differing(here: Versions, there: Versions) -> str:
    """The versions that differ at the other end of a connection, in a few words."""
    return ", ".join(f"{name} {b}, here {a}" for name, a, b in zip(Versions._fields, here, there) if a != b)


@cache
def own_versions() -> Versions:
    """The versions of this process."""
    digest, sources = hashlib.sha256(), (path.read_bytes() for path in source_files())
    for one in sorted(hashlib.sha256(source).digest() for source in sources):  # independent of where they are installed
        digest.update(one)
    libraries = (metadata.version(name) for name in ("numba", "numpy"))
    return Versions(metadata.version("phrasebeam"), digest.hexdigest()[:16], platform.python_version(), *libraries)
