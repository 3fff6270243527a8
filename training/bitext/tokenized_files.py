"""Temporary files of tokens, for a trainer that is given raw text."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, cast

from phrasebeam.base.errors import renamed_in_errors
from phrasebeam.base.files import atomic_file, read_lines, scratch_directory
from phrasebeam.base.progress import stage
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.bitext.cleaning import cleaner_of, write_cleaned
from phrasebeam.training.bitext.kept_alignment import kept_alignment

Data = TypeVar("Data", bound=BitextFiles | None)


@contextmanager
def tokenized_files(model: Path, raw: bool | None) -> Iterator["TokenFiles"]:
    """Yield a function that tokenizes raw files for trainers of `model`.

    `raw`: whether the files are raw; None: whether the model was trained on raw text. The files of tokens are deleted
    when the context ends. A FormatError that is raised within the context names the raw files instead of them. Raises
    SmtError or OSError.
    """
    tokenization = Tokenization.of_model(model, raw)
    with scratch_directory() as directory:
        files = TokenFiles(model, tokenization, directory)
        with renamed_in_errors(files.raw_paths):
            yield files


class TokenFiles:
    """Makes files of tokens from raw files; returns tokenized files as they are."""

    def __init__(self, model: Path, tokenization: Tokenization, directory: Path):
        self.model, self.tokenization, self.directory = model, tokenization, directory
        self.raw_paths: dict[str, str] = {}  # path of the raw file, by path of the file of its tokens

    def __call__(self, data: Data) -> Data:
        """The files of tokens of a set of files.

        If the set is the training data of the model, it is cleaned as for the model, and gets the model's alignment.
        """
        if data is None or not self.tokenization.is_raw:
            return data
        place, alignment = self.directory / str(len(self.raw_paths)), data.alignment
        text: BitextFiles = data
        if alignment is None and (kept := kept_alignment(self.model, data.source, data.target, is_cleaned=True)):
            alignment, text = kept, self._cleaned(data, place / "cleaned")
        tokens = write_tokens(text, self.tokenization, place)
        self.raw_paths |= dict(zip(map(str, tokens.parallel), map(str, data.parallel)))
        return cast(Data, replace(tokens, alignment=alignment))

    def _cleaned(self, data: BitextFiles, directory: Path) -> BitextFiles:
        """The files after the cleaning that the model's own training text went through."""
        cleaner = cleaner_of(self.model)
        if cleaner is None:
            return data
        outputs = [directory / str(i) / path.name for i, path in enumerate(data.parallel)]
        write_cleaned(data.parallel, outputs, cleaner)
        return replace(data, source=outputs[0], references=outputs[1:])


def write_tokens(data: BitextFiles, tokenization: Tokenization, directory: Path) -> BitextFiles:
    """Write the tokens of each raw file to a file of the same name, in a new folder of `directory` for each file."""
    source = _write(data.source, tokenization.before, directory / "source")
    references = [
        _write(path, tokenization.target, directory / f"reference.{i}") for i, path in enumerate(data.references, 1)
    ]
    return replace(data, source=source, references=references)


def _write(path: Path, tokenize: Callable[[str], str], directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    output = directory / path.name
    with stage(f"tokenizing {path.name}", unit="lines") as advance, atomic_file(output) as file:
        for line in read_lines(path):
            file.write(f"{tokenize(line)}\n".encode())
            advance(1)
    return output
