"""Python modules that not every system has, and functions of the C library for which there is no module."""

import ctypes
from importlib import import_module
from typing import Any


def optional_module(name: str) -> Any:
    """The module of the standard library; None if the system does not have it."""
    try:
        return import_module(name)
    except ImportError:
        return None


def c_function(name: str, library: str | None = None) -> Any:
    """The function of the C library that this process has loaded, or of another `library`; None if it is missing.

    ctypes.get_errno() returns its error number.
    """
    try:
        return getattr(ctypes.CDLL(library, use_errno=True), name)
    except (OSError, TypeError, AttributeError):  # no such library; none without a name on Windows; no such function
        return None
