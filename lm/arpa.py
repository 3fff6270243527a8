"""ARPA files: the n-grams of a language model in lines `log10 p TAB words TAB log10 backoff` (Doug Paul, MIT)."""

import re
from array import array
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NoReturn

import numpy as np

from phrasebeam.base.errors import LONGEST_EXCERPT, FormatError, ModelError, excerpt
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.base.progress import stage
from phrasebeam.base.spill import RowFile
from phrasebeam.lm.ngrams import MAX_ORDER, NgramModel, NgramOrder
from phrasebeam.lm.text.vocabulary import BEGIN, END, UNKNOWN, Vocabulary

UNKNOWN_LOG10_PROB = -100.0  # of <unk>, if a file lacks it
LOWEST, HIGHEST = float(np.finfo(np.float32).min), float(np.finfo(np.float32).max)  # of float32
COUNT = re.compile(r"ngram\s+(\d{1,2})\s*=\s*(\d{1,18})\s*$", re.ASCII)
BLANKS = re.compile(r"[ \t\r]+")  # other white space may occur inside words
# The format allows any text before \data\. The CMU-Cambridge toolkit writes the longest known, some thousands of bytes.
LONGEST_HEADER = 1 << 16  # bytes
DATA = re.compile(rb"^(?:\xef\xbb\xbf)?\\data\\[ \t\r]*$", re.MULTILINE)
NGRAMS_AT_ONCE = 1 << 18
ADVICE = "copy the file or train the model again"


def starts_arpa(start: bytes) -> bool:
    """Whether a file with these first LONGEST_HEADER bytes is ARPA: text, and then a line \\data\\."""
    data = DATA.search(start)
    return data is not None and b"\0" not in start[: data.start()]


def read_arpa(path: str | Path, scratch: Path | None = None) -> NgramModel:
    """The model in the ARPA file `path`, plain or compressed; a missing <unk> gets log10 p = -100.

    With a directory `scratch`, the n-grams above unigrams are stored in files there, which may be unlinked. Raises
    FormatError, naming the line, if counts are wrong, the file ends early, a number is not a log10 probability or
    backoff, a word of an n-gram is not a unigram, or <s> or </s> is missing.
    """
    return _Reader(path, scratch).read()


def write_arpa(model: NgramModel, path: str | Path) -> None:
    """Write `model` as ARPA, compressed if `path` ends in .gz or .zst; numbers read back as the same float32.

    Raises ModelError if a word is empty or contains white space.
    """
    if any(BLANKS.search(word) or not word or "\n" in word for word in model.vocabulary.words):
        raise ModelError("a word of the language model is empty or contains white space; tokenize the text again")
    with atomic_file(path) as file:
        file.writelines(_format(model))


def _format(model: NgramModel) -> Iterator[bytes]:
    """The uncompressed bytes of the file, in pieces."""
    counts = [f"ngram {n}={len(order.words)}\n" for n, order in enumerate(model.orders, 1)]
    yield ("\\data\\\n" + "".join(counts)).encode()
    names = model.vocabulary.words
    for n, order in enumerate(model.orders, 1):
        yield f"\n\\{n}-grams:\n".encode()
        for begin in range(0, len(order.words), 1 << 16):
            rows = slice(begin, begin + (1 << 16))
            ngrams = [" ".join([names[word] for word in words]) for words in order.words[rows].tolist()]
            lines = map("\t".join, zip(_decimals(order.log10_prob[rows]), ngrams))
            if n < model.order:
                lines = map("\t".join, zip(lines, _decimals(order.log10_backoff[rows])))
            yield "".join([f"{line}\n" for line in lines]).encode("utf-8")
    yield b"\n\\end\\\n"


def _decimals(values: np.ndarray) -> list[str]:
    """The shortest decimal numbers that read back as the float32 `values`."""
    # Adding zero removes the sign of -0.0, which has a meaning only in KenLM's tables.
    return (values.astype(np.float32) + np.float32(0)).astype(str).tolist()


