"""Occurrences of phrase pairs grouped: which are of the same pair, and which alignment a pair has most often."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.extraction.occurrences import source_lengths, target_lengths
from phrasebeam.decoder.extraction.pairs import AlignedBitext
from phrasebeam.decoder.tables.phrase_table import ABSENT, phrase_hash
from phrasebeam.kernels.hashing import first_slot, next_slot
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.kernels.words import same_words


class Sequences(NamedTuple):
    """Ragged integers whose runs may overlap: sequence i is values[begins[i]:begins[i] + lengths[i]]."""

    values: np.ndarray  # int32[...]
    begins: np.ndarray  # int64[K]
    lengths: np.ndarray  # int64[K]


class PairGroups(NamedTuple):
    """N source phrases in the order of their hashes, P phrase pairs in the order of source phrase, then corpus."""

    source_first: np.ndarray  # int64[N], the first occurrence of each source phrase
    pair_offsets: np.ndarray  # int64[N + 1]
    pair_first: np.ndarray  # int64[P], the first occurrence of each pair
    pair_of: np.ndarray  # int64[K], the pair of each occurrence
    target_alignment: np.ndarray  # int64[P], an occurrence with the most frequent alignment, seen from the target
    source_alignment: np.ndarray  # int64[P], the same seen from the source: they differ in how ties are broken


@kernel
def _number(sequences, slots, numbers, first):
    found = 0
    for i in range(numbers.size):
        begin, length = sequences.begins[i], sequences.lengths[i]
        slot = first_slot(phrase_hash(sequences.values, begin, begin + length), slots.size)
        while slots[slot] != ABSENT and not _same(sequences, first[slots[slot]], i):
            slot = next_slot(slot, slots.size)
        if slots[slot] == ABSENT:
            slots[slot] = found
            first[found] = i
            found += 1
        numbers[i] = slots[slot]
    return found


@inner_kernel
def _same(sequences, i, j):
    if sequences.lengths[i] != sequences.lengths[j]:
        return False
    values, begins = sequences.values, sequences.begins
    return same_words(values, begins[i], values, begins[j], sequences.lengths[i])


def number_sequences(sequences: Sequences) -> tuple[np.ndarray, np.ndarray]:
    """int64[K] numbers, equal for equal sequences, 0, 1, ... as they come; int64[D] the first of each number."""
    n = sequences.begins.size
    slots = np.full(1 << (2 * n).bit_length(), ABSENT, np.int64)
    numbers, first = np.zeros(n, np.int64), np.zeros(n, np.int64)
    found = _number(sequences, slots, numbers, first)
    return numbers, first[:found].copy()


def number_rows(columns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The same for rows of numbers below 2^31."""
    rows = np.column_stack(columns).astype(np.int32)
    n, width = rows.shape
    return number_sequences(Sequences(rows.ravel(), np.arange(n) * width, np.full(n, width, np.int64)))


@kernel
def _hash_sequences(sequences, out):
    for i in range(out.size):
        out[i] = phrase_hash(sequences.values, sequences.begins[i], sequences.begins[i] + sequences.lengths[i])


def hash_sequences(sequences: Sequences) -> np.ndarray:
    """uint64[K] phrase hashes."""
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
    """int64[K + 1] offsets and int32[...] values, the runs one after the other."""
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sequences.lengths)])
    out = np.zeros(int(offsets[-1]), np.int32)
    _gather(sequences, out)
    return offsets, out


def source_phrases(bitext: AlignedBitext, occurrences: np.ndarray) -> Sequences:
    """Source words of `occurrences` (int32[K, 4])."""
    begins = bitext.source_offsets[occurrences[:, 0]] + occurrences[:, 1]
    return Sequences(bitext.source_tokens, begins, source_lengths(occurrences))


def target_phrases(bitext: AlignedBitext, occurrences: np.ndarray) -> Sequences:
    """Target words of `occurrences` (int32[K, 4])."""
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
    """Links inside of `occurrences` as codes, 255 - target << 8 | source, ordered by target position, then source;
    and int32[...], in the same runs, the codes 255 - source << 8 | target ordered by source, then target.

    With these codes the alignment that Moses prefers of two is the one whose run comes last in the dictionary.
    """
    _, begins, n_words = target_phrases(bitext, occurrences)
    n_links = bitext.target_links[begins + n_words] - bitext.target_links[begins]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(n_links)])
    by_target = Sequences(np.zeros(int(offsets[-1]), np.int32), offsets[:-1].copy(), n_links)
    by_source = np.zeros(int(offsets[-1]), np.int32)
    _fill_alignments(bitext, occurrences, by_target, by_source)
    return by_target, by_source


@kernel
def _choose(alignments, codes, kinds, counts, best):
    """For pair kinds[i, 0], choose among the occurrences kinds[i, 1] the one with the greatest (count, codes)."""
    for i in range(counts.size):
        other = best[kinds[i, 0]]
        tied = other != ABSENT and counts[i] == counts[other]
        if tied and not _comes_later(alignments, codes, kinds[i, 1], kinds[other, 1]):
            continue
        if other == ABSENT or counts[i] >= counts[other]:
            best[kinds[i, 0]] = i


@inner_kernel
def _comes_later(alignments, codes, i, j):
    for k in range(min(alignments.lengths[i], alignments.lengths[j])):
        a, b = codes[alignments.begins[i] + k], codes[alignments.begins[j] + k]
        if a != b:
            return a > b
    return alignments.lengths[i] > alignments.lengths[j]


def most_frequent_alignments(
    bitext: AlignedBitext, occurrences: np.ndarray, pair_of: np.ndarray, n_pairs: int
) -> tuple[np.ndarray, np.ndarray]:
    """An occurrence (int64[P]) of each pair's most frequent alignment, seen from the target and from the source.

    Ties as in Moses' `score`, whose alignments are lists over target words of sets of source positions (for the
    inverse scores, the other way round): of the equally frequent, the greatest list.
    """
    by_target, by_source = internal_alignments(bitext, occurrences)
    alignment_of, _ = number_sequences(by_target)
    kind_of, first = number_rows([pair_of, alignment_of])
    kinds = np.column_stack((pair_of[first], first))
    counts = np.bincount(kind_of)
    chosen = []
    for codes in (by_target.values, by_source):
        best = np.full(n_pairs, ABSENT, np.int64)
        _choose(by_target, codes, kinds, counts, best)
        chosen.append(first[best])
    return chosen[0], chosen[1]


def group_pairs(bitext: AlignedBitext, occurrences: np.ndarray) -> PairGroups:
    """Group `occurrences` (int32[K, 4]), which stand in the order of the corpus.

    The order of the groups depends on source phrases and the corpus alone: pieces divided by the high bits of the
    source hash give, one after the other, what the whole would give.
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
