"""Alignment by a model's own statistics: the best path is the best of all, and the demo's words find each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.model_alignment.word_aligner import LN_JUMP, LN_NULL, alike_words, best_sources
from phrasebeam.decoder.model_alignment.word_translation import word_translation
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from tests.naive.adaptation import brute_force_path, path_score

LN = st.floats(-9, 0)


@given(st.data(), st.integers(1, 3), st.integers(1, 4))
def test_the_path_is_the_best_of_all(data, n, m):
    ln_emission = data.draw(st.lists(st.lists(LN, min_size=m, max_size=m), min_size=n, max_size=n))
    ln_null = data.draw(st.lists(LN, min_size=m, max_size=m))
    path = best_sources(np.array(ln_emission), np.array(ln_null)).tolist()
    best = brute_force_path(ln_emission, ln_null, LN_JUMP, LN_NULL)
    assert path_score(path, ln_emission, ln_null, LN_JUMP, LN_NULL) == pytest.approx(best)


def test_alike_words():
    assert alike_words(["a", "b"], ["b", "c", "A"]).tolist() == [[False, False, True], [True, False, False]]
    assert alike_words(["Parameter", "ab"], ["parametro", "params", "par", "abc"]).tolist() == [
        [True, False, False, False],
        [False, False, False, False],
    ]
    assert alike_words([], ["a"]).shape == (0, 1)


def table(pairs):
    """A phrase table of (source, target, points, count), sources ascending."""
    sources = sorted({source for source, *_ in pairs})
    rows = [row for source in sources for row in pairs if row[0] == source]

    def offsets(items):
        return np.append(0, np.cumsum([len(item) for item in items])).astype(np.int64)

    def words(items):
        return np.array([word for item in items for word in item], np.int32)

    points = [row[2] for row in rows]
    return PhraseTable(
        slots=np.zeros(2, np.int64),
        source_offsets=offsets(sources),
        source_words=words(sources),
        pair_offsets=np.append(0, np.cumsum([sum(row[0] == source for row in rows) for source in sources])),
        target_offsets=offsets([row[1] for row in rows]),
        target_words=words([row[1] for row in rows]),
        ln_scores=np.full((len(rows), 4), -1.0, np.float32),
        alignment_offsets=offsets(points),
        alignment_points=np.array([point for some in points for point in some], np.uint8).reshape(-1, 2),
        joint_counts=np.array([row[3] for row in rows], np.int32),
        source_counts=np.ones(len(sources), np.int32),
        target_counts=np.ones(len(rows), np.int32),
    )


def test_links_are_those_of_phrases_that_are_linked_wholly():
    pairs = [
        ((0,), (0,), [(0, 0)], 3),
        ((0,), (1, 2), [(0, 0), (0, 1)], 2),  # both words of it
        ((0,), (0, 3), [(0, 0)], 5),  # word 3 is not linked
        ((1, 2), (3,), [(0, 0), (1, 0)], 4),
        ((1, 2), (0, 3), [(0, 0), (1, 1)], 7),  # neither side is a single word
    ]
    found = word_translation(table(pairs), 3, 4, 10.0)
    expected = {(0, 0): 3, (0, 1): 2, (0, 2): 2, (1, 3): 4, (2, 3): 4}
    counts = found.link_counts(np.arange(4, dtype=np.int32), np.arange(5, dtype=np.int32))
    assert {(i, j): count for (i, j), count in np.ndenumerate(counts) if count} == expected
    assert found.source_counts.tolist() == [7, 4, 4] and found.target_counts.tolist() == [3, 2, 2, 8]


def test_a_table_without_counts_gives_probabilities():
    found = word_translation(table([((0,), (0,), [], 0)]), 1, 1, 10.0)
    assert found.counts.tolist() == pytest.approx([10 * np.exp(-1)])
