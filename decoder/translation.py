"""What a translation is for people: text, score, feature values, phrases, word alignment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Phrase(NamedTuple):
    """One phrase of a translation; spans are half open, in words of the source sentence and of the translation."""

    source: str
    target: str
    source_span: tuple[int, int]
    target_span: tuple[int, int]
    alignment: tuple[tuple[int, int], ...]  # (source, target) positions in the sentence and the translation
    is_copied: bool  # an unknown word, taken over as it is, or marked; the target of a dropped one is empty
    is_made_up: bool = False  # words of the prefix that no phrase pair gives, put where a source word stands


@dataclass(frozen=True)
class Translation:
    """The best derivation of a sentence; natural-log scores, higher is better."""

    text: str
    score: float  # the model score: weights times features
    features: dict[str, float | list[float]]  # by the names of weights.yaml
    phrases: tuple[Phrase, ...]  # in target order
    sparse: Mapping[int, float] = field(default_factory=dict)  # values of sparse features by key, where asked for
    sparse_names: Mapping[int, str] = field(default_factory=dict)  # what they are called, and others, where asked for

    @property
    def alignment(self) -> list[tuple[int, int]]:
        """Sorted (source, target) positions of aligned words."""
        return sorted(point for phrase in self.phrases for point in phrase.alignment)

    def __str__(self) -> str:
        return self.text
