"""Reads word pairs of running text: each line has a word and its normalized form; an empty line ends a sentence."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.tokenizers.simple_tokenizers import composed
from phrasebeam.decoder.tokenizers.spelling import Spelling
from phrasebeam.training.normalization.normalizer_settings import FormLetters

LONGEST_WORD = 200  # characters; anything longer is not a word, but a line of some other file
DISTINCT_IN_LIST = 0.9  # minimum share of distinct words in a list of words; running text repeats words more often
Pair = tuple[str, str]  # a word and its form
Sentences = list[list[Pair]]


def read_word_pairs(source: Path, target: Path | None = None) -> Sentences:
    """Read sentences from a table of two columns with a tab between, or from two files that match line by line.

    Pairs with an empty side are left out. Raises FormatError with the number of the line, or OSError.
    """
    rows = _columns(source) if target is None else _lines_of_both(source, target)
    sentences: Sentences = [[]]
    for path, number, word, form in rows:
        for text in (word, form):
            if len(text) > LONGEST_WORD:
                raise FormatError(
                    path, f"{excerpt(text)} is longer than {LONGEST_WORD} characters, which is not a word", number
                )
        if not word and not form:
            sentences.append([])
        elif word and form:
            sentences[-1].append((word, form))
    found = [sentence for sentence in sentences if sentence]
    if not found:
        raise FormatError(source, "no word pairs; expected a word, a tab and its form, one pair per line")
    return found


def is_list(sentences: Sentences) -> bool:
    """Whether the words are a list rather than running text. A list may be sorted, so that neighbours mean nothing."""
    words = [word for sentence in sentences for word, _ in sentence]
    return len(set(words)) >= DISTINCT_IN_LIST * len(words)


Row = tuple[Path, int, str, str]  # a file, the number of a line, word, form


def _columns(path: Path) -> Iterator[Row]:
    for number, line in enumerate(read_lines(path), 1):
        columns = line.split("\t")
        if not line.strip():
            yield path, number, "", ""
        elif len(columns) != 2:
            found = f"{len(columns)} columns" if len(columns) > 1 else "no tab"
            raise FormatError(path, f"{found} in {excerpt(line)}; expected a word, a tab and its form", number)
        else:
            yield path, number, composed(columns[0]), composed(columns[1])


def _lines_of_both(source: Path, target: Path) -> Iterator[Row]:
    for number, (word, form) in enumerate(zip_longest(read_lines(source), read_lines(target)), 1):
        if word is None or form is None:
            short, other = (source, target) if word is None else (target, source)
            raise FormatError(short, f"{number - 1} lines, but {other} has more; each line must match")
        yield source, number, composed(word), composed(form)


def spelling_of_forms(sentences: Sentences, letters: FormLetters) -> Spelling:
    """How forms are divided into letters: by default at spaces, if most forms have spaces."""
    if letters == "auto":
        forms = [form for sentence in sentences for _, form in sentence]
        return Spelling(2 * sum(" " in form for form in forms) > len(forms))
    return Spelling(letters == "spaced")


def read_known_words(path: Path, spelling: Spelling) -> set[str]:
    """Read the words of a file, which white space separates; if spaces separate letters, each line is a word.

    Raises FormatError or OSError.
    """
    lines = read_lines(path)
    words = lines if spelling.is_spaced else (word for line in lines for word in line.split())
    found = {composed(word) for word in words} - {""}
    return {word for word in found if len(word) <= LONGEST_WORD}


def in_parts(sentences: Sentences, n: int) -> list[Sentences]:
    """Divide the sentences into `n` parts with the same number of words; a sentence may be divided.

    Parts of running text are contiguous, so that they differ as texts do; parts of a list have every n-th word.
    """
    if is_list(sentences):
        words = [[pair] for sentence in sentences for pair in sentence]
        return [words[i::n] for i in range(n)]
    size, at = sum(map(len, sentences)), 0
    ends = [(i + 1) * size // n for i in range(n)]
    parts: list[Sentences] = [[] for _ in ends]
    part = 0
    for sentence in sentences:
        rest = list(sentence)
        while rest:
            while at >= ends[part]:
                part += 1
            piece, rest = rest[: ends[part] - at], rest[ends[part] - at :]
            parts[part].append(piece)
            at += len(piece)
    return parts
