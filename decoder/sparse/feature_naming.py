"""Names of the sparse features of a derivation.

Keys are hashes, from which no name can be read, so each group makes the names from the words of the derivation.
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
    pair_keys: Sequence[int]  # keys of its features in the phrase table
    points: Sequence[Sequence[int]]  # (source, target) positions inside the phrase pair
    span: tuple[int, int] | None = None  # positions in a lattice that it covers; of a text they are begin and end


class FeatureNamer:
    """Names the sparse features of one model."""

    def __init__(self, levels: Levels, sparse: Sparse, pair_names: Mapping[int, str]):
        """`pair_names` are the names of features in the phrase table, by key."""
        self.levels, self.active, self.pair_names = levels, sparse.active, pair_names
        rows = sparse.combinations.tolist()
        self.combinations = [[row for row in rows if row[int(KIND)] == kind] for kind in range(len(EDGE_GROUPS))]

    def names(
        self, source: Sequence[str], tags: Sequence[str], rules: Sequence[NamedRule], groups: np.ndarray
    ) -> list[str]:
        """The names of all K features of the derivation `rules`, in the order of their `groups` (int64[K]).

        `source` and `tags` are the words and tags of the sentence. Raises ValueError if these are not the groups of its
        features.
        """
        contexts = list(self._contexts(source, tags, rules))
        names_by_group = [
            deque(self._of_group(group, contexts)) if is_active else deque[str]()
            for group, is_active in zip(SPARSE_GROUPS, self.active)
        ]
        if np.bincount(groups, minlength=len(SPARSE_GROUPS)).tolist() != [len(names) for names in names_by_group]:
            raise ValueError("there are not as many names as features; kernels and names of a group differ")
        return [names_by_group[group].popleft() for group in groups.tolist()]

    @staticmethod
    def _of_group(group: SparseGroup, contexts: Sequence[RuleInContext]) -> Iterator[str]:
        prefix = "" if group.scope == "pair" else f"{group.name}_"
        for context in contexts:
            yield from (f"{prefix}{name}" for name in group.names(context))

    def _contexts(
        self, source: Sequence[str], tags: Sequence[str], rules: Sequence[NamedRule]
    ) -> Iterator[RuleInContext]:
        before, previous, position, words = BEGIN, (0, 0), 0, [BEGIN, BEGIN]
        for begin, end, target, keys, points, span in rules:
            is_monotone, position = (span or (begin, end))[0] == position, (span or (begin, end))[1]
            pair_names = [self.pair_names.get(key, f"pair_sparse_{key:016x}") for key in keys]
            phrase = self.levels, self.combinations, source, tags, begin, end, target, pair_names, points
            context = RuleInContext(*phrase, before, *previous, is_monotone, words[-1], words[-2])
            yield context
            before, previous, words = context.rule, (begin, end), [*words[-2:], *target]
