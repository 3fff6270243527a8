"""Counts of the phrase pairs and links of confirmed segments, which decay as further segments are confirmed.

Each segment multiplies earlier counts by `decay`, as in the caches of Bertoldi et al. (2013, section 3). All counts are
in arrays that kernels fill and read.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate
from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.adaptation.confirmed_text import ConfirmedText, IdPair
from phrasebeam.decoder.adaptation.fading_table import (
    FadingTable,
    add_count,
    faded,
    new_table,
    number_of,
    number_or_new,
    with_room,
)
from phrasebeam.decoder.extraction.agreement import ONE_ALIGNMENT, Votes, extract_agreed
from phrasebeam.decoder.extraction.occurrences import orientations, source_length, target_length
from phrasebeam.decoder.extraction.orientations import KINDS, Corners
from phrasebeam.decoder.extraction.pairs import AlignedBitext, extract_pair
from phrasebeam.decoder.features.reordering import N_ORIENTATIONS
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.decoder.tables.phrase_table import phrase_hash
from phrasebeam.kernels.hashing import EMPTY, START, combine, mix
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel

N_COUNTS = 2 * N_ORIENTATIONS  # M S DL DR, backward then forward
FIRST_ROOM = 64  # initial room, in keys, of a table
BLOCK = 1024  # segments for which room is made at once
NO_OCCURRENCES = np.zeros((0, 4), np.int32)
NO_VOTES = Votes(np.zeros(2, np.int64), np.zeros(0, np.int64))  # empty, of one alignment
ANY_WORD = np.int64(1 << 40)  # replaces a word of a link: stands for all links of the other word


KEPT = np.int64(32)  # number of pairs of a source phrase that stay in its list, at least; sentences ask for fewer


class PairEntries(NamedTuple):
    """Data of phrase pairs besides their counts, indexed by the number of a pair; there is room for C pairs."""

    target: np.ndarray  # int32[C], number of its target phrase
    next_listed: np.ndarray  # int32[C], number of the next pair in the list of its source phrase, or EMPTY
    is_listed: np.ndarray  # int32[C], whether the pair is in that list
    place: np.ndarray  # int32[C, 4], its last occurrence: segment, first source word, first target word, lengths
    orientations: np.ndarray  # float32[C, 8], decaying with the count


class CountTables(NamedTuple):
    """All counts of confirmed segments."""

    sources: FadingTable  # source phrases, by phrase_hash
    targets: FadingTable
    pairs: FadingTable  # by the hashes of both phrases
    links: FadingTable  # of words, see link_key
    first_listed: np.ndarray  # int32[C], the first pair in the list of each source phrase, or EMPTY
    n_listed: np.ndarray  # int32[C], length of that list, up to twice KEPT
    source_orientations: np.ndarray  # float32[C, 8], of a source phrase if all its pairs share them; else [0, 8]
    entries: PairEntries
    ranking: np.ndarray  # float64[2, 2 * KEPT], work space: pairs of a list, and their counts


class CountRules(NamedTuple):
    """How segments are counted."""

    weight: float
    decay: float
    longest_source: int  # words of the longest source phrase
    longest_target: int
    kind: int  # kind of orientations, see KINDS


class DynamicCounts:
    """Counts of phrases, phrase pairs and links in confirmed segments."""

    def __init__(self, settings: AdaptationSettings, description: ModelDescription):
        """Phrase pairs are extracted as for the model: up to the same length, with the same kind of orientations."""
        kind = KINDS[description.reordering.orientation if description.reordering else "word"]
        lengths = description.max_source_phrase_length, description.max_target_phrase_length
        self.rules = CountRules(settings.weight, settings.decay, *lengths, kind)
        self.text = ConfirmedText()
        self._is_by_source = description.reordering is not None and description.reordering.condition == "f"
        sources, targets, pairs, links = (new_table(FIRST_ROOM) for _ in range(4))
        of_sources = self._of_sources(0)
        ranking = np.zeros((2, 2 * KEPT))
        self.tables = CountTables(sources, targets, pairs, links, *of_sources, _entries(0), ranking)

    def _of_sources(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The arrays of CountTables with rows for n source phrases."""
        orientations = np.zeros((n if self._is_by_source else 0, N_COUNTS), np.float32)
        return np.full(n, EMPTY, np.int32), np.zeros(n, np.int32), orientations

    def add(self, pairs: Sequence[IdPair]) -> None:
        """Count the phrase pairs and links of further segments in turn."""
        for begin in range(0, len(pairs), BLOCK):
            self._add_block(pairs[begin : begin + BLOCK])

    def _add_block(self, pairs: Sequence[IdPair]) -> None:
        first = len(self.text)
        self.text.add(pairs)
        bitext, n_pairs = self.text.bitext, np.empty(len(pairs), np.int64)
        longest = max(self.rules.longest_source, self.rules.longest_target)
        _count_pairs(bitext, first, longest, NO_OCCURRENCES, n_pairs)
        self._make_room(int(n_pairs.sum()), sum(len(pair.points) for pair in pairs))
        n_source, n_target = self.text.lengths(first).max(axis=0).tolist()
        corners = allocate(Corners, {"T": n_target, "S": n_source})
        occurrences = np.empty((n_pairs.max(), 4), np.int32)
        _count_segments(bitext, first, len(self.text), self.rules, corners, occurrences, self.tables)

    def _make_room(self, n_pairs: int, n_links: int) -> None:
        """Enlarge the tables for `n_pairs` further phrase pairs and `n_links` further links."""
        old = self.tables
        sources, targets, pairs = (with_room(table, n_pairs) for table in old[:3])
        of_sources, entries = old[4:7], old.entries
        if sources.keys.size > old.first_listed.size:
            of_sources = self._of_sources(sources.keys.size)
            for before, now in zip(old[4:7], of_sources):
                now[: len(before)] = before
        if pairs.keys.size > entries.target.size:
            entries = _entries(pairs.keys.size)
            for before, now in zip(old.entries, entries):
                now[: len(before)] = before
        links = with_room(old.links, 3 * n_links)
        self.tables = CountTables(sources, targets, pairs, links, *of_sources, entries, old.ranking)

    @property
    def time(self) -> int:
        """Number of counted segments."""
        return len(self.text)

    @property
    def n_bytes(self) -> int:
        """Memory of the counts."""
        tables = self.tables
        arrays = [*tables.sources, *tables.targets, *tables.pairs, *tables.links, *tables[4:7], *tables.entries]
        return sum(array.nbytes for array in (*arrays, *self.text.bitext))


