"""The directory of a module's compiled kernels, named by a digest of everything that they are compiled from.

Checkouts and environments with equal sources and versions share the directory.
"""

import hashlib
import os
import re
import sys
from functools import cache
from pathlib import Path

import llvmlite
import numpy as np

from phrasebeam.kernels.compilation.numba_parts import numba_folder, numba_settings
from phrasebeam.plugins.declarations import plugins
from phrasebeam.process.places import PACKAGE, ROOT, cache_home

OUR_IMPORT = re.compile(r"^\s*(?:from|import) (phrasebeam(?:\.\w+)*)(?: import ([^#\n(]+|\([^)]*\)))?", re.M)
# A module with this import calls the features of plugins.
PLUGINS = re.compile(r"^from phrasebeam\.plugins\.declarations import .*\bplugins\b", re.M)
PACKAGE_FILE = "__init__.py"
DIGEST_DIGITS = 16  # in the name of a directory


def cache_directory(source: Path) -> Path | None:
    """Directory of the compiled kernels of module `source`, in $PHRASEBEAM_CACHE or else the user's cache directory.

    None if there is no home directory.
    """
    home = cache_home()
    return home and home / "kernels" / _digest(source.resolve())


@cache
def _digest(source: Path) -> str:
    versions = (numba_folder() / "_version.py").read_bytes(), llvmlite.__version__, np.__version__, sys.version
    digest = hashlib.sha256(repr((versions, numba_settings())).encode())
    sources = sources_of(source)
    for one in sorted(map(_file_digest, sources)):  # paths have no effect: they differ between installations
        digest.update(one)
    if any(PLUGINS.search(_text(path)) for path in sources):
        digest.update(repr([(own.name, _file_digest(own.file)) for own in plugins().pair_features.values()]).encode())
    return digest.hexdigest()[:DIGEST_DIGITS]


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def _file_digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


def sources_of(source: Path) -> set[Path]:
    """The file `source` and all files of phrasebeam that it imports, directly or indirectly."""
    sources, pending = set(), [source]
    while pending:
        path = pending.pop()
        if path not in sources:
            sources.add(path)
            pending += _imports(path)
    return sources


@cache
def _imports(source: Path) -> tuple[Path, ...]:
    paths = list[Path]()
    for module, names in OUR_IMPORT.findall(_text(source)):
        found, imported = _files_of(module), re.findall(r"\w+", names)
        paths += found
        if all(path.name == PACKAGE_FILE for path in found):  # the imported names may be modules, too
            paths += (path for name in imported for path in _files_of(f"{module}.{name}")[:1])
    return tuple(paths)


@cache
def _files_of(module: str) -> tuple[Path, ...]:
    """The existing files that a module name may stand for: that of a module, and that of a package."""
    parts = module.split(".")[1:]
    for root in (PACKAGE, ROOT):  # ROOT in a checkout without symbolic links
        base = os.path.join(root, *parts)
        files = f"{base}.py", os.path.join(base, PACKAGE_FILE)
        if found := [Path(os.path.realpath(file)) for file in files if os.path.exists(file)]:
            return tuple(found)
    return ()
