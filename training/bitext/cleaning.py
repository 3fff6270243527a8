"""Cleaning of training text, as by Moses' clean-corpus-n.perl and OpusFilter: leave out pairs, repair characters."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from html import unescape
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from phrasebeam.base.config import Section, parse_config
from phrasebeam.base.errors import FormatError, excerpt, renamed_in_errors
from phrasebeam.base.files import read_lines
from phrasebeam.base.progress import log, stage
from phrasebeam.decoder.adaptation.align_text import paired
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings, primary_language
from phrasebeam.decoder.model.description import open_description
from phrasebeam.process.system_errors import named_in_errors
from phrasebeam.training.bitext.kept_alignment import CLEAN

MOST_WORDS = 1_000_000
CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]|[\t\n\x0b\x0c\r\x1c-\x1f\x85]")
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# Characters of scripts that are written without spaces: Thai to Burmese, Khmer, Chinese, Japanese
SPACELESS = re.compile(
    "[\u0e00-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
CHARACTERS_OF_WORD = 2  # approximate number of characters per word in these scripts
Form = Literal["NFC", "NFKC", "none"]


class CleaningSettings(Section):
    """Settings of cleaning: sentence pairs to leave out, and repairs of text."""

    longest: int = Field(100, ge=1, le=MOST_WORDS, description="leave out pairs with more words than this on a side")
    ratio: float = Field(
        9.0,
        ge=1,
        le=MOST_WORDS,
        description="leave out pairs with a larger ratio of the numbers of words of both sides",
    )
    copies: bool | None = Field(
        None, description="leave out pairs with two equal sides; none: unless both languages are the same"
    )
    repeats: bool | None = Field(None, description="leave out repeated pairs; none: unless both languages are the same")
    entities: bool | None = Field(
        None, description="replace HTML references such as &eacute; &#39; by characters; none: only in raw text"
    )
    normalization: Form = Field("NFC", description="Unicode normalization form")


class Example(NamedTuple):
    """Number of lines with one kind of problem, and the first of these lines."""

    times: int
    line: int
    text: str


class PairCleaner:
    """Cleans sentence pairs one after the other, and counts the pairs left out and the repairs, by kind."""

    def __init__(self, settings: CleaningSettings, is_raw: bool, is_one_language: bool):
        self._settings = settings
        self._drops_copies = not is_one_language if settings.copies is None else settings.copies
        self._drops_repeats = not is_one_language if settings.repeats is None else settings.repeats
        self._unescapes = is_raw if settings.entities is None else settings.entities
        self._seen = set[bytes]()
        self.left_out, self.mended, self.n_pairs = dict[str, Example](), dict[str, Example](), 0

    def cleaned(self, source: str, target: str) -> tuple[str, str] | None:
        """Return the pair after all repairs; None if the pair is left out."""
        self.n_pairs += 1
        pair = self._mended(source), self._mended(target)
        if reason := self._fault(*pair):
            self._count(self.left_out, reason, " | ".join(map(excerpt, pair)))
        return None if reason else pair

    @property
    def n_kept(self) -> int:
        """Number of pairs that were not left out."""
        return self.n_pairs - sum(one.times for one in self.left_out.values())

    def notes(self) -> Iterator[str]:
        """Yield a line for each kind of omission and repair, with the count and an example."""
        for found, what in ((self.left_out, f"of {self.n_pairs:,} pairs left out"), (self.mended, "mended")):
            for reason, (times, line, text) in found.items():
                yield f"{times:,} {what}: {reason}, such as line {line}: {text}"

    def _count(self, found: dict[str, Example], reason: str, text: str) -> None:
        known = found.get(reason, Example(0, self.n_pairs, text))
        found[reason] = known._replace(times=known.times + 1)

    def _mended(self, text: str) -> str:
        for reason, mended in self._steps(text):
            if mended != text:
                self._count(self.mended, reason, excerpt(text))
                text = mended
        return text.strip()

    def _steps(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield the name of each repair, with the text after it and all earlier repairs."""
        if self._unescapes and "&" in text:
            text = ENTITY.sub(lambda match: unescape(match[0]), text)
            yield "HTML entities", text
        if CONTROL.search(text):
            text = CONTROL.sub(" ", text)
            yield "control characters", text
        form = self._settings.normalization
        if form != "none" and not unicodedata.is_normalized(form, text):
            yield f"not in {form}", unicodedata.normalize(form, text)

    def _fault(self, source: str, target: str) -> str:
        """The reason why a pair is left out; "" if it is not."""
        lengths = n_words(source), n_words(target)
        if not all(lengths):
            return "empty sides"
        if max(lengths) > self._settings.longest:
            return f"more than {self._settings.longest} words"
        if max(lengths) > self._settings.ratio * min(lengths):
            return f"length ratio above {self._settings.ratio:g}"
        if self._drops_copies and source == target and any(map(str.isalpha, source)):
            return "copies of the source"
        return "repeated pairs" if self._drops_repeats and self._is_repeated(source, target) else ""

    def _is_repeated(self, source: str, target: str) -> bool:
        key = blake2b(f"{source}\n{target}".encode(), digest_size=12).digest()
        n_seen = len(self._seen)
        self._seen.add(key)
        return len(self._seen) == n_seen


