"""Names of Moses' sparse features: files of their weights, and which of our features of words they are."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.sparse.phrase_hashes import NO_PART, fill_part_keys
from phrasebeam.decoder.sparse.sparse_features import word_hashes
from phrasebeam.decoder.sparse.templates import GROUP_HASHES, GROUPS

COMMENT = "#"  # as in Moses' FVector::load
LENGTHS = re.compile(r"s(\d{1,3})|t(\d{1,3})|(\d{1,3}),(\d{1,3})", re.ASCII)


def read_weight_file(path: Path, is_known: Callable[[str], bool]) -> dict[str, float]:
    """Weights by name, from lines 'NAME WEIGHT'. Raises FormatError for other lines and names that are not known."""
    weights = {}
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split()
        if not fields or line.startswith(COMMENT):
            continue
        weight = _number(fields[-1])
        if len(fields) != 2 or not math.isfinite(weight):
            raise FormatError(path, f"{excerpt(line)}, expected 'NAME WEIGHT'", number)
        if not is_known(fields[0]):
            message = "of no feature in moses.ini that has sparse features here: those of phrase tables and of words"
            raise FormatError(path, f"{excerpt(fields[0])}: {message}; remove it, and tune again", number)
        weights[fields[0]] = weight
    return weights


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def word_features(group: str, texts: Sequence[str]) -> tuple[list[int], np.ndarray]:
    """For K features of a group of WORD_GROUPS: which of `texts`, Moses' names without a prefix, each is; and its key.

    A text may be several features, where it is not clear between which words ~ stands: Moses has one weight for them
    all. One that Moses never makes is none. The keys are uint64[K].
    """
    parts = [(i, *part) for i, text in enumerate(texts) for part in _parts(group, text)]
    of_text, firsts, seconds = map(list, zip(*parts)) if parts else ([], [], [])
    first, second = _numbers(group, firsts), _numbers(group, seconds)
    keys = np.empty(len(parts), np.uint64)
    fill_part_keys(GROUP_HASHES[GROUPS.index(group)], first, second, keys)
    return of_text, keys


def _parts(group: str, text: str) -> Iterator[tuple[str | None, str | None]]:
    """The two parts of each feature that Moses calls so, None for no part."""
    if group == "phrase_lengths":
        if match := LENGTHS.fullmatch(text):
            yield match[1] or match[3], match[2] or match[4]
    elif group == "word_pairs":
        yield from ((text[:i], text[i + 1 :]) for i in range(1, len(text) - 1) if text[i] == "~")
    else:
        yield text, None


def _numbers(group: str, parts: Sequence[str | None]) -> np.ndarray:
    """int64[K] numbers of `parts` as parts_hash takes them."""
    if group == "phrase_lengths":
        return np.array([NO_PART if part is None else int(part) for part in parts], np.int64)
    hashes = word_hashes([part or "" for part in parts]).view(np.int64)
    return np.where([part is None for part in parts], NO_PART, hashes) if parts else hashes
