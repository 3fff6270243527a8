"""Manual word alignments with sure and possible links, and alignment errors against them (Och & Ney 2003).

Two formats are read. Pharaoh's format has a line for each sentence pair, with sure links 1-2 and possible links 1?2 or
1p2, counted from 0. The format of NAACL 2003 has a line for each link, "sentence source target" and S or P, counted
from 1. There, 0 stands for no word, and a sentence pair without any line has no manual alignment.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.extraction.pharaoh import BLANKS, NAACL, check_format
from phrasebeam.lm.text.corpus import split

Link = tuple[int, int]  # positions of a source and a target word


class GoldLinks(NamedTuple):
    """The links of one sentence pair, and the first line of the file that has them."""

    sure: frozenset[Link]
    possible: frozenset[Link]  # including the sure ones
    line: int


class AlignmentErrors(NamedTuple):
    """Numbers of links, summed over the sentence pairs that have a manual alignment."""

    sentence_pairs: int
    sure: int
    possible: int  # including the sure ones
    found: int
    sure_found: int
    possible_found: int

    @property
    def precision(self) -> float:
        """The share of the links found that are possible or sure."""
        return self.possible_found / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """The share of the sure links that were found."""
        return self.sure_found / self.sure if self.sure else 1.0

    @property
    def aer(self) -> float:
        """Alignment error rate."""
        size = self.found + self.sure
        return 1.0 - (self.sure_found + self.possible_found) / size if size else 0.0

    def __str__(self) -> str:
        rates = (100 * self.aer, 100 * self.precision, 100 * self.recall)
        links = f"{self.sure} sure and {self.possible - self.sure} possible links"
        told = "AER {:.2f} %, precision {:.2f} %, recall {:.2f} %".format(*rates)
        return f"{told} ({self.sentence_pairs} sentence pairs, {links})"


class GoldAlignment(NamedTuple):
    """The manual alignments in a file."""

    path: Path
    links: dict[int, GoldLinks]  # by sentence pair, from 0
    lines: int | None  # number of lines in Pharaoh's format; None in NAACL's

    def check(self, n_source: Sequence[int], n_target: Sequence[int]) -> None:
        """Raise FormatError if the alignments do not fit sentence pairs with these numbers of words."""
        if self.lines not in (None, len(n_source)):
            found = f"{self.lines} lines for {len(n_source)} sentence pairs"
            raise FormatError(self.path, f"{found}; expected one for each")
        for pair, gold in self.links.items():
            if pair >= len(n_source):
                message = f"sentence pair {pair + 1}, and there are {len(n_source)}"
                raise FormatError(self.path, f"{message}; give the alignments of this text", gold.line)
            beyond = [link for link in gold.possible if link[0] >= n_source[pair] or link[1] >= n_target[pair]]
            if beyond:
                first = 1 if self.lines is None else 0
                s, t = (position + first for position in min(beyond))
                sizes = f"{n_source[pair]} source and {n_target[pair]} target words"
                found = f"a link of {s} and {t} in sentence pair {pair + 1}, which has {sizes}"
                raise FormatError(self.path, f"{found}; positions are counted from {first}, source first", gold.line)

    def errors(self, found: Mapping[int, Iterable[Link]]) -> AlignmentErrors:
        """The errors of the links in `found`, which are given by sentence pair."""
        sums = AlignmentErrors(0, 0, 0, 0, 0, 0)
        for pair, gold in self.links.items():
            links = {*found[pair]}
            n_right = len(links & gold.sure), len(links & gold.possible)
            counts = 1, len(gold.sure), len(gold.possible), len(links), *n_right
            sums = AlignmentErrors(*map(sum, zip(sums, counts)))
        return sums


def read_gold(path: Path) -> GoldAlignment:
    """Read the manual alignments in a file of either format. Raises FormatError."""
    first = next((line for line in read_lines(path) if line.strip()), "")
    return GoldAlignment(path, _naacl(path), None) if NAACL.fullmatch(first) else _pharaoh(path)


def _pharaoh(path: Path) -> GoldAlignment:
    links: dict[int, GoldLinks] = {}
    for pair, line in enumerate(read_lines(path)):
        check_format(line, path, pair + 1)
        marked = [("-" in word, _link(word.translate(BLANKS).split())) for word in split(line)]
        sure = frozenset(link for is_sure, link in marked if is_sure)
        links[pair] = GoldLinks(sure, frozenset(link for _, link in marked), pair + 1)
    return GoldAlignment(path, links, len(links))


def _naacl(path: Path) -> dict[int, GoldLinks]:
    sure: dict[int, set[Link]] = defaultdict(set)
    possible: dict[int, set[Link]] = defaultdict(set)
    lines: dict[int, int] = {}
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        if not NAACL.fullmatch(line):
            found = f"{excerpt(line)} is not a link"
            raise FormatError(path, f"{found}; expected sentence, source, target, S or P, as in 1 3 4 S", number)
        sentence, *positions = (int(word) - 1 for word in line.split()[:3])
        if sentence < 0:
            raise FormatError(path, "sentence 0; sentences are counted from 1", number)
        lines.setdefault(sentence, number)
        if min(positions) >= 0:
            possible[sentence].add((positions[0], positions[1]))
            if "P" not in line.split():
                sure[sentence].add((positions[0], positions[1]))
    return {one: GoldLinks(frozenset(sure[one]), frozenset(possible[one]), line) for one, line in lines.items()}


def _link(words: Sequence[str]) -> Link:
    return int(words[0]), int(words[1])
