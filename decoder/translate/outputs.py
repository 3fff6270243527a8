"""Writes the outputs of a stream of sentences to standard output and files, each as soon as it is ready."""

import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file
from phrasebeam.base.progress import Advance
from phrasebeam.decoder.translate.pipeline import LineOutput
from phrasebeam.process.standard_streams import drop_standard_output

STANDARD_OUTPUT = Path("-")


def write_outputs(
    outputs: Iterable[LineOutput],
    nbest: Path | None,
    lattice: Path | None,
    translations: Path | list[str] | None = None,
    advance: Advance = lambda steps: None,
) -> None:
    """Write n-best lists and lattices to these paths, if any; write translations to their path or to standard output.

    If `translations` is a list, they are appended to it.

    An output with the path - goes to standard output instead of the translations, as in Moses. Files appear once
    everything is written, even if the reader of standard output goes away. `advance` is called for each sentence.
    Raises ConfigError if two paths are the same, and BrokenPipeError if there is neither a reader nor a file.
    """
    parts: dict[Path, str] = {}  # fields of LineOutput
    for part, path in (("nbest", nbest), ("lattice", lattice), ("translation", translations)):
        if isinstance(path, Path):
            file_path = STANDARD_OUTPUT if str(path) == "/dev/stdout" else path
            if file_path in parts:
                raise ConfigError(f"{path}: two outputs have this name; give another name for one of them")
            parts[file_path] = part
    printed = parts.pop(STANDARD_OUTPUT, "translation" if translations is None else None)
    with ExitStack() as stack:
        files = [(stack.enter_context(atomic_file(path)), part) for path, part in parts.items()]
        for output in outputs:
            for file, part in files:
                file.write(getattr(output, part).encode("utf-8"))
            if isinstance(translations, list):
                translations.append(output.translation.removesuffix("\n"))
            if printed is not None:
                _print(getattr(output, printed), has_files=bool(files))
            advance(1)


def _print(text: str, has_files: bool) -> None:
    """Write to standard output; if its reader has gone, files are still written."""
    try:
        sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        if not has_files:
            raise
        drop_standard_output()
