"""A translation as users see it: text, score, feature values, phrases, word alignment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple


class Phrase(NamedTuple):
    """One phrase of a translation. Spans are half-open, in words of the source sentence and of the translation."""

    source: str
    target: str
    source_span: tuple[int, int]
    target_span: tuple[int, int]
    alignment: tuple[tuple[int, int], ...]  # (source, target) positions in the sentence and the translation
    is_copied: bool  # an unknown word, copied or marked; a dropped word has an empty target
    is_fallback: bool = False  # words of the prefix that no phrase pair produces, assigned to a source word
    is_unknown: bool = False  # whether no phrase pair has the source word: it is copied, or translated in another way


@dataclass(frozen=True, eq=False, repr=False)
class Translation:
    """The best derivation of a sentence. Scores are natural logarithms; higher is better.

    Phrases and features are computed when they are first used or pickled, because most callers need only the text.
    """

    text: str
    score: float  # the model score: weights times features
    find_features: Callable[[], dict[str, float | list[float]]]
    find_phrases: Callable[[], tuple[Phrase, ...]]
    sparse: Mapping[int, float] = field(default_factory=dict)  # values of sparse features by key, if requested
    sparse_names: Mapping[int, str] = field(default_factory=dict)  # names of these and others, if requested
    confidences: tuple[float, ...] = ()  # the probability of each word of the text, if requested

    @cached_property
    def features(self) -> dict[str, float | list[float]]:
        """Feature values, named as in weights.yaml."""
        return self.find_features()

    @cached_property
    def phrases(self) -> tuple[Phrase, ...]:
        """The phrase pairs, in target order."""
        return self.find_phrases()

    @property
    def alignment(self) -> list[tuple[int, int]]:
        """Sorted (source, target) positions of aligned words."""
        return sorted(point for phrase in self.phrases for point in phrase.alignment)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Translation) and self._all() == other._all()

    __hash__ = None  # type: ignore[assignment]

    def _all(self) -> tuple[object, ...]:
        return self.text, self.score, self.features, self.phrases, self.sparse, self.sparse_names, self.confidences

    def __reduce__(self) -> tuple[object, ...]:
        return found_translation, self._all()

    def __repr__(self) -> str:
        return f"Translation({self.text!r}, score={self.score}, features={self.features}, phrases={self.phrases})"

    def __str__(self) -> str:
        return self.text


def found_translation(
    text: str,
    score: float,
    features: dict[str, float | list[float]],
    phrases: tuple[Phrase, ...],
    sparse: Mapping[int, float],
    sparse_names: Mapping[int, str],
    confidences: tuple[float, ...] = (),
) -> Translation:
    """The translation with these features and phrases, for pickling."""
    return Translation(text, score, lambda: features, lambda: phrases, sparse, sparse_names, confidences)
