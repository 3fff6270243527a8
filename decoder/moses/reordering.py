"""Import of Moses' text reordering tables (LexicalReorderingTable.cpp; Koehn et al. 2007) beside a phrase table."""

from array import array
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.array_file import new_array_file
from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.base.files import read_lines
from phrasebeam.base.progress import stage
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.moses.reordering_type import columns_read
from phrasebeam.decoder.moses.tables import SEPARATOR
from phrasebeam.decoder.tables.model_files import REORDERING
from phrasebeam.decoder.tables.phrase_table import ABSENT, PhraseTable, find_source, floored_ln, open_phrase_table
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.lm.text.corpus import split
from phrasebeam.lm.text.vocabulary import Vocabulary

LINES_AT_ONCE = 1 << 16
FIELDS = {
    "f": "2: source ||| probabilities (a table of type f)",
    "fe": "3: source ||| target ||| probabilities (a table of type fe)",
}


class _Lines(NamedTuple):
    """K lines of a reordering table; line k has the phrases 2 k (source) and 2 k + 1 (target), with type f phrase k."""

    words: np.ndarray  # int32[...], ids, -1 where the phrase table does not have the word
    offsets: np.ndarray  # int64[2 * K + 1] or int64[K + 1], into words
    scores: np.ndarray  # float64[K, columns], probabilities


def read_reordering_table(
    path: Path,
    model: Reordering,
    phrases: Path,
    vocabularies: tuple[Vocabulary, Vocabulary],
    directory: Path,
    repeated: np.ndarray,
) -> int:
    """Write the text reordering table `path` to `directory`, aligned to the phrase table in the directory `phrases`.

    Pairs that it lacks get the default of `model`, or ln 1 = 0, as Moses scores them; returns their number. Of several
    lines for the same phrases the last counts, as in Moses. `vocabularies` (source, target) are those of the phrase
    table, `repeated` are pairs in it as PhraseTableReader has them. Raises FormatError, naming the line.
    """
    directory.mkdir()
    table = open_phrase_table(phrases)
    n_pairs = len(table.ln_scores)
    sizes = {"P": n_pairs, "C": model.n_columns}
    ln_scores, _ = (
        new_array_file(directory / f"{name}.npy", field.dtype, field.lengths(sizes)) for name, field, *_ in REORDERING
    )
    ln_scores[:] = model.ln_default or 0
    is_known = new_array_file(directory / "known.npy", np.dtype(bool), (n_pairs,))
    cursor, columns = np.int64(0), columns_read(model)
    with stage("reading the reordering table"):
        for lines in _read_lines(path, model, vocabularies):
            numbers = np.empty(len(lines.scores), np.int64)  # of source phrases or pairs
            if model.condition == "f":
                find_sources(table, lines.words, lines.offsets, numbers)
                rows, pairs = all_pairs(table, numbers)
            else:
                cursor = _find_pairs(table, lines.words, lines.offsets, cursor, numbers)
                rows = np.flatnonzero(numbers != ABSENT)
                pairs = _first_pairs(numbers[rows], repeated)
            is_known[pairs] = True
            ln_scores[pairs] = floored_ln(lines.scores[:, columns])[rows]
    for column in (is_known, ln_scores):
        column[repeated[:, 0]] = column[repeated[:, 1]]
    n_known = int(np.count_nonzero(is_known))
    (directory / "known.npy").unlink()
    return n_pairs - n_known


def _first_pairs(pairs: np.ndarray, repeated: np.ndarray) -> np.ndarray:
    """`pairs` (int64[R]), with the first pair of the same phrases in place of each of `repeated`."""
    found = np.append(repeated, [[ABSENT, ABSENT]], axis=0)[np.searchsorted(repeated[:, 0], pairs)]
    return np.where(found[:, 0] == pairs, found[:, 1], pairs)


def all_pairs(table: PhraseTable, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int64[R] rows of `sources` (int64[K], or ABSENT) and int64[R] pairs: all pairs of each row's source phrase."""
    rows = np.flatnonzero(sources != ABSENT)
    first, end = table.pair_offsets[sources[rows]], table.pair_offsets[sources[rows] + 1]
    sizes = end - first
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.repeat(rows, sizes), np.repeat(first, sizes) + within


def _read_lines(path: Path, model: Reordering, vocabularies: tuple[Vocabulary, Vocabulary]) -> Iterator[_Lines]:
    lines, number, expected = read_lines(path), 0, FIELDS[model.condition]
    while piece := list(islice(lines, LINES_AT_ONCE)):
        words, ends, scores = array("i"), array("q", [0]), array("d")
        for line in piece:
            number += 1
            *phrases, probabilities = line.split(SEPARATOR)
            if len(phrases) != len(model.condition):  # "f" or "fe", a letter for each phrase
                raise FormatError(path, f"{len(phrases) + 1} fields, expected {expected}", number)
            for field, vocabulary in zip(phrases, vocabularies):
                words.extend([vocabulary.index.get(word, -1) for word in split(field)])
                ends.append(len(words))
            scores.extend(_probabilities(probabilities, model.n_columns, path, number))
        table = np.array(scores).reshape(-1, model.n_columns)
        yield _Lines(np.array(words, np.int32), np.array(ends, np.int64), table)


def _probabilities(text: str, n_columns: int, path: Path, number: int) -> list[float]:
    try:
        probabilities = [float(field) for field in text.split()]
    except ValueError:
        raise FormatError(path, f"probabilities {excerpt(text.strip())}, expected numbers", number) from None
    if len(probabilities) != n_columns:
        message = f"{len(probabilities)} probabilities, expected {n_columns} for its type in moses.ini"
        raise FormatError(path, message, number)
    if not all(0 <= probability < np.inf for probability in probabilities):
        raise FormatError(path, f"probabilities {excerpt(text.strip())}, expected numbers not below 0", number)
    return probabilities


@kernel
def _find_pairs(table, words, offsets, cursor, pairs):
    """Fill `pairs` (int64[K]) with the pair of each line's phrases, or ABSENT; for words and offsets see _Lines.

    A search begins at `cursor`, behind the pair found last: tables of one model have one order. Returns the cursor.
    """
    for k in range(pairs.size):
        pairs[k] = ABSENT
        source = find_source(table, words, offsets[2 * k], offsets[2 * k + 1])
        if source == ABSENT:
            continue
        first, last = table.pair_offsets[source], table.pair_offsets[source + 1]
        pair = cursor if first <= cursor < last else first
        for _ in range(last - first):
            if _has_target(table, pair, words, offsets[2 * k + 1], offsets[2 * k + 2]):
                pairs[k] = pair
                cursor = pair + 1
                break
            pair = pair + 1 if pair + 1 < last else first
    return cursor


@kernel
def find_sources(table, words, offsets, sources):
    """Fill `sources` (int64[K]) with the number in `table` (PhraseTable) of each phrase, or ABSENT.

    Phrase k is words[offsets[k]:offsets[k + 1]], of `words` (int32[...]) and `offsets` (int64[K + 1]).
    """
    for k in range(sources.size):
        sources[k] = find_source(table, words, offsets[k], offsets[k + 1])


@inner_kernel
def _has_target(table, pair, words, begin, end):
    first = table.target_offsets[pair]
    if table.target_offsets[pair + 1] - first != end - begin:
        return False
    for i in range(end - begin):
        if table.target_words[first + i] != words[begin + i]:
            return False
    return True
