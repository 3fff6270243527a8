"""A recipe with other seeds than its own, to see how much of its scores is chance."""

from typing import TypeVar

from phrasebeam.base.config import Section

S = TypeVar("S", bound=Section)


def with_seeds(section: S, more: int) -> S:
    """The settings with `more` added to each seed in them, at any depth: of alignments, of tuning, of trainers."""
    changed = {}
    for name in type(section).model_fields:
        value = getattr(section, name)
        other = _changed(value, more, name in ("seed", "seeds"))
        if other != value:
            changed[name] = other
    return section.model_copy(update=changed)


def _changed(value: object, more: int, is_seed: bool) -> object:
    if isinstance(value, Section):
        return with_seeds(value, more)
    if isinstance(value, list):
        return [_changed(one, more, is_seed) for one in value]
    return value + more if is_seed and isinstance(value, int) else value
