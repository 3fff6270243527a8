"""Truecasing: the first word of a sentence gets the case it has elsewhere (Lita et al. 2003; Moses' truecase.perl).

The files have Moses' format, a line for each word with its casings, the most frequent first: word (27/30) Word (3).
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.decoder.raw_text.sentence_case import SentenceCase
from phrasebeam.lm.text.corpus import split

MOSES_ENGLISH = SentenceCase("en", "moses")
COUNT = re.compile(r"\(([\d.]+)(?:/[\d.]+)?\)")


class Truecaser(NamedTuple):
    """The casings of the words of a language in the middle of sentences."""

    best: dict[str, str]  # the most frequent casing of each word in lower case
    known: frozenset[str]  # all casings seen in training
    case: SentenceCase = MOSES_ENGLISH

    @classmethod
    def load(cls, path: str | Path, case: SentenceCase = MOSES_ENGLISH) -> "Truecaser":
        """The truecaser in a file of phrasebeam or Moses. Raises FormatError with the line, or OSError."""
        best: dict[str, str] = {}
        known = set()
        for number, line in enumerate(read_lines(path), 1):
            fields = split(line)
            words = fields[::2]
            if len(fields) % 2 or not all(COUNT.fullmatch(count) for count in fields[1::2]):
                raise FormatError(path, "expected 'word (27/30) Word (3)', as Moses' train-truecaser writes it", number)
            known.update(words)
            if words:
                best[case.lower(words[0])] = words[0]
        return cls(best, frozenset(known), case)

    def truecase(self, tokens: Iterable[str]) -> list[str]:
        """`tokens` of a line of one or several sentences, cased as they would be within a sentence."""
        return [
            self.best.get(self.case.lower(token), token) if is_first or token not in self.known else token
            for token, is_first in self.case.starts(tokens)
        ]


def save_truecaser(counts: Mapping[str, int], path: str | Path, case: SentenceCase = MOSES_ENGLISH) -> None:
    """Write the truecaser of words with these counts; of equally frequent casings, the lower-case one is the best."""
    casings: dict[str, list[str]] = {}
    for word in counts:
        casings.setdefault(case.lower(word), []).append(word)
    with atomic_file(path) as file:
        for lower, words in sorted(casings.items()):
            words.sort(key=lambda word: (-counts[word], word != lower, word))
            total = sum(counts[word] for word in words)
            first = f"{words[0]} ({counts[words[0]]}/{total})"
            line = " ".join([first, *(f"{word} ({counts[word]})" for word in words[1:])])
            file.write(f"{line}\n".encode())


def truecaser_paths(directory: Path) -> tuple[Path, Path]:
    """Paths of the truecasers of source and target in a model."""
    return directory / "truecase.source", directory / "truecase.target"
