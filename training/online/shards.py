"""Shards: disjoint parts of the training data; weights are learned in parallel and mixed (McDonald et al. 2010)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Shards(NamedTuple):
    """The examples of each shard, and their order in each epoch."""

    members: Sequence[np.ndarray]  # int64[...] examples, by shard
    seed: int
    shuffles: bool = True  # whether each epoch has its own random order; if not, it is that of `members`

    def order(self, shard: int, epoch: int) -> np.ndarray:
        """The examples of a shard (int64[...]) in their order in an epoch; epochs are numbered from 1."""
        members = self.members[shard]
        if not self.shuffles:
            return members
        key = [self.seed, epoch] if len(self.members) == 1 else [self.seed, epoch, shard]
        return members[np.random.default_rng(key).permutation(members.size)]


def whole(n_examples: int, seed: int, shuffles: bool = True) -> Shards:
    """One shard of all examples."""
    return Shards([np.arange(n_examples)], seed, shuffles)


def random_shards(n_examples: int, n_shards: int, seed: int, shuffles: bool = True) -> Shards:
    """Divide the examples at random into shards whose sizes differ by at most one; in a shard, examples are sorted."""
    drawn = np.random.default_rng([seed, 0]).permutation(n_examples)
    return Shards([np.sort(drawn[k::n_shards]) for k in range(n_shards)], seed, shuffles)


def labelled_shards(labels: Sequence[str], seed: int, shuffles: bool = True) -> tuple[Shards, list[str]]:
    """A shard for each label, and the sorted labels; `labels`: the label of each example."""
    names, shard = np.unique(np.array(labels), return_inverse=True)
    return Shards([np.flatnonzero(shard == k) for k in range(names.size)], seed, shuffles), names.tolist()
