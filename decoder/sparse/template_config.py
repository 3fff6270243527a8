"""The settings in templates.yaml: which sparse features a model has; groups that it does not name are absent."""

from typing import Any

from pydantic import Field, model_validator

from phrasebeam.base.config import Section, section_of
from phrasebeam.decoder.sparse.levels import Level, WordLists
from phrasebeam.decoder.sparse.templates import SPARSE_GROUPS
from phrasebeam.decoder.sparse.word_edges import WordEdges, n_word_edges

MOST_LEVELS = 8
MOST_COMBINATIONS = 100_000  # of words at the edges; each phrase pair has them all. Yu et al. (2013) have 44,940


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
    """Groups of sparse features; the scale of each stands in weights.yaml."""

    @model_validator(mode="after")
    def _has_classes(self) -> "Templates":
        if self.class_reordering and not any(level.kind in ("classes", "tags") for level in self.levels):
            raise ValueError("class_reordering is of classes of source words; give levels one of kind classes or tags")
        return self


def needs_tags(templates: Templates | None) -> bool:
    """Whether source tokens have tags, in models with these templates or, if None, without any."""
    return templates is not None and any(level.kind == "tags" for level in templates.levels)
