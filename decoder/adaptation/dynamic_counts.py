"""Counts of the phrase pairs and links of confirmed segments, which fade as further segments are confirmed.

A count is worth `decay` times as much after each segment, as in the caches of Bertoldi et al. (2013, section 3). All is
in arrays that kernels fill, so that a project of many segments opens fast and takes little memory.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate
from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.adaptation.confirmed_text import ConfirmedText
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
FIRST_ROOM = 64  # keys of a new table
NO_OCCURRENCES = np.zeros((0, 4), np.int32)
NO_VOTES = Votes(np.zeros(2, np.int64), np.zeros(0, np.int64))  # of one alignment
ANY_WORD = np.int64(1 << 40)  # in place of a word of a link: all links of the other one


class PairEntries(NamedTuple):
    """What is known of each phrase pair beside its count, by its number; there is room for C of them."""

    target: np.ndarray  # int32[C], number of its target phrase
    earlier: np.ndarray  # int32[C], number of the pair of the same source phrase that was entered before it, or EMPTY
    place: np.ndarray  # int32[C, 4], its last occurrence: segment, first source word, first target word, lengths
    orientations: np.ndarray  # float32[C, 8], fading with the count


class CountTables(NamedTuple):
    """All counts of confirmed segments."""

    sources: FadingTable  # phrases by phrase_hash
    targets: FadingTable
    pairs: FadingTable  # by both hashes
    links: FadingTable  # of words, see link_key
    latest: np.ndarray  # int32[C], the last pair that was entered of each source phrase
    entries: PairEntries


class CountRules(NamedTuple):
    """How segments are counted."""

    weight: float
    decay: float
    longest_source: int  # words of a phrase
    longest_target: int
    kind: int  # of orientations, see KINDS


class DynamicCounts:
    """Counts of phrases, phrase pairs and links in confirmed segments."""

    def __init__(self, settings: AdaptationSettings, description: ModelDescription):
        """Phrase pairs are taken as the model took them: of as many words, with its kind of orientations."""
        kind = KINDS[description.reordering.orientation if description.reordering else "word"]
        lengths = description.max_source_phrase_length, description.max_target_phrase_length
        self.rules = CountRules(settings.weight, settings.decay, *lengths, kind)
        self.text, self.time = ConfirmedText(), 0
        sources, targets, pairs, links = (new_table(FIRST_ROOM) for _ in range(4))
        self.tables = CountTables(sources, targets, pairs, links, np.zeros(0, np.int32), _entries(0))

    def add(self, source: np.ndarray, target: np.ndarray, points: Sequence[tuple[int, int]]) -> None:
        """Count the phrase pairs and links of one more segment of word ids (int32[n], int32[m])."""
        self.text.add(source, target, tuple(points))
        number, bitext = self.time, self.text.bitext
        self.time += 1
        longest = max(self.rules.longest_source, self.rules.longest_target)
        n_pairs = _count_pairs(bitext, number, longest, NO_OCCURRENCES)
        self._make_room(n_pairs, len(points))
        n_source, n_target = self.text.lengths(number)
        corners = allocate(Corners, {"T": n_target, "S": n_source})
        occurrences = np.empty((n_pairs, 4), np.int32)
        _count_segment(bitext, number, self.rules, corners, occurrences, self.tables)

    def _make_room(self, n_pairs: int, n_links: int) -> None:
        """Grow the tables for so many further phrase pairs and links."""
        old = self.tables
        sources, targets, pairs = (with_room(table, n_pairs) for table in old[:3])
        latest, entries = old.latest, old.entries
        if sources.keys.size > latest.size:
            latest = np.full(sources.keys.size, EMPTY, np.int32)
            latest[: old.latest.size] = old.latest
        if pairs.keys.size > entries.target.size:
            entries = _entries(pairs.keys.size)
            for before, now in zip(old.entries, entries):
                now[: len(before)] = before
        self.tables = CountTables(sources, targets, pairs, with_room(old.links, 3 * n_links), latest, entries)

    @property
    def n_bytes(self) -> int:
        """Memory of the counts."""
        tables = self.tables
        arrays = [*tables.sources, *tables.targets, *tables.pairs, *tables.links, tables.latest, *tables.entries]
        return sum(array.nbytes for array in (*arrays, *self.text.bitext))


def _entries(n: int) -> PairEntries:
    numbers, place = np.zeros((2, n), np.int32), np.zeros((n, 4), np.int32)
    return PairEntries(numbers[0], numbers[1], place, np.zeros((n, N_COUNTS), np.float32))


@kernel
def _count_pairs(bitext: AlignedBitext, i, longest, occurrences):
    """Number of phrase pairs of up to `longest` words a side in sentence pair i; `occurrences` is an int32[0, 4]."""
    return extract_pair(bitext, i, longest, occurrences, np.int64(0))


@kernel
def _count_segment(bitext: AlignedBitext, i, rules: CountRules, corners: Corners, occurrences, tables: CountTables):
    """Count the phrase pairs and links of sentence pair i at the time i + 1; overwrites `occurrences` (int32[K, 4])."""
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
    add_count(tables.sources, source, rules.weight, time, rules.decay)
    add_count(tables.targets, target, rules.weight, time, rules.decay)
    n_before, entries = tables.pairs.size[0], tables.entries
    pair = number_or_new(tables.pairs, mix(source_key) ^ target_key)
    if pair == n_before:
        entries.target[pair], entries.earlier[pair] = target, tables.latest[source]
        tables.latest[source] = pair
        for column in range(N_COUNTS):
            entries.orientations[pair, column] = 0.0
    fading = rules.decay ** (time - np.int64(tables.pairs.times[pair]))
    for column in range(N_COUNTS):
        entries.orientations[pair, column] *= fading
    previous, following = orientations(occurrence)
    entries.orientations[pair, previous] += rules.weight
    entries.orientations[pair, N_ORIENTATIONS + following] += rules.weight
    for column in range(4):
        entries.place[pair, column] = occurrence[column]
    add_count(tables.pairs, pair, rules.weight, time, rules.decay)


@inlined_kernel
def _count_link(links, key, rules, time):
    add_count(links, number_or_new(links, key), rules.weight, time, rules.decay)


@inlined_kernel
def link_key(source, target):
    """uint64 key of the links of `source` and `target` (int64), or of all links of one, with ANY_WORD for the other."""
    return combine(combine(START, source), target)


@inlined_kernel
def link_count(tables: CountTables, source, target, time, decay):
    """How often `source` and `target` (int64) are linked, as `decay` (float64) has it at a `time` (int64)."""
    return faded(tables.links, number_of(tables.links, link_key(source, target)), time, decay)
