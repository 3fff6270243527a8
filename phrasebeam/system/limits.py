"""What the system allows a process, and what the process has used: addresses, open files, processors, memory."""

import os
import sys

from phrasebeam.system.optional import optional_module

resource = optional_module("resource")


def address_space_limit() -> int | None:
    """Bytes of addresses that this process may have; None without a limit, or if the system does not say."""
    return None if resource is None else _limit(resource.RLIMIT_AS)


def open_files_limit() -> int | None:
    """Files that this process may have open; None without a limit, or if the system does not say."""
    return None if resource is None else _limit(resource.RLIMIT_NOFILE)


def _limit(kind: int) -> int | None:
    limit = resource.getrlimit(kind)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def peak_of_process() -> int:
    """The largest resident memory of this process so far, in bytes; 0 if the system does not say."""
    if resource is None:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def has_loopback_network() -> bool:
    """Whether every address 127.x.x.x is this machine, not only 127.0.0.1."""
    return sys.platform == "linux"
