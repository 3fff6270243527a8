"""Sharing of files between models on disk, such that a change of one model does not affect the other."""

import shutil
from contextlib import suppress
from pathlib import Path

from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.tables.model_files import EDITABLE
from phrasebeam.system.descriptors import link_read_only, share_blocks

SMALL = 1 << 20  # bytes; files up to this size are always copied


def share(path: Path, target: Path, is_own: bool = True) -> None:
    """Give `target` the content of `path`, by a copy unless the file is large. Raises OSError.

    Blocks of large files are shared if the file system can do that. Otherwise, both names become links to one file,
    which is made read-only: nobody can write into it, and our own writers replace files instead. Files that are not our
    own, which lie beside those of a model, are copied, and their permissions do not change.
    """
    path = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    is_large = path.stat().st_size > SMALL and path.name not in EDITABLE
    if is_large and (_cloned(path, target) or (is_own and _linked(path, target))):
        return
    with open(path, "rb") as source, atomic_file(target) as file:
        shutil.copyfileobj(source, file, SMALL)


def _cloned(path: Path, target: Path) -> bool:
    with suppress(OSError), open(path, "rb") as source, atomic_file(target) as file:
        share_blocks(source.fileno(), file.fileno())
        return True
    return False


def _linked(path: Path, target: Path) -> bool:
    target.unlink(missing_ok=True)
    try:
        link_read_only(path, target)
    except OSError:  # `target` is in another file system, or the file belongs to another user
        target.unlink(missing_ok=True)
        return False
    return True
