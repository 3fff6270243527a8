"""The phrase table: phrase pairs with scores, alignments and counts as memory-mapped arrays, found by a hash table.

Source phrases are found by hash (open addressing, linear probing) and compared word by word, so that lookups are
exact. The pairs of one source phrase are neighbours.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError, ModelError
from phrasebeam.base.resident_memory import let_release
from phrasebeam.kernels.hashing import START, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.kernels.words import same_words

LONGEST_PHRASE = 255  # words that a phrase can have: alignment points are bytes

DAMAGED = -2  # from `find_source`
ABSENT = -1  # in `slots`: an empty slot; from `find_source`: no such phrase
MOSES_SCORES = 4
SOURCE_GIVEN_TARGET, TARGET_GIVEN_SOURCE = 0, 2  # columns of ln_scores
LEAST_LN = -100.0  # where Moses floors ln p
LONGEST_AT_ONCE = 1 << 20  # offsets that `longest` reads at once
LAYOUT = {  # dtype and number of dimensions of every file
    "slots": (np.int64, 1),
    "source_offsets": (np.int64, 1),
    "source_words": (np.int32, 1),
    "pair_offsets": (np.int64, 1),
    "target_offsets": (np.int64, 1),
    "target_words": (np.int32, 1),
    "ln_scores": (np.float32, 2),
    "alignment_offsets": (np.int64, 1),
    "alignment_points": (np.uint8, 2),
    "joint_counts": (np.int32, 1),
    "source_counts": (np.int32, 1),
    "target_counts": (np.int32, 1),
    "counts": (np.int32, 2),
}


class PhraseTable(NamedTuple):
    """N source phrases, P phrase pairs; word ids are the model's source and target vocabularies'."""

    slots: np.ndarray  # int64[S], source phrase or ABSENT; S a power of two, at most half full
    source_offsets: np.ndarray  # int64[N + 1], into source_words
    source_words: np.ndarray  # int32[...]
    pair_offsets: np.ndarray  # int64[N + 1], pairs of source phrase i are pair_offsets[i]:pair_offsets[i + 1]
    target_offsets: np.ndarray  # int64[P + 1], into target_words
    target_words: np.ndarray  # int32[...]
    ln_scores: np.ndarray  # float32[P, K], Moses' order: ln p(f|e), ln lex(f|e), ln p(e|f), ln lex(e|f), others
    alignment_offsets: np.ndarray  # int64[P + 1], into alignment_points
    alignment_points: np.ndarray  # uint8[..., 2], (source, target) positions inside the phrases
    joint_counts: np.ndarray  # int32[P], c(f, e)
    source_counts: np.ndarray  # int32[N], c(f)
    target_counts: np.ndarray  # int32[P], c(e)


class ReorderingTable(NamedTuple):
    """Lexicalized reordering, aligned with the phrase pairs; backward (to the phrase before) columns come first.

    Columns of a direction: msd: M S D; mslr: M S DL DR; monotonicity: M and not M; leftright: R L.
    """

    ln_scores: np.ndarray  # float32[P, C]
    counts: np.ndarray  # int32[P, 8], how often the pair was seen as M S DL DR, backward then forward


@kernel
def phrase_hash(words, begin, end):
    """uint64 hash of words[begin:end], of `words` (int32[n])."""
    h = START
    for i in range(begin, end):
        h = combine(h, np.int64(words[i]))
    return mix(h)


@kernel
def find_source(table: PhraseTable, words, begin, end):
    """Number (int64) of the source phrase words[begin:end] in `table`, or ABSENT; `words` is int32[n].

    DAMAGED if a slot or an offset of a damaged file leads out of the arrays, or if no slot is empty; BoundsChecks looks
    up the phrases of every sentence first and reports it.
    """
    slot = first_slot(phrase_hash(words, begin, end), table.slots.size)
    for _ in range(table.slots.size):
        source = table.slots[slot]
        if source == ABSENT:
            return source
        if source < 0 or source >= table.source_offsets.size - 1:
            return np.int64(DAMAGED)
        first, last = table.source_offsets[source], table.source_offsets[source + 1]
        if first < 0 or last < first or last > table.source_words.size:
            return np.int64(DAMAGED)
        if _same_phrase(table, source, words, begin, end):
            return source
        slot = next_slot(slot, table.slots.size)
    return np.int64(DAMAGED)


@inner_kernel
def _same_phrase(table, source, words, begin, end):
    first = table.source_offsets[source]
    if table.source_offsets[source + 1] - first != end - begin:
        return False
    return same_words(table.source_words, first, words, begin, end - begin)


def n_slots(n_sources: int) -> int:
    """Slots of a hash table of `n_sources` phrases: a power of two, at most half of them used."""
    size = 2
    while size < 2 * (n_sources + 1):
        size *= 2
    return size


def longest(offsets: np.ndarray) -> int:
    """The largest difference of neighbouring `offsets` (int64[N + 1]), at least 0; read in pieces to save memory."""
    pieces = (offsets[i : i + LONGEST_AT_ONCE + 1] for i in range(0, offsets.size, LONGEST_AT_ONCE))
    return max(int(np.diff(piece).max(initial=0)) for piece in pieces)


def floored_ln(probabilities: np.ndarray) -> np.ndarray:
    """float32 ln of `probabilities` (float64), at least LEAST_LN."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(probabilities), LEAST_LN).astype(np.float32)


