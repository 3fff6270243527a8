"""Files that models have in common on disk, so that no change of one model reaches another."""

import shutil
from contextlib import suppress
from pathlib import Path

from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.tables.model_files import EDITABLE
from phrasebeam.system.descriptors import link_read_only, share_blocks

SMALL = 1 << 20  # bytes: copied in no time


def share(path: Path, target: Path, is_own: bool = True) -> None:
    """Give `target` the content of `path`, by a copy unless that would be large. Raises OSError.

    Large files are copied where the file system can share their blocks. Elsewhere both names are then one file that is
    read-only: who writes into it is refused, and our own writers replace files. Files that are not our own, which lie
    beside those of a model, are copied and stay as they are.
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
    except OSError:  # another file system, or another user's file
        target.unlink(missing_ok=True)
        return False
    return True
