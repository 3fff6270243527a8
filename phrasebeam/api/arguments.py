"""Arguments that functions of the API share, and functions that convert them.

Files are given by name or Path, settings as a file, a dictionary or an object.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypedDict

from phrasebeam.base.config import Given, Threads, parse_config
from phrasebeam.base.memory_bound import MemorySettings, end_memory_bound, keep_memory
from phrasebeam.base.options import Option, heading
from phrasebeam.base.progress import log
from phrasebeam.engine.current_engine import EngineName, EngineSettings, using_engine

File = str | Path
Files = File | Sequence[File]
Settings = Given  # a YAML file, its content as a mapping, or the section itself
Memory = str | int  # bytes, or a string such as "2G"

OR_PAIRS = "or a file with both sides: TSV, TMX, XLIFF or PO"  # see phrasebeam.training.bitext.pair_files
UNLESS_PAIRS = "unless the source is a file with both sides"

Model = Annotated[File, "Model directory, as train-model writes it."]
Source = Annotated[File, "Source sentences, one per line, raw or tokenized as for train-model; plain, .gz or .zst."]
Target = Annotated[File, "Translations of the source sentences, line by line."]
TargetIfApart = Annotated[File | None, f"Translations of the source sentences, line by line, {UNLESS_PAIRS}."]
Text = Annotated[Files, "Tokenized text, one sentence per line, plain, .gz or .zst; one or more files."]
AtOnce = Annotated[Threads, "Number of sentences that are processed at the same time."]
MemoryBound = Annotated[Memory | None, Option(section=MemorySettings)]
Force = Annotated[bool, "Replace the model or unfinished run in the output directory."]
Config = Annotated[
    Settings | None,
    "YAML file with settings; 'phrasebeam config {command}' prints all of them. Other options take precedence.",
]

SourceLanguage = Annotated[str | None, "Code of the source language: de, en, fr ..."]
RawOrTokens = Annotated[
    bool | None,
    Option(
        "Input and output are raw text; with --no-raw they are tokens, as preprocess writes them.",
        unset="as in the training of the model",
    ),
]

OF_MODEL = "the model's"  # stands for the settings that hold if an option is not given


@heading("Resources")
class ClusterOptions(TypedDict, total=False):
    """The engine that does the work."""

    engine: Annotated[EngineName, Option(section=EngineSettings)]
    address: Annotated[str | None, Option(section=EngineSettings, unset="start a cluster on this machine")]


@heading("Resources")
class EngineOptions(ClusterOptions, total=False):
    """The engine that does the work, and its workers."""

    workers: Annotated[int | None, Option(section=EngineSettings, unset="Ray's processors, or `threads`")]


Column = str | int  # of a table, by header or number; for other formats a language
TargetColumn = Annotated[
    Column | None,
    Option(
        "Column of the target in TSV, by header or number; or target language in TMX.",
        unset="2; for TMX the target language",
    ),
]


@heading("Files of both sides")
class PairOptions(TypedDict, total=False):
    """The places of source and target in a file that holds both."""

    source_column: Annotated[
        Column | None,
        Option(
            "Column of the source in TSV, by header or number; or source language in TMX.",
            unset="1; for TMX the source language",
        ),
    ]
    target_column: TargetColumn


@heading("Raw text")
class LanguageOptions(TypedDict, total=False):
    """The languages of the text; raw text needs them."""

    source_language: SourceLanguage
    target_language: Annotated[str | None, "Code of the target language."]


def optional_path(file: File | None) -> Path | None:
    """The path of an optional file, or None."""
    return None if file is None else Path(file)


def paths(files: Files | None) -> list[Path]:
    """The paths of one file, of several files, or of none."""
    return [Path(file) for file in ([files] if isinstance(files, (str, Path)) else files or ())]


def texts(given: str | Iterable[str] | None) -> list[str]:
    """One text, several, or none, as a list."""
    return [given] if isinstance(given, str) else list(given or ())


@contextmanager
def memory_bound(n_bytes: int) -> Iterator[None]:
    """Keep the process below `n_bytes` while a function works; log a warning if the bound was exceeded."""
    keep_memory(n_bytes)
    try:
        yield
    finally:
        if excess := end_memory_bound():
            log.warning(excess)


@contextmanager
def resources(n_bytes: int, options: ClusterOptions, workers: int | None) -> Iterator[None]:
    """Use the engine that the options select, within `n_bytes` of memory, until the context ends.

    Raises ConfigError.
    """
    given = {"engine": options["engine"], "address": options["address"], "workers": workers}
    with memory_bound(n_bytes), using_engine(parse_config(given, EngineSettings, "options")):
        yield