def _entries(n: int) -> PairEntries:
    numbers, place = np.zeros((3, n), np.int32), np.zeros((n, 4), np.int32)
    return PairEntries(numbers[0], numbers[1], numbers[2], place, np.zeros((n, N_COUNTS), np.float32))


@kernel
def _count_pairs(bitext: AlignedBitext, first, longest, occurrences, n_pairs):
    """Fill `n_pairs` (int64[K]): phrase pairs of up to `longest` words a side in each sentence pair from `first` on.

    `occurrences` is an int32[0, 4].
    """
    for i in range(n_pairs.size):
        n_pairs[i] = extract_pair(bitext, first + i, longest, occurrences, np.int64(0))


@kernel
def _count_segments(
    bitext: AlignedBitext, first, end, rules: CountRules, corners: Corners, occurrences, tables: CountTables
):
    """Count the sentence pairs from `first` to `end` (int64); overwrites `occurrences` (int32[K, 4])."""
    for i in range(first, end):
        _count_segment(bitext, i, rules, corners, occurrences, tables)


@inner_kernel
def _count_segment(bitext, i, rules, corners, occurrences, tables):
    """Count the phrase pairs and links of sentence pair i at time i + 1."""
    time, first = np.int64(i + 1), np.int64(0)
    longest = max(rules.longest_source, rules.longest_target)
    n = extract_agreed(bitext, i, ONE_ALIGNMENT, longest, rules.kind, (corners, NO_VOTES), occurrences, first)
    for k in range(n):
        n_source, n_target = source_length(occurrences[k]), target_length(occurrences[k])
        if n_source <= rules.longest_source and n_target <= rules.longest_target:
            _count_occurrence(bitext, i, rules, occurrences[k], tables)
    source_begin, target_begin = bitext.source_offsets[i], bitext.target_offsets[i]
    for token in range(target_begin, bitext.target_offsets[i + 1]):
        for k in range(bitext.target_links[token], bitext.target_links[token + 1]):
            source = np.int64(bitext.source_tokens[source_begin + bitext.links[k, 0]])
            target = np.int64(bitext.target_tokens[token])
            _count_link(tables.links, link_key(source, target), rules, time)
            _count_link(tables.links, link_key(source, ANY_WORD), rules, time)
            _count_link(tables.links, link_key(ANY_WORD, target), rules, time)


