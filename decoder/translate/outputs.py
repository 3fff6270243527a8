"""Where the answers to a stream of sentences go: to standard output and files, each as soon as it is there."""

import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.output.request import Answer

STANDARD_OUTPUT = Path("-")

Renderer = Callable[[int, Answer], str]  # of the number of a sentence, from 0, and the answer


def write_answers(
    answers: Iterable[Answer], translations: Renderer, others: Iterable[tuple[Path | None, Renderer]]
) -> None:
    """Write `translations` of the answers to standard output, and the others to their files, those of None nowhere.

    What has the path - goes to standard output in place of the translations, as in Moses. Files appear when all is
    written. Raises ConfigError if two would be the same.
    """
    renderers: dict[Path, Renderer] = {}
    for path, renderer in others:
        if path is not None:
            place = STANDARD_OUTPUT if str(path) == "/dev/stdout" else path
            if place in renderers:
                raise ConfigError(f"{path}: two outputs would go there; name another for one of them")
            renderers[place] = renderer
    renderers.setdefault(STANDARD_OUTPUT, translations)
    with ExitStack() as stack:
        files = [(_open(path, stack), renderer) for path, renderer in renderers.items()]
        for number, answer in enumerate(answers):
            for file, renderer in files:
                file.write(renderer(number, answer).encode("utf-8"))
            sys.stdout.buffer.flush()


def _open(path: Path, stack: ExitStack) -> BinaryIO:
    return sys.stdout.buffer if path == STANDARD_OUTPUT else stack.enter_context(atomic_file(path))