class _Reader:
    """A parser of one ARPA file, line by line."""

    def __init__(self, path: str | Path, scratch: Path | None = None):
        self.path, self.scratch, self.line_number = path, scratch, 0
        self.lines = read_lines(path)
        self.line: str | None = None  # the last line read that is not blank; None at the end of the file
        self.vocabulary = Vocabulary()
        self.order, self.has_unknown = 0, True  # words of the longest n-grams; whether <unk> is a unigram

    def read(self) -> NgramModel:
        counts = self.read_counts()
        orders, self.order = [], len(counts)
        with stage(f"reading {self.path}", sum(counts), "n-grams") as advance:
            for n, count in enumerate(counts, 1):
                if self.line != f"\\{n}-grams:":
                    self.refuse(f"found {excerpt(self.line)}, expected \\{n}-grams:")
                orders.append(self.read_unigrams(count) if n == 1 else self.read_order(n, count))
                advance(count)
                self.end_order(n, count)
        if self.line != "\\end\\":
            self.refuse(f"found {excerpt(self.line)}, expected \\end\\")
        if self.next_line() is not None:
            self.refuse(f"found {excerpt(self.line)} after \\end\\; remove it")
        return NgramModel(self.vocabulary, tuple(orders))

    def read_counts(self) -> list[int]:
        """The number of n-grams of each order; afterwards the current line is the header of the unigrams."""
        while self.next_line() is not None and self.line.lstrip("\ufeff") != "\\data\\":  # type: ignore[union-attr]
            pass
        if self.line is None:
            self.refuse("found None, expected \\data\\: not an ARPA file")
        counts: list[int] = []
        while (line := self.next_line()) is not None and not line.startswith("\\"):
            match = COUNT.match(line)
            if not match or int(match[1]) != len(counts) + 1:
                self.refuse(f"found {excerpt(line)}, expected 'ngram {len(counts) + 1}=' and a count")
            counts.append(int(match[2]))
        if not 1 <= len(counts) <= MAX_ORDER:
            self.refuse(f"counts of {len(counts)} orders, expected 1 to {MAX_ORDER}; train a model of such an order")
        return counts

    def read_unigrams(self, count: int) -> NgramOrder:
        """The unigrams, <unk> first, then in the order of the file; fills `vocabulary` in the same order."""
        log10_prob, log10_backoff = array("f"), array("f")
        index: dict[str, int] = {}
        for line in self.ngram_lines(count):
            (word,) = self.read_ngram(line, 1, log10_prob, log10_backoff)
            word = UNKNOWN if word == "<UNK>" else word
            if index.setdefault(word, len(index)) != len(log10_prob) - 1:
                self.refuse(f"the word {excerpt(word)} is here twice; keep one of the lines")
        for word in (BEGIN, END):
            if word not in index:
                self.refuse(f"the 1-grams end without {word}; train the model with sentence boundaries")
        self.has_unknown = UNKNOWN in index
        if not self.has_unknown:
            index[UNKNOWN] = len(index)
            log10_prob.append(UNKNOWN_LOG10_PROB)
            log10_backoff.append(0.0)
        unknown = index[UNKNOWN]
        order = np.array([unknown, *range(unknown), *range(unknown + 1, len(index))])
        words_in_file = list(index)
        self.vocabulary = Vocabulary(words_in_file[i] for i in order)
        words = np.arange(len(index), dtype=np.int32).reshape(-1, 1)
        return NgramOrder(words, np.frombuffer(log10_prob, np.float32)[order], _floats(log10_backoff)[order])

    def read_order(self, n: int, count: int) -> NgramOrder:
        """The `count` n-grams of length `n` > 1, in the order of the file."""
        index = dict(self.vocabulary.index)
        index.setdefault("<UNK>", index[UNKNOWN])
        if not self.has_unknown:
            # N-grams with <unk> are refused in this case: KenLM would read them and never find them.
            del index["<UNK>"], index[UNKNOWN]
        lines = self.ngram_lines(count)
        pieces = (self.read_piece(n, islice(lines, NGRAMS_AT_ONCE), index) for _ in range(0, count, NGRAMS_AT_ONCE))
        if self.scratch is None:
            empty = NgramOrder(np.zeros((0, n), np.int32), np.zeros(0, np.float32), np.zeros(0, np.float32))
            return NgramOrder(*map(np.concatenate, zip(empty, *pieces)))
        stems = (("words", np.int32, n), ("prob", np.float32, None), ("backoff", np.float32, None))
        files = [RowFile(self.scratch / f"{n}.{name}", dtype, width) for name, dtype, width in stems]
        for piece in pieces:
            for file, rows in zip(files, piece):
                file.append(rows)
        return NgramOrder(*(file.map() for file in files))

    def read_piece(self, n: int, lines: Iterable[str], index: dict[str, int]) -> NgramOrder:
        """The n-grams of length `n` on `lines`; `index` has the ids of words."""
        words, log10_prob, log10_backoff = array("i"), array("f"), array("f")
        for line in lines:
            ngram = self.read_ngram(line, n, log10_prob, log10_backoff)
            try:
                words.extend([index[word] for word in ngram])
            except KeyError as error:
                self.refuse(f"the word {excerpt(error.args[0])} is not among the 1-grams; {ADVICE}")
        ids = np.frombuffer(words, np.int32) if words else np.zeros(0, np.int32)
        return NgramOrder(ids.reshape(-1, n), _floats(log10_prob), _floats(log10_backoff))

    def read_ngram(self, line: str, n: int, log10_prob: array, log10_backoff: array) -> list[str]:
        """The n words of the n-gram on `line`; appends its two numbers to the arrays (float32)."""
        fields = line.split("\t")
        words = fields[1].split(" ") if 2 <= len(fields) <= 3 else []
        if len(words) != n or "" in words:
            fields = BLANKS.split(line.strip(" \t\r"))
            if not n + 1 <= len(fields) <= n + 2:
                self.refuse(f"found {excerpt(line)}, expected log10 p, {n} words, and perhaps a backoff")
            words = fields[1 : n + 1]
            fields = [fields[0], "", *fields[n + 1 :]]
        try:
            prob = float(fields[0])
            backoff = float(fields[2]) if len(fields) == 3 else 0.0
        except ValueError:
            self.refuse(f"found {excerpt(line)}, expected log10 p, {n} words, and perhaps a backoff")
        if not LOWEST <= prob <= 0:
            self.refuse(f"log10 p = {fields[0][:LONGEST_EXCERPT]}, expected a finite number not above 0; {ADVICE}")
        if not LOWEST <= backoff <= HIGHEST:
            self.refuse(f"backoff {fields[2][:LONGEST_EXCERPT]}, expected a finite number; {ADVICE}")
        if backoff != 0 and n == self.order:
            self.refuse(
                f"backoff {fields[2][:LONGEST_EXCERPT]} of an n-gram of the highest order that \\data\\ announces, "
                f"expected none; {ADVICE}"
            )
        log10_prob.append(prob)
        log10_backoff.append(backoff)
        return words

    def ngram_lines(self, count: int) -> Iterator[str]:
        """The next `count` lines that are not blank, which must all be n-grams."""
        for i in range(count):
            line = self.next_line()
            if line is None or line.startswith("\\"):
                self.refuse(f"found {excerpt(line)} after {i} n-grams, but \\data\\ announces {count}; {ADVICE}")
            yield line

    def end_order(self, n: int, count: int) -> None:
        """Read the line after the `count` n-grams of length `n`, which must be the next section's header."""
        line = self.next_line()
        if line is not None and not line.startswith("\\"):
            self.refuse(f"found another {n}-gram, but \\data\\ announces only {count}; {ADVICE}")

    def next_line(self) -> str | None:
        """The next line that is not blank; None at the end of the file."""
        for line in self.lines:
            self.line_number += 1
            if line and not line.isspace():
                self.line = line if line[0] != "\\" else line.rstrip(" \t")
                return self.line
        self.line = None
        return None

    def refuse(self, message: str) -> NoReturn:
        if self.line is None:
            message = message.replace("found None", "found the end of the file")
        raise FormatError(self.path, message, max(self.line_number, 1))


def _floats(values: array) -> np.ndarray:
    """float32 view of `values`, which may be empty."""
    return np.frombuffer(values, np.float32) if values else np.zeros(0, np.float32)
