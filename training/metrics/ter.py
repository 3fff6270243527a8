"""Translation edit rate (Snover et al. 2006): edits as sacrebleu and Tercom count them, by a kernel.

The edits of a hypothesis are edits of words (insertions, deletions, substitutions) and shifts of phrases; a shift
counts as one edit. Only phrases that the reference has, too, are shifted. Shifts are found greedily: the shift that
saves most edits of words is made, until no shift saves any.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from sacrebleu.metrics import TER

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel

LONGEST_SHIFT = 10  # words
FARTHEST_SHIFT = 50  # maximum number of words between the places of a phrase in hypothesis and reference
MOST_SHIFTS = 1000  # number of shifts tried for one sentence
BEAM = 25  # words on either side of the diagonal of the edit matrix
UNREACHED = 1 << 30  # value of cells beyond the beam


class Shifts(NamedTuple):
    """Work space for one hypothesis of H words and one reference of R words."""

    words: Annotated[np.ndarray, array(np.int32, "H")]  # of the hypothesis, after the shifts so far
    tried: Annotated[np.ndarray, array(np.int32, "H")]  # words after the shift that is being tried
    best: Annotated[np.ndarray, array(np.int32, "H")]  # words after the best shift so far
    edits: Annotated[np.ndarray, array(np.int32, "H + 1", "R + 1")]  # of the first h words into the first r words
    rows: Annotated[np.ndarray, array(np.int32, 2, "R + 1")]  # the last two rows of this matrix for `tried`
    aligned: Annotated[np.ndarray, array(np.int64, "R")]  # hypothesis word of each reference word; -1: before the first
    wrong: Annotated[np.ndarray, array(np.int64, "H + 1")]  # number of words without a match before each position
    missed: Annotated[np.ndarray, array(np.int64, "R + 1")]  # the same for the reference


class EditRate(TER):
    """sacrebleu's TER, but a kernel counts the edits: same numbers and signature, about ninety times faster."""

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: Mapping[str, Any]) -> list[float]:
        """[edits against the closest reference, mean length of the references]."""
        references: Sequence[Sequence[str]] = ref_kwargs["ref_words"]
        ids: dict[str, int] = {}
        words, *others = (
            np.array([ids.setdefault(word, len(ids)) for word in text], np.int32)
            for text in (hypothesis.split(), *references)
        )
        return [min(edits_of(words, other) for other in others), sum(map(len, references)) / len(references)]


def edits_of(hypothesis: np.ndarray, reference: np.ndarray) -> int:
    """Number of shifts and edits of words that turn a hypothesis (int32[H]) into a reference (int32[R])."""
    if reference.size == 0:
        return int(hypothesis.size)
    shifts = allocate(Shifts, {"H": hypothesis.size, "R": reference.size}, words=hypothesis.copy())
    return int(count_edits(reference, shifts))


@kernel
def count_edits(reference, shifts: Shifts):
    """Number of shifts and edits (int64) that turn shifts.words into `reference` (int32[R], R > 0)."""
    n_words, n_made, n_tried = shifts.words.size, np.int64(0), np.int64(0)
    while True:
        for j in range(reference.size + 1):
            shifts.edits[0, j] = j
        for i in range(n_words):
            fill_row(shifts.words, i, reference, shifts.edits[i], shifts.edits[i + 1])
        align(reference, shifts)
        saved, n_tried = best_shift(reference, shifts, n_tried)
        if saved <= 0 or n_tried >= MOST_SHIFTS:
            return n_made + shifts.edits[n_words, reference.size]
        n_made += 1
        for i in range(n_words):
            shifts.words[i] = shifts.best[i]


@inlined_kernel
def fill_row(words, i, reference, before, row):
    """Fill row[j] (int32[R + 1]) with the number of edits that turn words[:i + 1] (int32[H]) into reference[:j].

    `before` (int32[R + 1]) is the row of words[:i]. Cells beyond the beam, which follows the diagonal, are UNREACHED.
    """
    ratio = reference.size / words.size
    width = BEAM if ratio / 2 <= BEAM else int(np.ceil(ratio / 2 + BEAM))
    diagonal = int(np.floor((i + 1) * ratio))
    end = reference.size + 1
    if i + 1 < words.size:
        end = min(end, diagonal + width)
    row[:] = UNREACHED
    for j in range(max(0, diagonal - width), end):
        row[j] = min(row[j], before[j] + 1)
        if j > 0:
            row[j] = min(row[j], before[j - 1] + (words[i] != reference[j - 1]), row[j - 1] + 1)


