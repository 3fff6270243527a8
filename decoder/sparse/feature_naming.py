"""What sparse features are called: the names of those that kernels listed of a derivation.

A key is a hash, from which no name can be read; so the names are made anew, from the words, by each group's `names`.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.sparse.levels import Levels
from phrasebeam.decoder.sparse.sparse_features import Sparse
from phrasebeam.decoder.sparse.sparse_group import RuleInContext, SparseGroup
from phrasebeam.decoder.sparse.templates import SPARSE_GROUPS
from phrasebeam.decoder.sparse.word_edges import EDGE_GROUPS, KIND
from phrasebeam.lm.text.vocabulary import BEGIN


class NamedRule(NamedTuple):
    """One phrase of a derivation."""

    begin: int  # source words, half open
    end: int
    target: Sequence[str]
    pair_keys: Sequence[int]  # of the features that the phrase table gives it


class FeatureNamer:
    """Names the sparse features of one model."""

    def __init__(self, levels: Levels, sparse: Sparse, pair_names: Mapping[int, str]):
        """`pair_names` are those of features of the phrase table, by key."""
        self.levels, self.active, self.pair_names = levels, sparse.active, pair_names
        rows = sparse.combinations.tolist()
        self.combinations = [[row for row in rows if row[int(KIND)] == kind] for kind in range(len(EDGE_GROUPS))]

    def names(self, source: Sequence[str], rules: Sequence[NamedRule], groups: np.ndarray) -> list[str]:
        """The names of all features of a derivation, whose groups are listed (int64[K]); K names in that order.

        Raises ValueError where these are not the groups of its features.
        """
        contexts = list(self._contexts(source, rules))
        waiting = [
            deque(self._of_group(group, contexts)) if is_active else deque[str]()
            for group, is_active in zip(SPARSE_GROUPS, self.active)
        ]
        if np.bincount(groups, minlength=len(waiting)).tolist() != [len(names) for names in waiting]:
            raise ValueError("there are not as many names as features; kernels and names of a group differ")
        return [waiting[group].popleft() for group in groups.tolist()]

    @staticmethod
    def _of_group(group: SparseGroup, contexts: Sequence[RuleInContext]) -> Iterator[str]:
        prefix = "" if group.scope == "pair" else f"{group.name}_"
        for one in contexts:
            yield from (f"{prefix}{name}" for name in group.names(one))

    def _contexts(self, source: Sequence[str], rules: Sequence[NamedRule]) -> Iterator[RuleInContext]:
        before, words = BEGIN, [BEGIN, BEGIN]
        for begin, end, target, keys in rules:
            pair_names = [self.pair_names.get(key, f"pair_sparse_{key:016x}") for key in keys]
            phrase = self.levels, self.combinations, source, begin, end, target, pair_names
            context = RuleInContext(*phrase, before, words[-1], words[-2])
            yield context
            before, words = context.rule, [*words[-2:], *target]