@inner_kernel
def _count_occurrence(bitext, i, rules, occurrence, tables):
    """Count a phrase pair (row of occurrences), its phrases and its orientations."""
    time = np.int64(i + 1)
    begin = bitext.source_offsets[i] + occurrence[1]
    source_key = phrase_hash(bitext.source_tokens, begin, begin + source_length(occurrence))
    begin = bitext.target_offsets[i] + occurrence[2]
    target_key = phrase_hash(bitext.target_tokens, begin, begin + target_length(occurrence))
    source, target = number_or_new(tables.sources, source_key), number_or_new(tables.targets, target_key)
    previous, following = orientations(occurrence)
    if tables.source_orientations.shape[0] > 0:
        fading = rules.decay ** (time - np.int64(tables.sources.times[source]))
        _add_orientations(tables.source_orientations[source], fading, rules.weight, previous, following)
    add_count(tables.sources, source, rules.weight, time, rules.decay)
    add_count(tables.targets, target, rules.weight, time, rules.decay)
    n_before, entries = tables.pairs.size[0], tables.entries
    pair = number_or_new(tables.pairs, mix(source_key) ^ target_key)
    if pair == n_before:
        entries.target[pair], entries.is_listed[pair] = target, 0
        for column in range(N_COUNTS):
            entries.orientations[pair, column] = 0.0
    fading = rules.decay ** (time - np.int64(tables.pairs.times[pair]))
    _add_orientations(entries.orientations[pair], fading, rules.weight, previous, following)
    for column in range(4):
        entries.place[pair, column] = occurrence[column]
    add_count(tables.pairs, pair, rules.weight, time, rules.decay)
    if not entries.is_listed[pair]:
        if tables.n_listed[source] == 2 * KEPT:
            _shorten_list(tables, source, time, rules.decay)
        _enter(tables, source, pair)


@inlined_kernel
def _add_orientations(counts, fading, weight, previous, following):
    """Multiply 8 counts by `fading`, and count both orientations of a phrase pair."""
    for column in range(N_COUNTS):
        counts[column] *= fading
    counts[previous] += weight
    counts[N_ORIENTATIONS + following] += weight


@inlined_kernel
def _enter(tables, source, pair):
    """Insert a pair at the front of the list of its source phrase."""
    tables.entries.next_listed[pair], tables.entries.is_listed[pair] = tables.first_listed[source], 1
    tables.first_listed[source] = pair
    tables.n_listed[source] += 1


@inner_kernel
def _shorten_list(tables, source, time, decay):
    """Keep only the KEPT most frequent pairs in the list of a source phrase, with ties in order of entry.

    All counts decay alike, so that a pair outside the list can overtake these only when it is counted and inserted
    again.
    """
    pairs, counts, n, pair = tables.ranking[0], tables.ranking[1], np.int64(0), np.int64(tables.first_listed[source])
    while pair != EMPTY:
        pairs[n], counts[n] = pair, faded(tables.pairs, pair, time, decay)
        n += 1
        pair = np.int64(tables.entries.next_listed[pair])
    tables.first_listed[source], tables.n_listed[source] = EMPTY, 0
    for i in range(n - 1, -1, -1):
        n_better = 0
        for k in range(n):
            n_better += counts[k] > counts[i] or (counts[k] == counts[i] and pairs[k] < pairs[i])
        if n_better < KEPT:
            _enter(tables, source, np.int64(pairs[i]))
        else:
            tables.entries.is_listed[np.int64(pairs[i])] = 0


@inlined_kernel
def _count_link(links, key, rules, time):
    add_count(links, number_or_new(links, key), rules.weight, time, rules.decay)


@inlined_kernel
def link_key(source, target):
    """uint64 key of the links of `source` and `target` (int64); ANY_WORD for one means all links of the other."""
    return combine(combine(START, source), target)


@inlined_kernel
def link_count(tables: CountTables, source, target, time, decay):
    """How often `source` and `target` (int64) are linked, decayed by `decay` (float64) until `time` (int64)."""
    return faded(tables.links, number_of(tables.links, link_key(source, target)), time, decay)
