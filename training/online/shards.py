"""Shards of the training data: disjoint parts that are learned from side by side, and mixed (McDonald et al. 2010)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Shards(NamedTuple):
    """The examples of each shard, and the order in which an epoch has them."""

    members: Sequence[np.ndarray]  # int64[...] examples, by shard
    seed: int
    shuffles: bool = True  # each epoch has an order of its own; else that of `members`

    def order(self, shard: int, epoch: int) -> np.ndarray:
        """int64[...] examples of a shard in the order of an epoch, which are numbered from 1."""
        members = self.members[shard]
        if not self.shuffles:
            return members
        key = [self.seed, epoch] if len(self.members) == 1 else [self.seed, epoch, shard]
        return members[np.random.default_rng(key).permutation(members.size)]


def whole(n_examples: int, seed: int, shuffles: bool = True) -> Shards:
    """One shard of all examples."""
    return Shards([np.arange(n_examples)], seed, shuffles)


def random_shards(n_examples: int, n_shards: int, seed: int, shuffles: bool = True) -> Shards:
    """Shards of equal size, give or take one, drawn at random; examples of a shard stand in their order."""
    drawn = np.random.default_rng([seed, 0]).permutation(n_examples)
    return Shards([np.sort(drawn[k::n_shards]) for k in range(n_shards)], seed, shuffles)


def labelled_shards(labels: Sequence[str], seed: int, shuffles: bool = True) -> tuple[Shards, list[str]]:
    """A shard for each label, which `labels` has by example; and their labels, sorted."""
    names, shard = np.unique(np.array(labels), return_inverse=True)
    return Shards([np.flatnonzero(shard == k) for k in range(names.size)], seed, shuffles), names.tolist()
