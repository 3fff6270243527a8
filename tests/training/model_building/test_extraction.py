"""Extraction and orientations against the definitions, applied to every pair of spans."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.extraction.agreement import Agreement
from phrasebeam.decoder.extraction.orientations import KINDS
from phrasebeam.decoder.extraction.pairs import LONGEST_PAIR
from phrasebeam.training.model_building.extraction import align_bitext, count_occurrences, extract
from tests.naive import extraction as naive
from tests.training.model_building.bitexts import HARD, arrays, bitexts, long_pair, realigned

pytestmark = pytest.mark.kernels


def extracted(bitext, max_length, kind, chunk=1 << 20):
    """[(sentence, spans, orientations)] and the number of phrase pairs of each sentence pair."""
    aligned = align_bitext(*arrays(bitext))
    counts = count_occurrences(aligned, max_length)
    found = []
    for _, occurrences in extract(aligned, counts, max_length, KINDS[kind], chunk):
        for i, first, begin, packed in occurrences.tolist():
            spans = (first, first + (packed & 255) - 1, begin, begin + (packed >> 8 & 255) - 1)
            found.append((i, spans, (packed >> 16 & 3, packed >> 18 & 3)))
    return found, counts.tolist()


def expected(bitext, max_length, kind):
    return [
        (i, spans, naive.orientations(kind, len(source), len(target), links, spans, max_length))
        for i, (source, target, links) in enumerate(bitext)
        for spans in naive.extract(len(source), len(target), links, max_length)
    ]


@settings(deadline=None, max_examples=80)
@given(bitexts, st.integers(1, 5), st.sampled_from(list(KINDS)), st.integers(1, 50))
def test_agrees_with_the_definition(bitext, max_length, kind, chunk):
    found, counts = extracted(bitext, max_length, kind, chunk)
    assert sorted(found) == sorted(expected(bitext, max_length, kind))
    assert counts == [sum(i == j for j, _, _ in found) for i in range(len(bitext))]


def test_what_is_too_long_has_no_phrase_pairs():
    """And its neighbours have theirs."""
    longest, short = int(LONGEST_PAIR), ([0, 1], [2, 3], {(0, 0), (1, 1)})
    bitext = [short, ([0] * (longest + 1), [0], {(0, 0)}), ([0], [0] * longest, {(0, 0)}), short]
    found, counts = extracted(bitext, 2, "hier")
    assert counts == [3, 0, 2, 3]
    assert [one for one in found if one[0] in (0, 3)] == expected(
        [short, ([], [], set()), ([], [], set()), short], 2, "hier"
    )


@settings(deadline=None, max_examples=80)
@given(bitexts, st.integers(1, 3), st.integers(1, 3), st.sampled_from(list(KINDS)), st.integers(1, 50))
def test_enough_alignments_allow_what_is_extracted(bitext, n_alignments, least, kind, chunk):
    """Once each, with the orientations that the first of them has."""
    least = min(least, n_alignments)
    bitexts_of = [bitext, *(realigned(bitext, seed) for seed in range(1, n_alignments))]
    source, target, _ = arrays(bitext)
    aligned = align_bitext(source, target, *(arrays(one)[2] for one in bitexts_of))
    agreement = Agreement(n_alignments, least)
    counts = count_occurrences(aligned, 4, agreement)
    found = {}
    for _, occurrences in extract(aligned, counts, 4, KINDS[kind], chunk, agreement=agreement):
        for copy, first, begin, packed in occurrences.tolist():
            spans = (first, first + (packed & 255) - 1, begin, begin + (packed >> 8 & 255) - 1)
            pair, number = divmod(copy, n_alignments)
            assert (pair, spans) not in found
            found[pair, spans] = number, (packed >> 16 & 3, packed >> 18 & 3)
    assert found == agreed(bitexts_of, least, kind)


def agreed(bitexts_of, least, kind):
    """{(sentence pair, spans): (number of the first alignment that allows them, orientations)}"""
    by_spans = {}
    for number, bitext in enumerate(bitexts_of):
        for pair, spans, orientations in expected(bitext, 4, kind):
            by_spans.setdefault((pair, spans), []).append((number, orientations))
    return {key: allowing[0] for key, allowing in by_spans.items() if len(allowing) >= least}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("kind", KINDS)
def test_hard_sentences(name, kind):
    found, _ = extracted(HARD[name], 7, kind)
    assert sorted(found) == sorted(expected(HARD[name], 7, kind))


@pytest.mark.needs_jit
def test_a_sentence_of_200_words():
    source, target, links = long_pair(200, np.random.default_rng(3))
    found, _ = extracted([(source, target, links)], 7, "hier")
    spans = {spans for _, spans, _ in found}
    assert len(spans) == len(found) > 300
    assert all(naive.consistent(links, pair) for pair in spans)
    near = [
        (first, last, begin, end)
        for first in range(200)
        for last in range(first, min(200, first + 7))
        for begin in range(max(0, first - 12), min(200, first + 12))
        for end in range(begin, min(200, begin + 7))
    ]
    assert spans == {pair for pair in near if naive.consistent(links, pair)}


def test_unlinked_words_at_the_edges_are_free():
    found, _ = extracted([([0, 1, 2], [3, 4], {(1, 0)})], 3, "word")
    source_spans = [(0, 1), (0, 2), (1, 1), (1, 2)]
    spans = [(*source, 0, end) for source in source_spans for end in (0, 1)]
    assert sorted(spans for _, spans, _ in found) == sorted(spans)
