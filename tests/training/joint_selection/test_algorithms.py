"""Algorithms 1 to 4 of Simianer et al. (2012) against their pseudo code on dictionaries, for any number of workers."""

import copy
import random
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.features.dense import FeatureLayout
from phrasebeam.decoder.output.list_features import ListFeatures, scores_of
from phrasebeam.decoder.sparse.sparse_weights import new_sparse_weights, used
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.training.common.development_set import DevelopmentScore
from phrasebeam.training.joint_selection.config import RankingConfig
from phrasebeam.training.joint_selection.ranking_training import ranking_training, rates_of
from phrasebeam.training.online.learned_weights import LearnedWeights
from phrasebeam.training.online.objective import Outcome
from phrasebeam.training.online.shards import Shards
from phrasebeam.training.ranking.list_objective import MultipartiteRanking
from phrasebeam.training.ranking.pair_losses import direction
from tests.naive.joint_selection import algorithm_1_and_2, algorithm_3_and_4, sgd_on

LAYOUT = FeatureLayout((("distortion", None), ("word_penalty", None), ("phrase_penalty", None)))
RATE, SHARE, N_DENSE, N_SPARSE = 2.0**-6, 0.3, LAYOUT.size, 9
GROUP = GROUPS.index("rule_id")


class FixedList(NamedTuple):
    """A list that no decoder made: features of hypotheses as {name: value}, names being (0, i) or (1, key)."""

    features: list[dict[tuple[int, int], float]]
    gains: list[float]

    def arrays(self) -> ListFeatures:
        dense = np.array([[one.get((0, i), 0.0) for i in range(N_DENSE)] for one in self.features])
        sparse = [sorted((key, value) for (kind, key), value in one.items() if kind) for one in self.features]
        first = np.cumsum([0, *map(len, sparse)], dtype=np.int64)
        column = np.array([key - 1 for one in sparse for key, _ in one], np.int32)
        value = np.array([value for one in sparse for _, value in one], float)
        keys = np.arange(1, N_SPARSE + 1, dtype=np.uint64)
        return ListFeatures(dense, first, column, value, keys, np.full(N_SPARSE, GROUP, np.uint8))


class FixedLists:
    """The objective on such lists, with all else as it is for decoded ones."""

    features = LAYOUT

    def __init__(self, lists, rates, config):
        self.lists, self.loss = lists, MultipartiteRanking(rates, config.margin, SHARE, config.pairs)
        self.examples = lists

    def with_examples(self, examples):
        chosen = copy.copy(self)
        chosen.lists = chosen.examples = examples
        return chosen

    def length(self, example):
        return 1

    def score(self, statistics):
        return None

    def snapshot(self, weights, sparse):
        return np.array([getattr(weights, name) for name, _ in LAYOUT.groups]), sparse

    def outcome(self, example, snapshot, epoch):
        features = self.lists[example].arrays()
        ranking = self.loss.ranking(features, scores_of(features, *snapshot), np.array(self.lists[example].gains), None)
        return Outcome(direction(features, ranking), {"updates": ranking.n_updates})


def random_lists(seed, n):
    """Lists whose values are multiples of 1/4, so that all sums are exact."""
    rng = random.Random(seed)

    def hypothesis():
        names = [(0, i) for i in range(N_DENSE)] + [(1, key) for key in range(1, N_SPARSE + 1)]
        return {name: rng.randint(-4, 4) / 4 for name in rng.sample(names, rng.randint(1, 6))}

    lists = []
    for _ in range(n):
        size = rng.randint(2, 9)
        lists.append(FixedList([hypothesis() for _ in range(size)], [rng.randint(0, 5) / 8 for _ in range(size)]))
    return lists


def learned(lists, shards, directory, **given_settings):
    """{name: weight} after the last epoch, by the loop; each epoch has a better score than the one before."""
    config = RankingConfig.model_validate(
        {"rate": RATE, "level": SHARE, "average": "epochs", "shuffle": False, "fixed": []} | given_settings
    )
    rates, found, scores = rates_of(LAYOUT, config), {}, iter(range(100))
    members = [np.array(shard, np.int64) for shard in shards]
    training = ranking_training(
        FixedLists(lists, rates, config), rates, Shards(members, 1, False), None, config, directory
    )

    def score(name, weights, sparse):
        found["dense"] = np.array([getattr(weights, name) for name, _ in LAYOUT.groups])
        found["sparse"] = dict(zip(*(array.tolist() for array in used(sparse))))
        return DevelopmentScore(float(next(scores)), []), found["dense"]

    training.scorer = score
    training.finish("mine", LearnedWeights(np.zeros(N_DENSE), new_sparse_weights()))
    dense = {(0, i): value for i, value in enumerate(found["dense"].tolist())}
    return dense | {(1, key): value for key, value in found["sparse"].items()}


HOW = st.fixed_dictionaries(
    {"margin": st.sampled_from([0.0, 0.5]), "pairs": st.sampled_from(["decoded", "sequential"])}
)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([1, 2, 3, 4]), st.sampled_from([1, 2, 4]), HOW)
def test_algorithms_are_those_of_the_paper(tmp_path_factory, seed, algorithm, n_shards, how):
    lists, epochs, keep = random_lists(seed, 6), 3, 4
    shards = [list(range(k, len(lists), n_shards)) for k in range(n_shards if algorithm > 1 else 1)]
    keeps_dense = bool(seed % 2)

    def learn(weights, example):
        return sgd_on(weights, example, RATE, how["margin"], SHARE, how["pairs"] == "sequential")

    given_lists = [[lists[i] for i in shard] for shard in shards]
    if algorithm < 3:
        expected = algorithm_1_and_2(given_lists, epochs, learn)
    else:
        always = {(0, i) for i in range(N_DENSE)} if keeps_dense else set()
        expected = algorithm_3_and_4(given_lists, epochs, learn, keep if algorithm == 4 else None, always)
    results = []
    for workers in (1, 3):
        directory = tmp_path_factory.mktemp("ranking")
        given_settings = how | {"algorithm": algorithm, "iterations": epochs, "keep": keep, "keep_dense": keeps_dense}
        results.append(learned(lists, shards, directory, workers=workers, **given_settings))
    assert results[0] == results[1]
    names = {*expected, *results[0]}
    assert {name: results[0].get(name, 0) for name in names} == pytest.approx(
        {name: expected.get(name, 0) for name in names}, abs=1e-12
    )
    if algorithm == 4:
        kept = [name for name, weight in results[0].items() if weight and not (keeps_dense and name[0] == 0)]
        assert len(kept) <= keep
