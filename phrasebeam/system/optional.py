"""Modules of Python that not every system has, and functions of the system's C library where there is no module."""

import ctypes
from importlib import import_module
from typing import Any


def optional_module(name: str) -> Any:
    """The module of the standard library; None where the system does not have it."""
    try:
        return import_module(name)
    except ImportError:
        return None


def c_function(name: str, library: str | None = None) -> Any:
    """The function of the C library that this process has loaded, or of another `library`; None where it is not there.

    ctypes.get_errno() tells of its errors.
    """
    try:
        return getattr(ctypes.CDLL(library, use_errno=True), name)
    except (OSError, TypeError, AttributeError):  # no such library; Windows has none without a name; no such function
        return None
