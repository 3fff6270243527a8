"""Lines of Moses' text reordering tables: phrases as word ids, and probabilities."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.base.files import read_blocks
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.moses.table_lines import SEPARATOR
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.text.encoded_words import WordTable
from phrasebeam.lm.text.fields import find_words_in, line_at, line_end, read_numbers, split_fields
from phrasebeam.lm.text.text_vocabulary import TextVocabulary

FIELDS = {
    "f": "2: source ||| probabilities (a table of type f)",
    "fe": "3: source ||| target ||| probabilities (a table of type fe)",
}


class ReorderingLines(NamedTuple):
    """K lines of a reordering table; line k has phrases 2 k (source) and 2 k + 1 (target), for type f only phrase k."""

    words: np.ndarray  # int32[...], ids, -1 for words that the phrase table lacks
    offsets: np.ndarray  # int64[2 * K + 1] or int64[K + 1], into words
    scores: np.ndarray  # float64[K * columns], probabilities


@kernel
def _read_lines(text, place, source: WordTable, target: WordTable, lines: ReorderingLines, fields, n_columns):
    """Append the lines of `text` (uint8[n]) from place[0] on to `lines`, which has place[1] of them.

    `place` (int64[2]) is advanced; `fields` (int64[F + 2, 2]) has two rows more than a line has phrases. Returns
    whether all lines were read; if not, Python must handle the next one.
    """
    n_phrases = fields.shape[0] - 2
    while place[0] < text.size:
        end, line = line_end(text, place[0]), place[1]
        if split_fields(text, place[0], end, fields) != n_phrases + 1:
            return False
        for i in range(n_phrases):
            phrase = line * n_phrases + i
            first = lines.offsets[phrase]
            table = source if i == 0 else target
            n_words = find_words_in(table, text, fields[i, 0], fields[i, 1], lines.words, first)
            lines.offsets[phrase + 1] = first + n_words
        first = line * n_columns
        if read_numbers(text, fields[n_phrases, 0], fields[n_phrases, 1], lines.scores, first, n_columns) != n_columns:
            return False
        for i in range(first, first + n_columns):
            if not 0 <= lines.scores[i] < np.inf:
                return False
        place[0], place[1] = end, line + 1
    return True


def read_reordering_lines(
    path: Path, model: Reordering, vocabularies: tuple[TextVocabulary, TextVocabulary]
) -> Iterator[ReorderingLines]:
    """Yield the lines of a table of `model` in pieces. Raises FormatError, naming the line."""
    n_before, n_phrases = 0, len(model.condition)  # "f" or "fe", a letter for each phrase
    for block in read_blocks(path):
        n_lines = block.count(b"\n") + (not block.endswith(b"\n"))
        lines = ReorderingLines(
            words=np.empty(len(block) // 2 + 1, np.int32),
            offsets=np.zeros(n_lines * n_phrases + 1, np.int64),
            scores=np.empty(n_lines * model.n_columns),
        )
        _fill(lines, bytearray(block), vocabularies, (path, model, n_before))
        n_before += n_lines
        yield lines._replace(words=lines.words[: lines.offsets[-1]])


def _fill(
    lines: ReorderingLines,
    block: bytearray,
    vocabularies: tuple[TextVocabulary, TextVocabulary],
    of: tuple[Path, Reordering, int],
) -> None:
    """Read a block; `of`: the file, its model, and the number of lines before the block."""
    path, model, n_before = of
    source, target = (one.table for one in vocabularies)
    fields, n_columns = np.empty((len(model.condition) + 2, 2), np.int64), np.int64(model.n_columns)
    text, place = np.frombuffer(block, np.uint8), np.zeros(2, np.int64)
    while not _read_lines(text, place, source, target, lines, fields, n_columns):
        line = line_at(block, int(place[0]))
        plain = bytearray(_plain(line.decode("utf-8").rstrip("\r\n"), model, path, n_before + int(place[1]) + 1))
        of_plain = np.array([0, place[1]])
        _read_lines(np.frombuffer(plain, np.uint8), of_plain, source, target, lines, fields, n_columns)
        place[:] = place[0] + len(line), of_plain[1]


def _plain(line: str, model: Reordering, path: Path, number: int) -> bytes:
    """A line rewritten so that the kernel can read it. Raises FormatError."""
    *phrases, probabilities = line.split(SEPARATOR)
    if len(phrases) != len(model.condition):
        raise FormatError(path, f"{len(phrases) + 1} fields, expected {FIELDS[model.condition]}", number)
    numbers = _probabilities(probabilities, model.n_columns, path, number)
    return SEPARATOR.join([*phrases, " ".join(map(repr, numbers))]).encode("utf-8")


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
