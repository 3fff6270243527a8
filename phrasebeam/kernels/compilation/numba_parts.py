"""What is used of numba without importing it; the import takes half of the time of a command's start.

It is numba's version, the user's settings for it, and two of its extension modules: functions that the machine code of
kernels calls, and Python functions that call machine code.
"""

import os
import sys
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

# Prefix of the environment variables that set up numba, and those that do not change machine code
SETTING, WITHOUT_EFFECT = "NUMBA_", {"NUMBA_DISABLE_JIT", "NUMBA_NUM_THREADS", "NUMBA_CACHE_DIR"}
SETTINGS_FILE = ".numba_config.yaml"  # in the working directory


@cache
def numba_folder() -> Path:
    """The folder of the package numba. Raises ModuleNotFoundError."""
    found = find_spec("numba")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("No module named 'numba'", name="numba")
    return Path(found.origin).parent


def numba_settings() -> tuple[Any, ...]:
    """The user's settings for numba, in environment variables and a file, that may change machine code."""
    path = Path(SETTINGS_FILE)
    variables = {name: value for name, value in os.environ.items() if name.startswith(SETTING)}
    given = sorted(variables.items() - {(name, variables.get(name)) for name in WITHOUT_EFFECT})
    return (*given, path.read_bytes() if path.is_file() else b"")


def compiles() -> bool:
    """Whether kernels are compiled; with NUMBA_DISABLE_JIT Python runs them."""
    return os.environ.get("NUMBA_DISABLE_JIT", "").strip() in ("", "0")


def extension_module(name: str) -> Any:
    """An extension module of numba; numba will use the same one if it is imported later."""
    full_name = f"numba.{name}"
    if full_name not in sys.modules:
        found = PathFinder.find_spec(full_name, [str(numba_folder())])
        if found is None or found.loader is None:
            raise ModuleNotFoundError(f"No module named {full_name!r}", name=full_name)
        module = module_from_spec(found)
        found.loader.exec_module(module)
        sys.modules[full_name] = module
    return sys.modules[full_name]
