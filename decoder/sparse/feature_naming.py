"""What sparse features are called: the names of those that a derivation has, in the order in which kernels list them.

A key is a hash, from which no name can be read; so the names are made anew, from the words.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from phrasebeam.decoder.sparse.template_config import Templates
from phrasebeam.decoder.sparse.templates import (
    ABSENT,
    GROUP,
    GROUPS,
    LENGTH,
    PAIR_SPARSE,
    POSITIONS,
    RULE_BIGRAM,
    RULE_HISTORY,
    RULE_ID,
    Levels,
    Sparse,
)
from phrasebeam.lm.text.vocabulary import BEGIN, END

EMPTY_PHRASE = "-"


class NamedRule(NamedTuple):
    """One phrase of a derivation."""

    begin: int  # source words, half open
    end: int
    target: Sequence[str]
    pair_keys: Sequence[int]  # of the features that the phrase table gives it


class FeatureNamer:
    """Names the sparse features of one model."""

    def __init__(self, templates: Templates, levels: Levels, sparse: Sparse, pair_names: Mapping[int, str]):
        """`pair_names` are those of features of the phrase table, by key."""
        self.levels, self.sparse, self.pair_names = levels, sparse, pair_names
        self.labels = ["word", *(level.name for level in templates.levels)]

    def names(self, source: Sequence[str], rules: Sequence[NamedRule]) -> Iterator[str]:
        """The names of all features of a derivation."""
        active, before, words = self.sparse.active, BEGIN, [BEGIN, BEGIN]
        for rule in rules:
            name = self._rule(source, rule)
            if active[PAIR_SPARSE]:
                yield from (self.pair_names.get(key, f"pair_sparse_{key:016x}") for key in rule.pair_keys)
            if active[RULE_ID]:
                yield f"rule_id_{name}"
            yield from self._edges(source, rule)
            if active[RULE_BIGRAM]:
                yield f"rule_bigram_{before}+{name}"
            if active[RULE_HISTORY]:
                last, earlier = (self.levels.names("target", word) for word in words[:-3:-1])
                for column in range(1, len(self.labels)):
                    yield f"rule_history_{name},{self.labels[column]}={earlier[column]}_{last[column]}"
            before, words = name, [*words, *rule.target]

    @staticmethod
    def _rule(source: Sequence[str], rule: NamedRule) -> str:
        return f"{'_'.join(source[rule.begin : rule.end])}~{'_'.join(rule.target)}"

    def _edges(self, source: Sequence[str], rule: NamedRule) -> Iterator[str]:
        """Those of one phrase, see POSITIONS."""
        around, names = [BEGIN, *source, END], self.levels.names
        first, last = (rule.target[0], rule.target[-1]) if rule.target else (None, None)
        at = [
            names("source", source[rule.begin]),
            names("source", source[rule.end - 1]),
            names("target", first) if first is not None else None,
            names("target", last) if last is not None else None,
            names("source", around[rule.begin]),
            names("source", around[rule.end + 1]),
        ]
        for row in self.sparse.combinations.tolist():
            parts = []
            for position, column in zip(POSITIONS, row):
                found = at[POSITIONS.index(position)]
                if column != ABSENT:
                    text = EMPTY_PHRASE if found is None else found[column]
                    parts.append(f"{position}.{self.labels[column]}={text}")
            parts += [f"length={rule.end - rule.begin}"] * row[int(LENGTH)]
            yield f"{GROUPS[row[int(GROUP)]]}_{','.join(parts)}"
