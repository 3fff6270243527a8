"""Groups occurrences of phrase pairs by pair, and finds each pair's most frequent alignment, as Moses' `score` does."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.extraction.occurrences import source_lengths, target_lengths
from phrasebeam.decoder.extraction.pairs import AlignedBitext
from phrasebeam.decoder.tables.phrase_table import ABSENT, phrase_hash
from phrasebeam.kernels.hashing import first_slot, next_slot
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.kernels.words import same_words


class Sequences(NamedTuple):
    """K sequences of integers, which may overlap: sequence i is values[begins[i]:begins[i] + lengths[i]]."""

    values: np.ndarray  # int32[...]
    begins: np.ndarray  # int64[K]
    lengths: np.ndarray  # int64[K]


class PairGroups(NamedTuple):
    """K occurrences of P phrase pairs with N source phrases.

    Source phrases are ordered by their hashes, the pairs of a source phrase by their first occurrences.
    """

    source_first: np.ndarray  # int64[N], index of the first occurrence of each source phrase
    pair_offsets: np.ndarray  # int64[N + 1], pairs of source phrase i are pair_offsets[i]:pair_offsets[i + 1]
    pair_first: np.ndarray  # int64[P], the first occurrence of each pair
    pair_of: np.ndarray  # int64[K], the pair of each occurrence
    target_alignment: np.ndarray  # int64[P], an occurrence with the most frequent alignment, ties broken by target word
    source_alignment: np.ndarray  # int64[P], an occurrence with the most frequent alignment, ties broken by source word


@kernel
def _number(sequences, slots, numbers, first):
    n_distinct = 0
    for i in range(numbers.size):
        begin, length = sequences.begins[i], sequences.lengths[i]
        slot = first_slot(phrase_hash(sequences.values, begin, begin + length), slots.size)
        while slots[slot] != ABSENT and not _same(sequences, first[slots[slot]], i):
            slot = next_slot(slot, slots.size)
        if slots[slot] == ABSENT:
            slots[slot] = n_distinct
            first[n_distinct] = i
            n_distinct += 1
        numbers[i] = slots[slot]
    return n_distinct


@inner_kernel
def _same(sequences, i, j):
    if sequences.lengths[i] != sequences.lengths[j]:
        return False
    values, begins = sequences.values, sequences.begins
    return same_words(values, begins[i], values, begins[j], sequences.lengths[i])


def number_sequences(sequences: Sequences) -> tuple[np.ndarray, np.ndarray]:
    """Number the D distinct sequences in order of appearance.

    Returns the number of each sequence (int64[K]), and the index of the first sequence with each number (int64[D]).
    """
    n = sequences.begins.size
    slots = np.full(1 << (2 * n).bit_length(), ABSENT, np.int64)
    numbers, first = np.zeros(n, np.int64), np.zeros(n, np.int64)
    n_distinct = _number(sequences, slots, numbers, first)
    return numbers, first[:n_distinct].copy()


def number_rows(columns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct rows of `columns` (int64[K] each, below 2^31), as `number_sequences` does for sequences."""
    rows = np.column_stack(columns).astype(np.int32)
    n, width = rows.shape
    return number_sequences(Sequences(rows.ravel(), np.arange(n) * width, np.full(n, width, np.int64)))


@kernel
def _hash_sequences(sequences, out):
    for i in range(out.size):
        out[i] = phrase_hash(sequences.values, sequences.begins[i], sequences.begins[i] + sequences.lengths[i])


def hash_sequences(sequences: Sequences) -> np.ndarray:
    """The hash of each sequence (uint64[K]), see `phrase_hash`."""
    out = np.zeros(sequences.begins.size, np.uint64)
    _hash_sequences(sequences, out)
    return out


@kernel
def _gather(sequences, out):
    n = 0
    for i in range(sequences.begins.size):
        for k in range(sequences.lengths[i]):
            out[n] = sequences.values[sequences.begins[i] + k]
            n += 1


def gather(sequences: Sequences) -> tuple[np.ndarray, np.ndarray]:
    """Copy the sequences one after the other; returns offsets (int64[K + 1]) and values (int32[...])."""
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sequences.lengths)])
    out = np.zeros(int(offsets[-1]), np.int32)
    _gather(sequences, out)
    return offsets, out


def source_phrases(bitext: AlignedBitext, occurrences: np.ndarray) -> Sequences:
    """The source words of each of `occurrences` (int32[K, 4])."""
    begins = bitext.source_offsets[occurrences[:, 0]] + occurrences[:, 1]
    return Sequences(bitext.source_tokens, begins, source_lengths(occurrences))


def target_phrases(bitext: AlignedBitext, occurrences: np.ndarray) -> Sequences:
    """The target words of each of `occurrences` (int32[K, 4])."""
    begins = bitext.target_offsets[occurrences[:, 0]] + occurrences[:, 2]
    return Sequences(bitext.target_tokens, begins, target_lengths(occurrences))


