"""Text for a trainer of a model of raw text: the tokens of its files, in files for the time of the training."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, cast

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import atomic_file, read_lines, real_path
from phrasebeam.base.progress import stage
from phrasebeam.decoder.marked_text.tokenization import TOKENIZED, Tokenization
from phrasebeam.process.unfinished import unfinished_directory
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.bitext.kept_alignment import kept_alignment

Data = TypeVar("Data", bound=BitextFiles | None)


@contextmanager
def tokenized_files(model: Path, raw: bool | None, output: Path) -> Iterator["TokenFiles"]:
    """What makes files of tokens, which a trainer of `model` with this output takes, of raw ones.

    `raw`: whether the files are raw; None: as the model was made. Files of tokens are deleted when the context ends;
    a FormatError that is raised within it names the raw ones. Raises SmtError or OSError.
    """
    tokenization = Tokenization.of_model(model, raw)
    if not tokenization.is_raw:
        yield TokenFiles(model, TOKENIZED, output)
        return
    parent = real_path(output).parent
    parent.mkdir(parents=True, exist_ok=True)
    with unfinished_directory(parent, "tokens") as directory:
        files = TokenFiles(model, tokenization, directory)
        with raw_paths_in_errors(files.raw_paths):
            yield files


class TokenFiles:
    """Files of tokens in a directory, of raw files; where those are tokenized, themselves."""

    def __init__(self, model: Path, tokenization: Tokenization, directory: Path):
        self.model, self.tokenization, self.directory = model, tokenization, directory
        self.raw_paths: dict[Path, Path] = {}  # by those of tokens

    def __call__(self, data: Data) -> Data:
        """The tokens of a set, with the word alignment that the model keeps if it was made of these files."""
        if data is None or not self.tokenization.is_raw:
            return data
        tokens = write_tokens(data, self.tokenization, self.directory / str(len(self.raw_paths)))
        self.raw_paths |= dict(zip(tokens.parallel, data.parallel))
        alignment = data.alignment or kept_alignment(self.model, data.source, data.target)
        return cast(Data, replace(tokens, alignment=alignment))


def write_tokens(data: BitextFiles, tokenization: Tokenization, directory: Path) -> BitextFiles:
    """Write the tokens of raw files to files of the same names in a new folder of `directory` each."""
    source = _write(data.source, tokenization.before, directory / "source")
    references = [
        _write(path, tokenization.target, directory / f"reference.{i}") for i, path in enumerate(data.references, 1)
    ]
    return replace(data, source=source, references=references)


@contextmanager
def raw_paths_in_errors(raw_paths: dict[Path, Path]) -> Iterator[None]:
    """In a FormatError raised within the context, replace each path of tokens by that of the raw file."""
    try:
        yield
    except FormatError as error:
        for tokens, raw in raw_paths.items():
            error.args = (str(error).replace(str(tokens), str(raw)),)
            error.path = str(error.path).replace(str(tokens), str(raw))
        raise


def _write(path: Path, tokenize: Callable[[str], str], directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    output = directory / path.name
    with stage(f"tokenizing {path.name}", unit="lines") as advance, atomic_file(output) as file:
        for line in read_lines(path):
            file.write(f"{tokenize(line)}\n".encode())
            advance(1)
    return output
