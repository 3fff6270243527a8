"""Files that hold both sides of a bitext, TSV, TMX, XLIFF or PO, in place of two files of plain text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from phrasebeam.base.errors import ConfigError, FormatError, renamed_in_errors
from phrasebeam.base.files import check_keeps_inputs, scratch_directory
from phrasebeam.base.progress import log, stage
from phrasebeam.decoder.documents.file_formats import ENDINGS, named_format
from phrasebeam.decoder.documents.sentence_pairs import FORMATS, SegmentPair, read_pairs
from phrasebeam.decoder.model.description import open_description

P = ParamSpec("P")
R = TypeVar("R")
KNOWN = ", ".join(ending for kind in FORMATS for ending in ENDINGS[kind][:1])
ENCODING = "utf-8"
# The path that the user gave, by the path of each text file that was made from it
_given_files: ContextVar[Mapping[str, str] | None] = ContextVar("given_files", default=None)


Columns = tuple[str | None, str | None]  # of source and target: columns of a table, or languages


class Sides(NamedTuple):
    """Names of two parameters of a function: that for the source side of a bitext, and that for its translations."""

    source: str
    target: str


def reads_pairs(*bitexts: tuple[str, str]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function that reads bitexts as two files of plain text, so that it also takes one file of both sides.

    `bitexts`: for each bitext, the names of the parameters for its two sides. A file of both sides is the argument of
    the first parameter; that of the second is then None. The function gets temporary text files instead. The columns or
    languages to read are the arguments of its parameters source_column and target_column, or else of source_language
    and target_language, or else the languages of `model`.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = signature(function)
        groups = [one.name for one in known.parameters.values() if one.kind is Parameter.VAR_KEYWORD]

        @wraps(function)
        def call(*args: P.args, **options: P.kwargs) -> R:
            given = dict(known.bind(*args, **options).arguments)
            for group in groups:
                given |= given.pop(group, {})
            both = [found for one in bitexts if (found := _of_both_sides(Sides(*one), given))]
            if not both:
                return function(*args, **options)
            check_keeps_inputs([given.get("output")], [given[one.source] for one in both])
            with _as_text(both, given) as files:
                called: Any = function
                result: R = called(**given | files)
                return result

        return call

    return decorate


def as_given(text: str) -> str:
    """`text`, such as a command, with the paths that the user gave in place of those of temporary text files."""
    for place, path in (_given_files.get() or {}).items():
        text = text.replace(place, path)
    return text


def _of_both_sides(sides: Sides, given: Mapping[str, Any]) -> Sides | None:
    """`sides`, if their arguments are one file of both sides; None if they are plain text, or absent.

    Raises ConfigError if the target is missing or not plain text, or is given although the source has both sides.
    """
    source, target = given.get(sides.source), given.get(sides.target)
    targets = [] if target is None else [target] if isinstance(target, str | Path) else list(target)
    if source is None:
        return None
    if named_format(source) in FORMATS:
        if others := [one for one in targets if Path(one) != Path(source)]:
            raise ConfigError(f"{source}: has both sides; leave out --{_option(sides.target)} {others[0]}")
        return sides
    for one in targets:
        if named_format(one) in FORMATS:
            raise ConfigError(f"{one}: has both sides; give it as --{_option(sides.source)} only, or give plain text")
    if not targets:
        missing = f"--{_option(sides.target)} is missing; give it, or a file of both sides ({KNOWN})"
        raise ConfigError(f"{source}: is plain text of one side, but {missing}")
    return None


def _option(parameter: str) -> str:
    return parameter.replace("_", "-")


@contextmanager
def _as_text(bitexts: Sequence[Sides], given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Write both sides of each bitext as temporary text files; yields their paths by the names of the parameters."""
    files, origins = dict[str, Any](), dict[str, str]()
    with scratch_directory() as directory:
        for sides in bitexts:
            path = Path(given[sides.source])
            places = [directory / name / path.name for name in sides]
            write_sides(path, columns_given(path, given), places)
            files |= {sides.source: places[0], sides.target: places[1]}
            origins |= dict.fromkeys(map(str, places), str(path))
        before = _given_files.set(origins)
        try:
            with renamed_in_errors(origins):
                yield files
        finally:
            _given_files.reset(before)


def columns_given(path: Path, given: Mapping[str, Any]) -> Columns:
    """The columns of both sides, by the arguments of a function, if the file is a table; otherwise their languages."""
    chosen = given.get("source_column"), given.get("target_column")
    if named_format(path) == "tsv" or all(chosen):
        return chosen
    languages = given.get("source_language"), given.get("target_language")
    if given.get("model") and (known := open_description(Path(given["model"])).text_languages):
        languages = known.source_language, known.target_language
    return chosen[0] or languages[0], chosen[1] or languages[1]


def write_sides(path: Path, columns: Columns, places: Sequence[Path]) -> None:
    """Write the sentence pairs of a file as two text files, and log what is left out. Raises FormatError."""
    pairs, n_pairs = read_pairs(path, *columns), 0
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
    with (
        stage(f"reading {path.name}", unit="sentence pairs") as advance,
        open(places[0], "w", encoding=ENCODING, newline="\n") as source,
        open(places[1], "w", encoding=ENCODING, newline="\n") as target,
    ):
        for pair in pairs:
            _write(pair, source, target)
            n_pairs += 1
            advance(1)
    left_out = ", ".join(f"{count:,} {reason}" for reason, count in pairs.left_out.most_common())
    if not n_pairs:
        raise FormatError(path, f"no sentence pairs, segments: {left_out or 'none'}; give a file of translations")
    if left_out:
        log.warning("%s: %s sentence pairs; left out: %s", path, f"{n_pairs:,}", left_out)


def _write(pair: SegmentPair, source: Any, target: Any) -> None:
    source.write(f"{pair.source}\n")
    target.write(f"{pair.target}\n")
