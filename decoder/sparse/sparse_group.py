"""The declaration of a group of sparse features, and the phrase in context from which its features are named."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from phrasebeam.decoder.sparse.levels import Levels
from phrasebeam.kernels.hashing import combine, mix
from phrasebeam.kernels.jit import inlined_kernel
from phrasebeam.lm.text.vocabulary import BEGIN, END

Scope = Literal["pair", "rule", "orientation", "history"]


class RuleInContext(NamedTuple):
    """A phrase of a derivation with the context on which its sparse features depend, as text."""

    levels: Levels
    combinations: Sequence[Sequence[Sequence[int]]]  # rows of Sparse.combinations, by kind of word edges
    source: Sequence[str]  # the words of the sentence
    tags: Sequence[str]  # their tags, UNCLASSED in models without
    begin: int  # source words, half open
    end: int
    target: Sequence[str]
    pair_names: Sequence[str]  # names of its features in the phrase table
    points: Sequence[Sequence[int]]  # (source, target) positions inside the phrase pair
    before: str  # the rule before, or BEGIN
    previous_begin: int  # its source words, half open; 0:0 at the start
    previous_end: int
    is_monotone: bool  # whether it is so to the rule before
    last: str  # the target word before, or BEGIN
    second_last: str  # the one before that, or BEGIN

    def source_names(self, position: int) -> list[str]:
        """The source word at `position`, from -1 to n for <s>, the words and </s>, and its class at each level."""
        if 0 <= position < len(self.source):
            return self.levels.names("source", self.source[position], self.tags[position])
        boundary = BEGIN if position < 0 else END
        return self.levels.names("source", boundary, boundary)

    @property
    def rule(self) -> str:
        """The name of the rule: the words of both sides."""
        return f"{'_'.join(self.source[self.begin : self.end])}~{'_'.join(self.target)}"


class SparseGroup(NamedTuple):
    """A group of sparse features: all features of one template."""

    name: str  # part of keys and names of its features, and the name of its scale in weights.yaml
    description: str  # one line for users
    # What features depend on: the pair; also the source sentence; also whether the phrase is monotone to the one before
    # and the next one to it; also the phrases before
    scope: Scope
    names: Callable[[RuleInContext], Iterable[str]]  # names of the features of a phrase, in the order of the kernel
    rate: float  # default learning rate in train-maxforce
    rate_name: str = ""  # name of a learning rate that groups share; "": the group's name
    is_switch: bool = True  # whether templates.yaml switches it on by its name
    is_of_levels: bool = False  # whether its features depend on the levels in templates.yaml


@inlined_kernel
def feature_key(h, group_hash):
    """uint64 key of the feature with the hash `h` (uint64) within a group, whose hash is `group_hash` (uint64)."""
    return mix(combine(h, np.int64(group_hash))) | np.uint64(1)
