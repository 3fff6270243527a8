"""Bounds of BLEU against BLEU itself, and corpora chosen by them against the choice without them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.array_struct import allocate
from phrasebeam.training.metrics.definitions import BLEU_KIND
from phrasebeam.training.metrics.metric import make_metric
from phrasebeam.training.nbest.nbest_store import Lists
from phrasebeam.training.tuning.methods.bleu_bounds import BleuBounds
from phrasebeam.training.tuning.methods.mira_corpus import improve_corpus
from tests.inner_kernels import fill_bounds
from tests.naive import bleu as naive

pytestmark = pytest.mark.kernels


def random_statistics(rng: np.random.Generator, n: int, longest: int) -> np.ndarray:
    """float32[n, 10], as of hypotheses and references of up to `longest` words."""
    length, reference = rng.integers(1, longest + 1, size=(2, n))
    totals = np.maximum(length[:, None] - np.arange(4), 0)
    matches = np.sort(rng.integers(0, totals + 1), axis=1)[:, ::-1]
    columns = [length[:, None], reference[:, None], np.minimum(matches, totals), totals]
    return np.concatenate(columns, axis=1).astype(np.float32)


@given(st.sampled_from([0, 1, 20, 2000]), st.sampled_from([1.0, -1.0, 300.0, -300.0]), st.integers(0, 1000))
@settings(max_examples=60)
def test_no_score_is_above_its_bound(others, factor, seed):
    rng, size = np.random.default_rng(seed), 8
    statistics = random_statistics(rng, size, int(rng.integers(1, 40)))
    corpus = random_statistics(rng, others, 30).sum(axis=0, dtype=np.float64)
    now = corpus + statistics[3]
    columns = np.full((10, size + 2), np.nan, np.float32)
    columns[:, 2:] = statistics.T
    bounds = allocate(BleuBounds, {"K": size + 1}, columns=columns)
    fill_bounds(bounds, 2, size, now, statistics[3], naive.corpus(now.tolist()), factor)
    scores = factor * np.array([naive.corpus((corpus + row).tolist()) for row in statistics])
    unknown = ~np.isfinite(bounds.bound[:size])
    assert np.all(unknown | (scores <= bounds.bound[:size]))
    if others == 2000:
        assert bounds.bound[:size] == pytest.approx(scores, abs=1e-3 * abs(factor))


@given(st.sampled_from([1, 3, 80]), st.sampled_from([0.0, 1e-3, 1.0]), st.integers(0, 1000))
@settings(max_examples=20)
def test_corpora_chosen_by_bounds_are_the_best(n_sentences, scale, seed):
    rng, n_best = np.random.default_rng(seed), 6
    statistics = random_statistics(rng, n_sentences * n_best, 12)
    features = scale * rng.normal(size=(n_sentences * n_best, 1)).astype(np.float32)
    first, row = np.arange(0, n_sentences * n_best + 1, n_best), rng.permutation(n_sentences * n_best)
    empty = np.zeros(0, np.int32), np.zeros(0, np.float32)
    lists = Lists(first, row, features, np.zeros(row.size + 1, np.int64), *empty, statistics)
    metric, scores = make_metric("bleu", [["a"] * n_sentences]), features[:, 0].astype(np.float64)
    for sign in (1.0, -1.0):
        rows = row[first[:-1] + rng.integers(n_best, size=n_sentences)]
        expected, sums = rows.copy(), statistics[rows].sum(axis=0, dtype=np.float64)
        for i, given_rows in enumerate(row.reshape(n_sentences, n_best)):
            without = np.delete(expected, i)
            changed = statistics[without].sum(axis=0, dtype=np.float64) + statistics[given_rows]
            expected[i] = given_rows[np.argmax(scores[given_rows] + sign * n_sentences * metric.score(changed))]
        bounds = allocate(BleuBounds, {"K": n_best}, columns=np.ascontiguousarray(statistics[row].T))
        improve_corpus(lists, BLEU_KIND, scores, sign, sums, np.empty_like(sums), rows, bounds)
        assert rows.tolist() == expected.tolist()
        assert sums.tolist() == statistics[rows].sum(axis=0, dtype=np.float64).tolist()
