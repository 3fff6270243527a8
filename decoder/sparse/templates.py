"""The groups of sparse features, the settings that choose them, and the names of the features of a derivation.

To add a template, declare a SparseGroup here, and compute its features in template_kernels.py. Keys are hashes of only
names and words, so the order of the groups may change.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from pydantic import Field, model_validator

from phrasebeam.base.config import Section, section_of
from phrasebeam.decoder.sparse.feature_names import (
    LONGEST_SHAPE,
    Points,
    RuleInContext,
    alignment_names,
    bigram_names,
    class_jump_names,
    deleted_names,
    deletion_names,
    edge_names,
    history_names,
    inserted_names,
    jump_names,
    length_names,
    shape_names,
    word_pair_names,
)
from phrasebeam.decoder.sparse.levels import KIND, KINDS, SIDE_TEXTS, Level, Levels, WordEdges, WordLists, n_word_edges
from phrasebeam.decoder.tables.word_counts import MOST_FREQUENT
from phrasebeam.kernels.hashing import name_hashes
from phrasebeam.lm.text.vocabulary import BEGIN

Scope = Literal["pair", "rule", "orientation", "history"]
MOST_LEVELS = 8
MOST_COMBINATIONS = 100_000  # of words at the edges; each phrase pair has all of them. Yu et al. (2013) have 44,940


class SparseGroup(NamedTuple):
    """A group of sparse features: all features of one template."""

    name: str  # part of keys and names of its features, and the name of its scale in weights.yaml
    description: str  # one line for users
    # What features depend on: the pair; also the source sentence; also the orientations to the previous phrase
    # and of the next one; also the preceding phrases
    scope: Scope
    names: Callable[[RuleInContext], Iterable[str]]  # names of the features of a phrase, in the order of the kernel
    rate: float  # default learning rate in train-maxforce
    rate_name: str = ""  # name of a learning rate shared by several groups; "": the group's own name
    is_switch: bool = True  # whether templates.yaml switches it on by its name
    is_of_levels: bool = False  # whether its features depend on the levels in templates.yaml


PHRASE_GROUPS = (
    SparseGroup(
        "source_bigrams",
        "two adjacent words in the source phrase (Simianer et al. 2012)",
        "rule",
        partial(bigram_names, "source"),
        rate=0.02,
    ),
    SparseGroup(
        "target_bigrams",
        "two adjacent words in the target phrase",
        "rule",
        partial(bigram_names, "target"),
        rate=0.02,
    ),
    SparseGroup(
        "rule_shape",
        f"the lengths of both sides, up to {LONGEST_SHAPE}, the sequences of aligned and unaligned words, and whether "
        "the alignment is monotone or crossing",
        "rule",
        shape_names,
        rate=0.02,
    ),
    SparseGroup(
        "phrase_alignment",
        "the group of words of both sides that are aligned with each other, sorted (Green et al. 2013)",
        "rule",
        alignment_names,
        rate=0.02,
    ),
    SparseGroup(
        "source_deletion",
        f"the tag or class of a content word that is unaligned, or aligned only with the {MOST_FREQUENT} most frequent "
        "words; and one for all of them (Green et al. 2013)",
        "rule",
        deletion_names,
        rate=0.02,
        is_of_levels=True,
    ),
)
WORD_GROUPS = (
    SparseGroup(
        "inserted_words",
        "an unaligned target word: Moses' TargetWordInsertionFeature (Hasler et al. 2011)",
        "rule",
        inserted_names,
        rate=0.02,
    ),
    SparseGroup(
        "deleted_words", "an unaligned source word: Moses' SourceWordDeletionFeature", "rule", deleted_names, rate=0.02
    ),
    SparseGroup(
        "word_pairs",
        "two words aligned with each other: Moses' WordTranslationFeature",
        "rule",
        word_pair_names,
        rate=0.02,
    ),
    SparseGroup(
        "phrase_lengths",
        "the number of words of the source phrase, of the target phrase, and of both: Moses' PhraseLengthFeature",
        "rule",
        length_names,
        rate=0.02,
    ),
)
JUMP_GROUPS = (
    SparseGroup(
        "rule_reordering",
        "the phrase pair, and whether it is monotone to the phrase before; the same for the phrase after",
        "orientation",
        jump_names,
        rate=0.1,
    ),
    SparseGroup(
        "class_reordering",
        "the tags or classes of the source words of a phrase and of the phrase before, and whether the "
        "phrase is monotone to it",
        "history",
        class_jump_names,
        rate=0.02,
        is_of_levels=True,
    ),
)
EDGE_GROUPS = tuple(
    SparseGroup(
        name,
        f"combination of words: {', '.join(SIDE_TEXTS[side] for side in sides)}",
        "rule",
        partial(edge_names, kind),
        rate=1.0,
        rate_name="word_edges",
        is_switch=False,
        is_of_levels=True,
    )
    for kind, (name, sides) in enumerate(KINDS.items())
)
SPARSE_GROUPS = (
    SparseGroup(
        "pair_sparse",
        "features that Moses' phrase tables have for single phrase pairs",
        "pair",
        lambda context: context.pair_names,
        rate=0.0,
        is_switch=False,
    ),
    SparseGroup("rule_id", "the phrase pair", "rule", lambda context: [context.rule], rate=1.0),
    SparseGroup(
        "rule_bigram",
        "the phrase pair together with the one before",
        "history",
        lambda context: [f"{context.before}+{context.rule}"],
        rate=0.1,
    ),
    SparseGroup(
        "rule_history",
        "the phrase pair together with the last two target words, at every level for target words",
        "history",
        history_names,
        rate=0.02,
        is_of_levels=True,
    ),
    *PHRASE_GROUPS,
    *WORD_GROUPS,
    *JUMP_GROUPS,
    *EDGE_GROUPS,
)
GROUPS = tuple(group.name for group in SPARSE_GROUPS)
GROUP_HASHES = name_hashes(GROUPS)  # uint64[len(GROUPS)], part of the keys of a group
# The index of each group by its name, as in INDEX.rule_id; mypy does not know fields that are not written out.
INDEX = cast(Any, namedtuple)("GroupIndex", GROUPS)(*map(np.int64, range(len(GROUPS))))
PAIR_SPARSE, RULE_BIGRAM, RULE_HISTORY = INDEX.pair_sparse, INDEX.rule_bigram, INDEX.rule_history
CLASS_REORDERING = INDEX.class_reordering
FIRST_EDGES = np.int64(GROUPS.index(EDGE_GROUPS[0].name))  # the other kinds of word edges follow
FIRST_PHRASE = np.int64(GROUPS.index(PHRASE_GROUPS[0].name))
FIRST_WORDS = np.int64(GROUPS.index(WORD_GROUPS[0].name))
LAST_PHRASE = np.int64(GROUPS.index(WORD_GROUPS[-1].name))


class _WordTemplates(Section):
    levels: list[Level] = Field(default=[Level(kind="word", budget=5)], max_length=MOST_LEVELS)
    word_edges: WordEdges | None = None
    word_lists: WordLists = WordLists()

    @model_validator(mode="after")
    def _distinct_levels(self) -> "_WordTemplates":
        names = [level.name for level in self.levels]
        if len(set(names)) < len(names) or not names:
            raise ValueError(f"levels are {names}; give one or more, each once")
        n_combinations = n_word_edges(self.word_edges, self.levels) if self.word_edges else 0
        if n_combinations > MOST_COMBINATIONS:
            message = f"word_edges gives {n_combinations} combinations, at most {MOST_COMBINATIONS}"
            raise ValueError(f"{message}; lower its budget or most_words, or leave out levels")
        return self


SWITCHES = {
    group.name: (bool, Field(default=False, description=group.description))
    for group in SPARSE_GROUPS
    if group.is_switch
}
_Switches: Any = section_of("_Switches", SWITCHES, _WordTemplates)


class Templates(_Switches):
    """Settings in templates.yaml: which groups of sparse features a model has; their scales are in weights.yaml."""

    @model_validator(mode="after")
    def _has_classes(self) -> "Templates":
        if self.class_reordering and not any(level.kind in ("classes", "tags") for level in self.levels):
            raise ValueError("class_reordering needs classes of source words; add a level of kind classes or tags")
        return self


def needs_tags(templates: Templates | None) -> bool:
    """Whether source tokens need tags, in models with these templates or, if None, without templates."""
    return templates is not None and any(level.kind == "tags" for level in templates.levels)


class NamedRule(NamedTuple):
    """One phrase of a derivation."""

    begin: int  # source words, half open
    end: int
    target: Sequence[str]
    pair_keys: Sequence[int]  # keys of its features in the phrase table
    points: Points
    span: tuple[int, int] | None = None  # positions of a lattice that it covers; in a text they are begin and end


class FeatureNamer:
    """Names the sparse features of one model."""

    def __init__(self, levels: Levels, active: np.ndarray, combinations: np.ndarray, pair_names: Mapping[int, str]):
        """`active` and `combinations` are those of Sparse, `pair_names` those of the phrase table, by key."""
        self.levels, self.active, self.pair_names = levels, active, pair_names
        rows = combinations.tolist()
        self.combinations = [[row for row in rows if row[int(KIND)] == kind] for kind in range(len(EDGE_GROUPS))]

    def names(
        self,
        source: Sequence[str],
        tags: Sequence[str],
        rules: Sequence[NamedRule],
        groups: np.ndarray,
        wanted: Sequence[int] | None = None,
    ) -> list[str]:
        """The names of all K features of the derivation `rules`, in the order of their `groups` (int64[K]).

        `source` and `tags` are the words and tags of the sentence. With `wanted`, numbers of features, groups that have
        none of these get empty names, which takes less time. Raises ValueError if `groups` are not the groups of its
        features.
        """
        contexts, names = list(self._contexts(source, tags, rules)), [""] * groups.size
        named = range(len(SPARSE_GROUPS)) if wanted is None else {*groups[wanted].tolist()}
        for number, (group, is_active) in enumerate(zip(SPARSE_GROUPS, self.active)):
            if number not in named:
                continue
            places = np.flatnonzero(groups == number)
            found = [*self._of_group(group, contexts)] if is_active else []
            if len(found) != places.size:
                raise ValueError("the numbers of names and features differ; kernels and names of a group disagree")
            for place, name in zip(places.tolist(), found):
                names[place] = name
        return names

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
