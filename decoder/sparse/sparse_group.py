"""What is declared of a group of sparse features, and what the names of its features are made of."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from phrasebeam.decoder.sparse.levels import Levels

Scope = Literal["pair", "rule", "history"]


class RuleInContext(NamedTuple):
    """A phrase of a derivation with all that its sparse features see, as text."""

    levels: Levels
    combinations: Sequence[Sequence[Sequence[int]]]  # rows of Sparse.combinations, by kind of word edges
    source: Sequence[str]  # the sentence
    begin: int  # source words, half open
    end: int
    target: Sequence[str]
    pair_names: Sequence[str]  # of the features that the phrase table gives it
    before: str  # the rule before, or BEGIN
    last: str  # the target word before, or BEGIN
    second_last: str  # the one before that, or BEGIN

    @property
    def rule(self) -> str:
        """What the rule is called: the words of both sides."""
        return f"{'_'.join(self.source[self.begin : self.end])}~{'_'.join(self.target)}"


class SparseGroup(NamedTuple):
    """A group of sparse features: all that one template makes."""

    name: str  # which their keys and names begin with, and weights.yaml calls their scale
    description: str  # one line for users
    scope: Scope  # of the phrase pair; of the pair in its sentence; of it and what comes before
    names: Callable[[RuleInContext], Iterable[str]]  # of the features of a phrase, in the order of the kernel
    rate: float  # default learning rate in train-maxforce
    rate_name: str = ""  # of groups that share a learning rate; "": the group's own name
    is_switch: bool = True  # whether templates.yaml says by the group's name if a model has it
