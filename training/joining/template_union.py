"""The union of the templates of two models, which is possible if their features have the same keys in it."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.sparse.levels import Level, WordLists
from phrasebeam.decoder.sparse.sparse_files import save_templates
from phrasebeam.decoder.sparse.templates import SPARSE_GROUPS, SWITCHES, Templates
from phrasebeam.lm.text.word_classes import read_word_classes

SIDES = "source", "target"
LISTED = {  # group whose features a word list limits to some words, by the name of the list in templates.yaml
    "inserted": "inserted_words",
    "deleted": "deleted_words",
    "pair_source": "word_pairs",
    "pair_target": "word_pairs",
}
OF_CLASS = "source_deletion", "class_reordering"  # these groups depend only on the level Levels.class_column
OF_LEVELS = [group.name for group in SPARSE_GROUPS if group.is_switch and group.is_of_levels]


class GivenTemplates(NamedTuple):
    """Templates; paths of their maps of word classes may be relative to `directory`."""

    templates: Templates
    directory: Path
    name: str  # of the model or the settings with these templates, for messages

    @property
    def needs_class(self) -> bool:
        """Whether any of the features depends on the level of tags or classes."""
        return any(getattr(self.templates, name) for name in OF_CLASS)

    @property
    def needs_levels(self) -> bool:
        """Whether any of the features depends on all levels."""
        names = set(OF_LEVELS) - set(OF_CLASS)
        return self.templates.word_edges is not None or any(getattr(self.templates, name) for name in names)

    @property
    def class_levels(self) -> list[Level]:
        """The level of tags, or else that of classes, with full paths; [] if there is neither."""
        found = [level for kind in ("tags", "classes") for level in self.placed_levels if level.kind == kind]
        return found[:1]

    @property
    def placed_levels(self) -> list[Level]:
        """The levels, with full paths of their maps."""
        levels = []
        for level in self.templates.levels:
            paths = {side: getattr(level, side) for side in SIDES}
            update = {side: str(self.directory / path) for side, path in paths.items() if path}
            levels.append(level.model_copy(update=update))
        return levels


def union_of(one: GivenTemplates, other: GivenTemplates) -> Templates:
    """The groups of both, with full paths of maps. Raises ConfigError if the keys of features of one would change.

    Features of deleted source words can exist without tags or classes; in the union they have those of its levels.
    """
    leveled = max(one, other, key=lambda given: (given.needs_levels, given.needs_class and bool(given.class_levels)))
    rest = other if leveled is one else one
    if rest.needs_levels and not _are_same(one.placed_levels, other.placed_levels):
        raise _differs("levels", one, other)
    if rest.needs_class and rest.class_levels and not _are_same(one.class_levels, other.class_levels):
        raise _differs("levels of tags or classes", one, other)
    edges = one.templates.word_edges, other.templates.word_edges
    if all(edges) and edges[0] != edges[1]:
        raise _differs("word_edges", one, other)
    update = {name: getattr(one.templates, name) or getattr(other.templates, name) for name in SWITCHES}
    update |= {"word_edges": edges[0] or edges[1], "levels": leveled.placed_levels}
    return one.templates.model_copy(update=update | {"word_lists": _word_lists(one, other)})


def save_with_classes(templates: Templates, directory: Path) -> None:
    """Write templates.yaml to `directory`, and copies of the word class maps that it names. Raises FormatError."""
    levels = []
    for i, level in enumerate(templates.levels):
        update = {}
        for side in SIDES:
            path = getattr(level, side)
            if path:
                read_word_classes(path)  # raises FormatError if the file is not a map of word classes
                update[side] = f"classes.{i}.{side}"
                shutil.copyfile(path, directory / update[side])
        levels.append(level.model_copy(update=update))
    save_templates(directory, templates.model_copy(update={"levels": levels}))


def _word_lists(one: GivenTemplates, other: GivenTemplates) -> WordLists:
    """The word list of each group, taken from whichever model has it."""
    lists = {}
    for name, group in LISTED.items():
        given = [getattr(of.templates.word_lists, name) for of in (one, other) if getattr(of.templates, group)]
        if len(given) > 1 and given[0] != given[1]:
            raise _differs(f"word_lists.{name}", one, other)
        lists[name] = given[0] if given else None
    return WordLists(**lists)


def _are_same(levels: Sequence[Level], others: Sequence[Level]) -> bool:
    """Whether levels, given with full paths, are the same; maps are compared by content."""

    def content(level: Level) -> tuple[object, ...]:
        paths = [getattr(level, side) for side in SIDES]
        maps = [Path(path).read_bytes() if path else b"" for path in paths]
        return level.model_copy(update=dict.fromkeys(SIDES, "")), *maps

    return [*map(content, levels)] == [*map(content, others)]


def _differs(what: str, one: GivenTemplates, other: GivenTemplates) -> ConfigError:
    mend = "expected the same, since both have features of them"
    return ConfigError(f"{one.name}, {other.name}: {what} of templates differ; {mend}")
