"""The phrase table: phrase pairs with scores, alignments and counts as memory-mapped arrays, found by a hash table.

Source phrases are found by hash (open addressing, linear probing) and compared word by word, so lookups are exact. The
pairs of one source phrase are adjacent.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError
from phrasebeam.decoder.tables.model_files import REORDERING, TRAIN_AGAIN, open_arrays, phrase_files
from phrasebeam.kernels.hashing import START, combine, first_slot, mix, n_slots, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.kernels.words import same_words

LONGEST_PHRASE = 255  # words of a phrase at most: alignment points are bytes

DAMAGED = -2  # result of `find_source`
ABSENT = -1  # in `slots`: an empty slot; from `find_source`: no such phrase
MOSES_SCORES = 4
SOURCE_GIVEN_TARGET, TARGET_GIVEN_SOURCE = 0, 2  # columns of ln_scores
LEAST_LN = -100.0  # Moses' lower bound of ln p
LONGEST_AT_ONCE = 1 << 20  # offsets that `longest` reads at a time
NO_CODES, NO_CODEBOOK = np.zeros((0, 0), np.uint8), np.zeros((0, 0), np.float32)


class PhraseTable(NamedTuple):
    """N source phrases, P phrase pairs; word ids are the model's source and target vocabularies'."""

    slots: np.ndarray  # int64[S], source phrase or ABSENT; S a power of two, at most half full
    source_offsets: np.ndarray  # int64[N + 1], into source_words
    source_words: np.ndarray  # int32[...]
    pair_offsets: np.ndarray  # int64[N + 1], pairs of source phrase i are pair_offsets[i]:pair_offsets[i + 1]
    target_offsets: np.ndarray  # int64[P + 1], into target_words
    target_words: np.ndarray  # int32[...]
    # float32[P, K], Moses' order: ln p(f|e), ln lex(f|e), ln p(e|f), ln lex(e|f), others; [0, K] if there are codes
    ln_scores: np.ndarray
    alignment_offsets: np.ndarray  # int64[P + 1], into alignment_points
    alignment_points: np.ndarray  # uint8[..., 2], (source, target) positions inside the phrases
    joint_counts: np.ndarray  # int32[P], c(f, e)
    source_counts: np.ndarray  # int32[N], c(f)
    target_counts: np.ndarray  # int32[P], c(e)
    score_codes: np.ndarray = NO_CODES  # uint8[P, K], rows of the codebook; [0, 0] if there are ln_scores
    codebook: np.ndarray = NO_CODEBOOK  # float32[N_CODES, K], scores; [0, 0] if there are ln_scores

    @property
    def n_pairs(self) -> int:
        return int(self.joint_counts.size)

    def scores_of(self, rows: int | slice | np.ndarray) -> np.ndarray:
        """float32[..., K], the scores of pairs."""
        if not self.score_codes.size:
            return np.asarray(self.ln_scores[rows])
        return np.asarray(self.codebook[self.score_codes[rows], np.arange(self.codebook.shape[1])])


class ReorderingTable(NamedTuple):
    """Lexicalized reordering, aligned with the phrase pairs; backward columns (to the preceding phrase) come first.

    Columns of a direction: msd: M S D; mslr: M S DL DR; monotonicity: M and not M; leftright: R L.
    """

    ln_scores: np.ndarray  # float32[P, C]
    counts: np.ndarray  # int32[P, 8], how often the pair was seen as M S DL DR, backward then forward


@inlined_kernel
def ln_score(table: PhraseTable, pair, column):
    """float32, the score of a pair (int64) in a column (int64)."""
    if table.score_codes.shape[0] > 0:
        return table.codebook[np.int64(table.score_codes[pair, column]), column]
    return table.ln_scores[pair, column]


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

    DAMAGED if a slot or an offset of a damaged file points outside the arrays, or if no slot is empty; BoundsChecks
    looks up the phrases of every sentence first and reports this.
    """
    return find_from(table, first_slot(phrase_hash(words, begin, end), table.slots.size), words, begin, end)


@inner_kernel
def find_from(table: PhraseTable, slot, words, begin, end):
    """The result of find_source for words[begin:end] (int32[n], int64), whose home `slot` (int64) is known."""
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


def longest(offsets: np.ndarray) -> int:
    """The largest difference of consecutive `offsets` (int64[N + 1]), at least 0; read in pieces to save memory."""
    pieces = (offsets[i : i + LONGEST_AT_ONCE + 1] for i in range(0, offsets.size, LONGEST_AT_ONCE))
    return max(int(np.diff(piece).max(initial=0)) for piece in pieces)


def floored_ln(probabilities: np.ndarray) -> np.ndarray:
    """float32 ln of `probabilities` (float64), at least LEAST_LN."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(probabilities), LEAST_LN).astype(np.float32)


def open_phrase_table(directory: str | Path) -> PhraseTable:
    """Map a phrase table from `directory`. Raises ModelError or FormatError if it is damaged."""
    counts = dict[str, int]()
    arrays = open_arrays(Path(directory), phrase_files(Path(directory)), counts)
    table = PhraseTable(**{"ln_scores": np.zeros((0, counts["K"]), np.float32)} | arrays)
    if counts["S"] != n_slots(counts["N"]):
        message = f"{counts['S']} slots, expected {n_slots(counts['N'])} for {counts['N']} source phrases"
        raise FormatError(Path(directory) / "slots.npy", f"{message}; {TRAIN_AGAIN}")
    return table


def open_reordering_table(directory: str | Path, n_pairs: int) -> ReorderingTable:
    """Map the reordering table of `n_pairs` phrase pairs from `directory`. Raises ModelError or FormatError."""
    return ReorderingTable(**open_arrays(Path(directory), REORDERING, {"P": n_pairs}))
