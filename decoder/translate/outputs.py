"""Where the outputs of a stream of sentences go: to standard output and files, each as soon as it is there."""

import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file
from phrasebeam.base.progress import Advance
from phrasebeam.decoder.translate.pipeline import LineOutput

STANDARD_OUTPUT = Path("-")


def write_outputs(
    outputs: Iterable[LineOutput],
    nbest: Path | None,
    lattice: Path | None,
    translations: Path | None = None,
    advance: Advance = lambda steps: None,
) -> None:
    """Write n-best lists and lattices to the files of these paths, if any; translations to theirs or standard output.

    What has the path - goes to standard output in place of the translations, as in Moses. Files appear when all is
    written. `advance` is told of each sentence. Raises ConfigError if two would be the same.
    """
    parts: dict[Path, str] = {}  # fields of LineOutput
    for part, path in (("nbest", nbest), ("lattice", lattice), ("translation", translations)):
        if path is not None:
            file_path = STANDARD_OUTPUT if str(path) == "/dev/stdout" else path
            if file_path in parts:
                raise ConfigError(f"{path}: two outputs would go there; name another for one of them")
            parts[file_path] = part
    if translations is None:
        parts.setdefault(STANDARD_OUTPUT, "translation")
    with ExitStack() as stack:
        files = [(_open(path, stack), part) for path, part in parts.items()]
        for output in outputs:
            for file, part in files:
                file.write(getattr(output, part).encode("utf-8"))
            sys.stdout.buffer.flush()
            advance(1)


def _open(path: Path, stack: ExitStack) -> BinaryIO:
    return sys.stdout.buffer if path == STANDARD_OUTPUT else stack.enter_context(atomic_file(path))