def save_arrays(arrays: NamedTuple, directory: str | Path) -> None:
    """Write each field of a NamedTuple of arrays to a file FIELD.npy in `directory`, which is made."""
    Path(directory).mkdir(parents=True, exist_ok=True)
    for name, array in arrays._asdict().items():
        np.save(Path(directory) / f"{name}.npy", array)


def open_phrase_table(directory: str | Path) -> PhraseTable:
    """Map a phrase table from `directory`. Raises ModelError or FormatError where it is damaged."""
    table = PhraseTable(**_map_arrays(Path(directory), PhraseTable._fields))
    pairs, sources = table.target_offsets.size - 1, table.source_offsets.size - 1
    lengths = {
        "slots": n_slots(sources),
        "pair_offsets": sources + 1,
        "source_counts": sources,
        "ln_scores": pairs,
        "alignment_offsets": pairs + 1,
        "joint_counts": pairs,
        "target_counts": pairs,
        "source_words": table.source_offsets[-1],
        "target_words": table.target_offsets[-1],
        "alignment_points": table.alignment_offsets[-1],
    }
    for name, length in lengths.items():
        n_rows = len(getattr(table, name))
        if n_rows != length:
            raise FormatError(Path(directory) / f"{name}.npy", f"{n_rows} rows, expected {length}; {TRAIN_AGAIN}")
    return table


def open_reordering_table(directory: str | Path, n_pairs: int) -> ReorderingTable:
    """Map the reordering table of `n_pairs` phrase pairs from `directory`. Raises ModelError or FormatError."""
    table = ReorderingTable(**_map_arrays(Path(directory), ReorderingTable._fields))
    for name, array in table._asdict().items():
        if len(array) != n_pairs:
            message = f"{len(array)} rows for {n_pairs} phrase pairs; {TRAIN_AGAIN}"
            raise FormatError(Path(directory) / f"{name}.npy", message)
    return table


TRAIN_AGAIN = "train the model again or copy it whole"


def _map_arrays(directory: Path, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The arrays `names` in `directory`, whose dtypes and dimensions are checked against LAYOUT."""
    arrays = {}
    for name in names:
        path = directory / f"{name}.npy"
        arrays[name] = array = map_array(path)
        dtype, n_dimensions = LAYOUT[name]
        is_valid = (array.dtype, array.ndim) == (dtype, n_dimensions) and array.flags.c_contiguous
        if not is_valid or (name.endswith("_offsets") and not array.size):
            message = f"{array.dtype} of shape {array.shape}, expected {np.dtype(dtype)} in {n_dimensions} dimensions"
            raise FormatError(path, f"{message}; {TRAIN_AGAIN}")
    return arrays


def map_array(path: Path) -> np.ndarray:
    """The array of an .npy file, memory-mapped copy-on-write (so that kernels see ordinary arrays).

    Raises ModelError where the file is missing, FormatError where it is damaged.
    """
    try:
        with open(path, "rb") as file:
            if file.read(len(np.lib.format.MAGIC_PREFIX)) != np.lib.format.MAGIC_PREFIX:
                raise ValueError("another kind of file, or an empty one")
        array: np.ndarray = np.load(path, mmap_mode="c", allow_pickle=False)
        if isinstance(array, np.memmap) and array.offset + array.nbytes < path.stat().st_size:
            raise ValueError("more bytes than its header announces")
    except FileNotFoundError:
        raise ModelError(f"{path}: missing; {TRAIN_AGAIN}") from None
    except (ValueError, EOFError) as error:
        raise FormatError(path, f"not a whole .npy array ({error}); {TRAIN_AGAIN}") from None
    return let_release(np.asarray(array))