@inner_kernel
def align(reference, shifts: Shifts):
    """Fill shifts.aligned, wrong and missed: trace the edits into `reference` (int32[R]) back from the last words.

    Of operations with the same cost, matches and substitutions are preferred, then the deletion of a hypothesis word.
    """
    i, j, edits = shifts.words.size, reference.size, shifts.edits
    shifts.wrong[:], shifts.missed[:] = 0, 0
    while i > 0 or j > 0:
        is_pair = False
        if i > 0 and j > 0:
            differ = shifts.words[i - 1] != reference[j - 1]
            is_pair = edits[i, j] == edits[i - 1, j - 1] + differ
        if is_pair:
            i, j = i - 1, j - 1
            shifts.wrong[i + 1], shifts.missed[j + 1] = differ, differ
            shifts.aligned[j] = i
        elif i > 0 and edits[i, j] == edits[i - 1, j] + 1:
            i -= 1
            shifts.wrong[i + 1] = 1
        else:
            j -= 1
            shifts.missed[j + 1] = 1
            shifts.aligned[j] = i - 1
    for errors in (shifts.wrong, shifts.missed):
        for k in range(1, errors.size):
            errors[k] += errors[k - 1]


@inner_kernel
def best_shift(reference, shifts: Shifts, n_tried):
    """Number of edits saved by the best shift, and number of shifts tried so far (int64); shifts.best is the result.

    A phrase that is also in the reference is shifted if both occurrences have a word without a match. Of shifts that
    save the same, the longest is best, then the one with the earliest start, then with the earliest target. `n_tried`
    (int64): number of shifts tried before.
    """
    words = shifts.words
    best = (np.int64(-UNREACHED), np.int64(0), np.int64(0), np.int64(0))
    for start in range(words.size):
        for place in range(max(0, start - FARTHEST_SHIFT), min(reference.size, start + FARTHEST_SHIFT + 1)):
            longest = min(words.size - start, reference.size - place, LONGEST_SHIFT)
            for length in range(1, longest + 1):
                if words[start + length - 1] != reference[place + length - 1]:
                    break
                is_wrong = shifts.wrong[start + length] > shifts.wrong[start]
                is_missed = shifts.missed[place + length] > shifts.missed[place]
                if is_wrong and is_missed and not start <= shifts.aligned[place] < start + length:
                    best, n_tried = try_targets(reference, shifts, start, place, length, best, n_tried)
                    if n_tried >= MOST_SHIFTS:
                        return best[0], n_tried
    return max(best[0], 0), n_tried


@inner_kernel
def try_targets(reference, shifts: Shifts, start, place, length, best, n_tried):
    """Try shifts of words[start:start + length] to the place of reference[place:place + length]; return the best one.

    Targets are the positions behind the word that is aligned with the reference word before `place`, and behind the
    words that are aligned with the phrase in the reference. `best`, the best shift before, is (edits saved, length,
    -start, -target), with its result in shifts.best; `n_tried`: number of shifts tried before. All are int64. Returns
    both.
    """
    before = -1
    now = shifts.edits[shifts.words.size, reference.size]
    for j in range(place - 1, place + length):
        target = shifts.aligned[j] + 1 if j >= 0 else 0
        if target != before:
            move(shifts.words, start, length, target, shifts.tried)
            saved = now - edits_from(min(start, target), reference, shifts)
            found = (np.int64(saved), np.int64(length), np.int64(-start), np.int64(-target))
            n_tried += 1
            if found > best:
                best = found
                for i in range(shifts.tried.size):
                    shifts.best[i] = shifts.tried[i]
        before = target
    return best, n_tried


@inlined_kernel
def move(words, start, length, target, moved):
    """Fill `moved` (int32[H]) with `words` (int32[H]) after words[start:start + length] moved to `target` (all int64).

    A target inside the phrase, or directly behind it, moves the phrase behind target - start of the words that follow.
    """
    end = start + length
    if target < start:
        first, middle, last = target, start, end
    elif target > end:
        first, middle, last = start, end, target
    else:
        first, middle, last = start, end, min(length + target, words.size)
    n = last - middle  # number of words that move to `first`
    for i in range(words.size):
        if i < first or i >= last:
            moved[i] = words[i]
        elif i < first + n:
            moved[i] = words[middle + i - first]
        else:
            moved[i] = words[i - n]


@inlined_kernel
def edits_from(begin, reference, shifts: Shifts):
    """Number of edits (int32) that turn shifts.tried into `reference`.

    The first `begin` (int64) words of shifts.tried are the same as in shifts.words.
    """
    rows = shifts.rows
    for j in range(reference.size + 1):
        rows[begin & 1, j] = shifts.edits[begin, j]
    for i in range(begin, shifts.tried.size):
        fill_row(shifts.tried, i, reference, rows[i & 1], rows[(i + 1) & 1])
    return rows[shifts.tried.size & 1, reference.size]
