"""A Ray worker: it keeps the last functions that it received, and calls them on items."""

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

KEPT_FUNCTIONS, KEPT_SHARED = 3, 4  # the latest ones; functions have decoders with memory of their own


class Call(NamedTuple):
    """A function and the items that a worker calls it on.

    References are in lists, so that Ray does not fetch them before they are needed.
    """

    function: tuple[int, list[Any]]  # its number, and the reference of its parcel
    shared: list[tuple[int, list[Any]]]  # the further arguments of all items, likewise
    items: Parcel
    is_long: bool  # one item, whose second argument is `advance`


class Done(NamedTuple):
    """Result of a call: its values, or the error."""

    kind: str  # "results", "error" or "missing"
    value: Any  # a parcel, or a FileIdentity
    steps: int  # that a long piece has advanced
    seconds: float
    processor_seconds: float
    processor_seconds_in_all: float  # of the worker since its start
    peak: int  # bytes, the largest resident memory of the worker so far


class Versions(NamedTuple):
    """Versions that must be the same at both ends of a connection."""

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
        """Package versions that differ from the caller's, and this host's name."""
        return self._different, socket.gethostname()

    def steps(self) -> int:
        return self._steps

    def receive(self, file: FileIdentity, parts: list[Any]) -> None:
        """Keep a file that this machine does not see; `parts`: references of its bytes."""
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
        if self._different:  # one that took the place of another, on another machine
            raise ConfigError(f"{socket.gethostname()}: {self._different}; install the same on all machines")
        function, items = self._functions.value(*call.function), unpack(call.items)
        if call.is_long:
            return [function(item, self._advance) for item in items]
        shared = [self._shared.value(*entry) for entry in call.shared]
        return [function(item, *shared) for item in items] if shared else list(results_of(function, items))

    def _advance(self, n: int) -> None:
        self._steps += n


class Latest:
    """Values sent for many calls, of which those that were used last are kept."""

    def __init__(self, most: int) -> None:
        self._most, self._values = most, OrderedDict[int, Any]()

    def value(self, number: int, reference: Sequence[Any]) -> Any:
        """The value with this number, fetched if this worker does not have it."""
        import ray

        if number not in self._values:
            while len(self._values) >= self._most:
                self._values.popitem(last=False)
            self._values[number] = unpack(ray.get(reference[0]))
        self._values.move_to_end(number)
        return self._values[number]


def _packed(error: Exception) -> Parcel:
    """An error, or its message if it cannot be sent."""
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
    for one in sorted(hashlib.sha256(source).digest() for source in sources):  # wherever they are installed
        digest.update(one)
    libraries = (metadata.version(name) for name in ("numba", "numpy"))
    return Versions(metadata.version("phrasebeam"), digest.hexdigest()[:16], platform.python_version(), *libraries)