def pair_cleaner(settings: CleaningSettings, raw: RawTextSettings | None) -> PairCleaner:
    """A cleaner of tokenized text, or of raw text if there are settings `raw`."""
    is_one = raw is not None and primary_language(raw.source_language) == primary_language(raw.target_language)
    return PairCleaner(settings, raw is not None, is_one)


def cleaner_of(model: Path) -> PairCleaner | None:
    """A cleaner with the settings by which the model's training text was cleaned; None if it was not cleaned."""
    description = open_description(model)
    if CLEAN not in description.settings:
        return None
    settings = parse_config(description.settings["cleaning"], CleaningSettings, f"{model / 'model.yaml'}")
    return pair_cleaner(settings, description.preprocessing)


def n_words(text: str) -> int:
    """Number of words: those between spaces, and CHARACTERS_OF_WORD characters each in scripts without spaces."""
    n_characters = len(SPACELESS.findall(text))
    others = SPACELESS.sub(" ", text) if n_characters else text
    return len(others.split()) + -(-n_characters // CHARACTERS_OF_WORD)


def write_cleaned(sides: Sequence[Path], outputs: Sequence[Path], cleaner: PairCleaner) -> list[str]:
    """Write the cleaned pairs of two files to two others. Log and return the cleaner's notes.

    Raises FormatError if the files are not parallel, if no pair is left, or if the text is not UTF-8; OSError.
    """
    names = ", ".join(path.name for path in sides)
    with ExitStack() as stack, stage(f"cleaning {names}", unit="sentence pairs") as advance:
        files = []
        for output in outputs:
            output.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(named_in_errors(output))
            files.append(stack.enter_context(open(output, "w", encoding="utf-8", newline="\n")))
        for source, target in paired(read_lines(sides[0]), read_lines(sides[1]), (sides[0], sides[1])):
            for file, text in zip(files, cleaner.cleaned(source, target) or ()):
                file.write(f"{text}\n")
            advance(1)
    notes = [f"{names}: {note}" for note in cleaner.notes()]
    for note in notes:
        log.warning("%s", note)
    if not cleaner.n_kept:
        reasons = ", ".join(f"{one.times:,} {reason}" for reason, one in cleaner.left_out.items()) or "no lines"
        raise FormatError(sides[0], f"no pair is left after cleaning ({reasons}); give other text, or --no-clean")
    return notes


@contextmanager
def cleaned_files(sides: Sequence[Path], directory: Path, cleaner: PairCleaner) -> Iterator[Sequence[Path]]:
    """Both sides cleaned, as files in `directory` until the context ends."""
    outputs = [directory / name / path.name for name, path in zip(("source", "target"), sides)]
    write_cleaned(sides, outputs, cleaner)
    note = " (cleaned)" if cleaner.left_out else ""  # line numbers in errors are those of the cleaned file
    with renamed_in_errors({str(output): f"{path}{note}" for output, path in zip(outputs, sides)}):
        yield outputs
    for path in outputs:
        path.unlink()
        path.parent.rmdir()
    directory.rmdir()
