"""Types of Moses' reordering models, such as wbe-msd-bidirectional-fe, and import of their text tables.

Moses' LRModel.cpp and LexicalReorderingTable.cpp; Koehn et al. 2007.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from phrasebeam.base.array_file import new_array_file
from phrasebeam.base.progress import stage
from phrasebeam.decoder.features.reordering_type import N_ORIENTATIONS, Reordering
from phrasebeam.decoder.moses.reordering_lines import read_reordering_lines
from phrasebeam.decoder.tables.model_files import REORDERING
from phrasebeam.decoder.tables.phrase_table import ABSENT, PhraseTable, find_source, floored_ln, open_phrase_table
from phrasebeam.decoder.tables.ragged import taken
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.lm.text.text_vocabulary import TextVocabulary

# For each setting of Reordering, its values by Moses' words; of several words for a value, the first is written.
TOKENS: dict[str, dict[str, object]] = {
    "orientation": {"wbe": "word", "phrase": "phrase", "hier": "hier"},
    "kind": {"msd": "msd", "mslr": "mslr", "monotonicity": "monotonicity", "leftright": "leftright"},
    "direction": {
        "bidirectional": "bidirectional",
        "backward": "backward",
        "forward": "forward",
        "unidirectional": "backward",
    },
    "condition": {"fe": "fe", "f": "f"},
    "collapse": {"allff": False, "collapseff": True},
}
DEFAULTS = {"orientation": "word", "direction": "backward", "collapse": False}
EXPECTED = "expected a type such as wbe-msd-bidirectional-fe"


def read_type(text: str, default_scores: str | None) -> Reordering:
    """The model of type=`text` and default-scores=, probabilities separated by commas. Raises ValueError."""
    settings: dict[str, object] = {}
    for token in text.split("-"):
        (setting,) = [name for name, tokens in TOKENS.items() if token in tokens] or [""]
        if not setting:
            raise ValueError(f"the decoder does not have {token}; {EXPECTED}")
        if setting in settings:
            raise ValueError(f"{token} is the second of {', '.join(TOKENS[setting])}; {EXPECTED}")
        settings[setting] = TOKENS[setting][token]
    for setting in TOKENS.keys() - DEFAULTS.keys() - settings.keys():
        raise ValueError(f"none of {', '.join(TOKENS[setting])}; {EXPECTED}")
    model = Reordering.model_validate(DEFAULTS | settings)
    return model if default_scores is None else _with_default(model, default_scores)


def _with_default(model: Reordering, default_scores: str) -> Reordering:
    try:
        probabilities = [float(field) for field in default_scores.split(",")]
    except ValueError:
        probabilities = []
    if len(probabilities) != model.n_columns or not all(0 <= p < np.inf for p in probabilities):
        message = f"default-scores={default_scores}, expected {model.n_columns} numbers not below 0, set off by commas"
        raise ValueError(message)
    if model.collapse:
        raise ValueError("default-scores with collapseff, which Moses cannot add up; remove one of them")
    return model.model_copy(update={"ln_default": floored_ln(np.array(probabilities)).tolist()})


def columns_read(model: Reordering) -> list[int]:
    """For each column of `model`, the column of the text table from which Moses reads it.

    With collapseff, Moses reads forward scores right after the one backward feature, not after all backward columns
    (LRState::CopyScores, in Moses and Moses2). Such models were tuned in this way, and we read the same.
    """
    n = N_ORIENTATIONS[model.kind]
    if model.collapse and model.direction == "bidirectional":
        return [*range(n), *range(1, 1 + n)]
    return list(range(model.n_columns))


def write_type(model: Reordering) -> str:
    settings = model.model_dump()
    return "-".join(
        next(token for token, value in tokens.items() if value == settings[name]) for name, tokens in TOKENS.items()
    )


def read_reordering_tables(
    tables: Sequence[tuple[Path, Reordering]],
    phrases: Path,
    vocabularies: tuple[TextVocabulary, TextVocabulary],
    directory: Path,
    repeated: np.ndarray,
) -> list[int]:
    """Write text reordering tables to `directory`, aligned to the phrase table in the directory `phrases`.

    Columns of several tables are put side by side. Pairs that a table lacks get the default of its model, or ln 1 = 0,
    as Moses scores them; the result is their number for each table. Of several lines for the same phrases the last
    counts, as in Moses. `vocabularies` (source, target) are those of the phrase table, `repeated` are pairs in it as in
    PhraseTableReader. Raises FormatError, naming the line.
    """
    directory.mkdir()
    table = open_phrase_table(phrases)
    sizes = {"P": table.n_pairs, "C": sum(model.n_columns for _, model in tables)}
    ln_scores, _ = (
        new_array_file(directory / f"{name}.npy", field.dtype, field.lengths(sizes)) for name, field, *_ in REORDERING
    )
    missing, first, known = [], 0, directory / "known.npy"
    for path, model in tables:
        columns = ln_scores[:, first : first + model.n_columns]
        missing.append(_read_table(path, model, table, vocabularies, columns, repeated, known))
        first += model.n_columns
    return missing


def _read_table(
    path: Path,
    model: Reordering,
    table: PhraseTable,
    vocabularies: tuple[TextVocabulary, TextVocabulary],
    ln_scores: np.ndarray,
    repeated: np.ndarray,
    known: Path,
) -> int:
    """Fill `ln_scores` (float32[P, C]) from one table; return how many pairs it lacks. `known`: a temporary file."""
    ln_scores[:] = model.ln_default or 0
    is_known = new_array_file(known, np.dtype(bool), (len(ln_scores),))
    cursor, columns = np.int64(0), columns_read(model)
    with stage("reading the reordering table"):
        for lines in read_reordering_lines(path, model, vocabularies):
            scores = lines.scores.reshape(-1, model.n_columns)
            numbers = np.empty(len(scores), np.int64)  # numbers of source phrases or pairs
            if model.condition == "f":
                find_sources(table, lines.words, lines.offsets, numbers)
                rows, pairs = all_pairs(table, numbers)
            else:
                cursor = _find_pairs(table, lines.words, lines.offsets, cursor, numbers)
                rows = np.flatnonzero(numbers != ABSENT)
                pairs = _first_pairs(numbers[rows], repeated)
            is_known[pairs] = True
            ln_scores[pairs] = floored_ln(scores[:, columns])[rows]
    for column in (is_known, ln_scores):
        column[repeated[:, 0]] = column[repeated[:, 1]]
    known.unlink()
    return len(is_known) - int(np.count_nonzero(is_known))


def _first_pairs(pairs: np.ndarray, repeated: np.ndarray) -> np.ndarray:
    """`pairs` (int64[R]), in which the first pair of the same phrases replaces each of `repeated`."""
    found = np.append(repeated, [[ABSENT, ABSENT]], axis=0)[np.searchsorted(repeated[:, 0], pairs)]
    return np.where(found[:, 0] == pairs, found[:, 1], pairs)


def all_pairs(table: PhraseTable, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int64[R] rows of `sources` (int64[K], or ABSENT) and int64[R] pairs: all pairs of each row's source phrase."""
    rows = np.flatnonzero(sources != ABSENT)
    ends, pairs = taken(table.pair_offsets, sources[rows])
    return np.repeat(rows, np.diff(ends)), pairs


@kernel
def _find_pairs(table, words, offsets, cursor, pairs):
    """Fill `pairs` (int64[K]) with the pair of each line's phrases, or ABSENT; words and offsets: see ReorderingLines.

    The search begins at `cursor`, after the pair found last: the tables of a model have the same order. Returns the
    cursor.
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
    """Fill `sources` (int64[K]) with the number of each phrase in `table` (PhraseTable), or ABSENT.

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
