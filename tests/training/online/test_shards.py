"""Shards of the training data, the order of an epoch, and mini-batches with a delay."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.training.online.batches import Inline, outcomes_of
from phrasebeam.training.online.objective import Outcome
from phrasebeam.training.online.shards import labelled_shards, random_shards, whole


@given(st.integers(1, 60), st.integers(1, 9), st.integers(0, 5))
def test_shards_are_a_partition(n_examples, n_shards, seed):
    shards = random_shards(n_examples, min(n_shards, n_examples), seed)
    sizes = [members.size for members in shards.members]
    assert sorted(np.concatenate(shards.members).tolist()) == list(range(n_examples))
    assert max(sizes) - min(sizes) <= 1
    again = random_shards(n_examples, min(n_shards, n_examples), seed)
    for shard, members in enumerate(shards.members):
        order = shards.order(shard, 1)
        assert sorted(order.tolist()) == members.tolist()
        assert order.tolist() == again.order(shard, 1).tolist()
    plain = random_shards(n_examples, 1, seed, shuffles=False)
    assert plain.order(0, 3).tolist() == list(range(n_examples))


def test_epochs_differ():
    shards = whole(50, 1)
    assert shards.order(0, 1).tolist() != shards.order(0, 2).tolist()


def test_labels_are_shards():
    shards, names = labelled_shards(["b", "a", "b", "c"], 1)
    assert names == ["a", "b", "c"]
    assert [members.tolist() for members in shards.members] == [[1], [0, 2], [3]]


class Recorder:
    """An objective whose outcome is the version of the weights that it saw."""

    def length(self, example):
        return example % 3

    def outcome(self, example, snapshot, epoch):
        return Outcome(None, {"example": example, "version": snapshot, "epoch": epoch})


@pytest.mark.parametrize("delay", [0, 1, 3])
def test_a_mini_batch_sees_the_weights_before_those_of_its_delay(delay):
    batches = [[2 * i, 2 * i + 1] for i in range(7)]
    for pool in (Inline(), ThreadPoolExecutor(3)):
        seen: list[set[int]] = []  # as many as there were steps
        for batch, outcomes in outcomes_of(Recorder(), batches, seen.__len__, pool, delay, 4):
            assert [one.counts["example"] for one in outcomes] == batch
            assert {one.counts["epoch"] for one in outcomes} == {4}
            seen.append({one.counts["version"] for one in outcomes})
        assert seen == [{max(0, i - delay)} for i in range(7)]


def test_errors_of_examples_are_raised():
    class Failing(Recorder):
        def outcome(self, example, snapshot, epoch):
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        list(outcomes_of(Failing(), [[1]], lambda: 0, Inline(), 0, 1))
