"""The paths of a model's files: a model, wherever it comes from, only reads regular files within its own directory.

A file that several models share, as large files often are, also lies within the directory.
"""

import os
import stat
from pathlib import Path

from phrasebeam.base.config import format_size
from phrasebeam.base.errors import FormatError, ModelError, excerpt
from phrasebeam.base.files import real_path
from phrasebeam.decoder.tables.model_files import EDITABLE

LARGEST_TEXT = 2**28  # bytes of a vocabulary, word classes, names; read as a whole, they take ten times that memory
NAMES = ("model.yaml", *EDITABLE, "templates.yaml", "source.vocab", "target.vocab", "truecase.source")
FILES, FOLDERS = {*NAMES, "truecase.target"}, ("phrases", "reordering", "sparse", "sparse/pairs")
COPY = "copy what belongs to the model into its directory"


def model_file(directory: Path, name: str, largest: int | None = None) -> Path:
    """The path of the file `name` in a model directory. Raises ModelError unless it is a regular file within it.

    Raises FormatError if it is larger than `largest` bytes.
    """
    path = directory / name
    if Path(name).is_absolute() or ".." in Path(name).parts or not name.isprintable():
        raise ModelError(f"{directory}: names the file {excerpt(name)}, which is not within it; {COPY}")
    try:
        found = path.stat()
    except FileNotFoundError:
        raise ModelError(f"{path}: missing; train the model again or copy it whole") from None
    if not real_path(path).is_relative_to(real_path(directory)):
        raise ModelError(f"{path}: a link that leads out of the model directory; {COPY}")
    if not stat.S_ISREG(found.st_mode):
        raise ModelError(f"{path}: not a regular file; {COPY}")
    if largest is not None and found.st_size > largest:
        raise FormatError(path, f"{found.st_size} bytes, expected at most {format_size(largest)}")
    return path


def check_model_files(directory: Path) -> None:
    """Raise ModelError unless all files with fixed names of a model are regular files within it.

    Raises FormatError if one that is read as a whole is too large.
    """
    for folder in ("", *FOLDERS):
        path = directory / folder
        entries = os.scandir(path) if path.is_dir() else ()
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            is_text = name in FILES or entry.name == "names"
            if name not in FOLDERS and (folder or name in FILES):
                model_file(directory, name, LARGEST_TEXT if is_text else None)
            elif entry.is_symlink() and not real_path(path / entry.name).is_relative_to(real_path(directory)):
                raise ModelError(f"{path / entry.name}: a link that leads out of the model directory; {COPY}")
