"""Small random n-best lists, as kernels see them and as plain lists for the naive twins."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from phrasebeam.training.metrics.metric import Metric, make_metric
from phrasebeam.training.nbest.nbest_store import Lists
from phrasebeam.training.tuning.methods.problem import Problem

N_SPARSE = 3
WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=6)
VALUES = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0]) | st.floats(-4, 4, width=16)


class Entry(NamedTuple):
    """One hypothesis; its features are one vector, the sparse ones at the end."""

    text: str
    features: list[float]


class Case(NamedTuple):
    """Lists of some sentences."""

    n_dense: int
    sentences: list[list[Entry]]
    references: list[list[str]]  # by set
    weights: list[float]
    order_seed: int  # of the hypotheses in the arrays

    @property
    def metric(self) -> Metric:
        """BLEU against the references."""
        return make_metric("bleu", self.references)

    def problem(self, threads: int = 1, tunable: list[bool] | None = None) -> Problem:
        """The lists as methods take them."""
        weights = np.array(self.weights)
        mask = np.ones(weights.size, bool) if tunable is None else np.array(tunable)
        return Problem(self.lists(), self.metric, weights, mask, np.random.default_rng(1), threads)

    def lists(self) -> Lists:
        """Rows in random order, though in order within each sentence, as after several iterations."""
        rng = np.random.default_rng(self.order_seed)
        sentence = rng.permutation(np.repeat(np.arange(len(self.sentences)), [len(s) for s in self.sentences]))
        waiting = [iter(entries) for entries in self.sentences]
        entries = [next(waiting[i]) for i in sentence]
        features = np.array([entry.features for entry in entries], np.float32)
        sparse = features[:, self.n_dense :]
        rows, columns = np.nonzero(sparse)
        counts = np.bincount(sentence, minlength=len(self.sentences))
        return Lists(
            np.append(0, np.cumsum(counts)).astype(np.int64),
            np.argsort(sentence, kind="stable"),
            np.ascontiguousarray(features[:, : self.n_dense]),
            np.append(0, np.cumsum(np.bincount(rows, minlength=len(entries)))).astype(np.int64),
            columns.astype(np.int32),
            sparse[rows, columns],
            self.metric.statistics(sentence, [entry.text for entry in entries]),
        )

    def statistics(self) -> list[list[list[float]]]:
        """Sufficient statistics of each hypothesis of each sentence."""
        return [
            self.metric.statistics(np.full(len(s), i), [entry.text for entry in s]).tolist()
            for i, s in enumerate(self.sentences)
        ]

    def features(self) -> list[list[list[float]]]:
        """The same of features."""
        return [[entry.features for entry in entries] for entries in self.sentences]

    def places(self, lists: Lists, rows: np.ndarray) -> list[int]:
        """Which in the list of its sentence each row is (int64[M])."""
        return [
            lists.row[lists.first[i] : lists.first[i + 1]].tolist().index(row) for i, row in enumerate(rows.tolist())
        ]


@st.composite
def cases(draw, sparse: bool = True, values=VALUES) -> Case:
    """Up to four sentences with up to six hypotheses each."""
    n_dense, n_sparse = draw(st.integers(1, 5)), draw(st.integers(0, N_SPARSE)) if sparse else 0
    features = st.lists(values, min_size=n_dense + n_sparse, max_size=n_dense + n_sparse)
    entries = st.builds(Entry, WORDS.map(" ".join), features)
    sentences = draw(st.lists(st.lists(entries, min_size=1, max_size=6), min_size=1, max_size=4))
    n_sets = draw(st.integers(1, 2))
    references = [[" ".join(draw(WORDS)) for _ in sentences] for _ in range(n_sets)]
    return Case(n_dense, sentences, references, draw(features), draw(st.integers(0, 9)))
