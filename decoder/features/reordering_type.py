"""The type of a lexicalized reordering model, as in Moses' `type`: orientation, classes, direction, condition."""

from typing import Literal

from pydantic import Field, model_validator

from phrasebeam.base.config import Section
from phrasebeam.decoder.features.dense_feature import Finite

Orientation = Literal["word", "phrase", "hier"]
Kind = Literal["msd", "mslr", "monotonicity", "leftright"]
N_ORIENTATIONS: dict[Kind, int] = {"msd": 3, "mslr": 4, "monotonicity": 2, "leftright": 2}
Direction = Literal["backward", "forward", "bidirectional"]
Condition = Literal["f", "fe"]


class Reordering(Section):
    """The type of the lexicalized reordering model of a phrase table, with the terms of Moses' `type`."""

    orientation: Orientation = "word"
    kind: Kind = "msd"
    direction: Direction = "bidirectional"  # orientation to the preceding phrase, to the following one, or to both
    condition: Condition = "fe"  # scores of phrase pairs, or the same for all pairs of a source phrase
    collapse: bool = False  # one weight for each direction, instead of one for each orientation
    ln_default: list[Finite] = Field(default=[])  # scores of copied words and of pairs that the table lacks; []: 0
    learned: int = Field(default=0, ge=0, le=100)  # how many times columns of learned scores follow

    @model_validator(mode="after")
    def _default_fits(self) -> "Reordering":
        if self.ln_default and len(self.ln_default) != self.n_columns:
            raise ValueError(f"ln_default has {len(self.ln_default)} scores, the table has {self.n_columns} columns")
        return self

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions in the order of their columns."""
        return ("backward", "forward") if self.direction == "bidirectional" else (self.direction,)

    @property
    def n_columns(self) -> int:
        """Number of columns of estimated scores: the orientations of each direction."""
        return len(self.directions) * N_ORIENTATIONS[self.kind]

    @property
    def n_all_columns(self) -> int:
        """Number of columns of the table, those of learned scores included."""
        return self.n_columns * (1 + self.learned)

    @property
    def sizes(self) -> list[int]:
        """Number of features of the estimated scores, then of each further set of columns of learned scores."""
        return [len(self.directions) if self.collapse else self.n_columns, *[self.n_columns] * self.learned]

    @property
    def n_weights(self) -> int:
        """Number of features; each column of learned scores is one."""
        return sum(self.sizes)