@kernel
def _fill_alignments(bitext, occurrences, by_target, by_source):
    for i in range(occurrences.shape[0]):
        begin = by_target.begins[i]
        token = bitext.target_offsets[occurrences[i, 0]] + occurrences[i, 2]
        link = bitext.target_links[token]
        for k in range(by_target.lengths[i]):
            s = np.int64(bitext.links[link + k, 0]) - occurrences[i, 1]
            t = np.int64(bitext.links[link + k, 1]) - occurrences[i, 2]
            by_target.values[begin + k] = (255 - t) << 8 | s
            at = begin + k
            while at > begin and by_source[at - 1] >> 8 < 255 - s:
                by_source[at] = by_source[at - 1]
                at -= 1
            by_source[at] = (255 - s) << 8 | t


def internal_alignments(bitext: AlignedBitext, occurrences: np.ndarray) -> tuple[Sequences, np.ndarray]:
    """The links inside each of `occurrences` as codes, in two orders.

    The sequences have codes (255 - target) << 8 | source, ordered by target position, then source. The array
    (int32[...]) has codes (255 - source) << 8 | target in the same runs, ordered by source position, then target. Of
    two alignments, Moses prefers the one whose run of codes is lexicographically greater.
    """
    _, begins, n_words = target_phrases(bitext, occurrences)
    n_links = bitext.target_links[begins + n_words] - bitext.target_links[begins]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(n_links)])
    by_target = Sequences(np.zeros(int(offsets[-1]), np.int32), offsets[:-1].copy(), n_links)
    by_source = np.zeros(int(offsets[-1]), np.int32)
    _fill_alignments(bitext, occurrences, by_target, by_source)
    return by_target, by_source


@kernel
def _choose(alignments, codes, candidates, counts, best):
    """Set best[pair] to the candidate (pair, occurrence) with the greatest count; of equal counts, greatest codes."""
    for i in range(counts.size):
        other = best[candidates[i, 0]]
        tied = other != ABSENT and counts[i] == counts[other]
        if tied and not _is_greater(alignments, codes, candidates[i, 1], candidates[other, 1]):
            continue
        if other == ABSENT or counts[i] >= counts[other]:
            best[candidates[i, 0]] = i


@inner_kernel
def _is_greater(alignments, codes, i, j):
    for k in range(min(alignments.lengths[i], alignments.lengths[j])):
        a, b = codes[alignments.begins[i] + k], codes[alignments.begins[j] + k]
        if a != b:
            return a > b
    return alignments.lengths[i] > alignments.lengths[j]


def most_frequent_alignments(
    bitext: AlignedBitext, occurrences: np.ndarray, pair_of: np.ndarray, n_pairs: int
) -> tuple[np.ndarray, np.ndarray]:
    """For each pair, an occurrence (int64[P]) with its most frequent alignment: ties by target, ties by source word.

    Of equally frequent alignments, Moses' `score` takes the greatest one. It compares them as lists over target words
    of sets of source positions; for the inverse scores, as lists over source words of sets of target positions.
    """
    by_target, by_source = internal_alignments(bitext, occurrences)
    alignment_of, _ = number_sequences(by_target)
    candidate_of, first = number_rows([pair_of, alignment_of])
    candidates = np.column_stack((pair_of[first], first))
    counts = np.bincount(candidate_of)
    chosen = []
    for codes in (by_target.values, by_source):
        best = np.full(n_pairs, ABSENT, np.int64)
        _choose(by_target, codes, candidates, counts, best)
        chosen.append(first[best])
    return chosen[0], chosen[1]


def group_pairs(bitext: AlignedBitext, occurrences: np.ndarray) -> PairGroups:
    """Group `occurrences` (int32[K, 4], in the order of the corpus) by phrase pair.

    If occurrences are divided into pieces by the high bits of the source hash, the groups of all pieces, one after the
    other, are the groups of all occurrences.
    """
    sources = source_phrases(bitext, occurrences)
    source_of, source_first = number_sequences(sources)
    target_of, _ = number_sequences(target_phrases(bitext, occurrences))
    pair_of, pair_first = number_rows([source_of, target_of])
    hashes = hash_sequences(Sequences(sources.values, sources.begins[source_first], sources.lengths[source_first]))
    by_hash = np.argsort(hashes, kind="stable")
    source_rank = _inverse(by_hash)[source_of[pair_first]]
    by_source = np.argsort(source_rank, kind="stable")
    pair_of = _inverse(by_source)[pair_of]
    n_targets = np.bincount(source_rank, minlength=source_first.size)
    best_of_target, best_of_source = most_frequent_alignments(bitext, occurrences, pair_of, by_source.size)
    return PairGroups(
        source_first=source_first[by_hash],
        pair_offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(n_targets)]),
        pair_first=pair_first[by_source],
        pair_of=pair_of,
        target_alignment=best_of_target,
        source_alignment=best_of_source,
    )


def _inverse(permutation: np.ndarray) -> np.ndarray:
    inverse = np.empty_like(permutation)
    inverse[permutation] = np.arange(permutation.size)
    return inverse
