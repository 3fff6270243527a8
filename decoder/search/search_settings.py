"""The limits of the search, and their defaults."""

import math
from typing import Literal

from pydantic import Field, model_validator

from phrasebeam.base.config import MOST_COUNTED, Section
from phrasebeam.decoder.input.coverage import COVERAGE_WINDOW

# More would take minutes and gigabytes a sentence; 0 is for those who mean it.
MOST_KEPT, MOST_POPS, MOST_PAIRS = 100_000, 1_000_000, 100_000
Algorithm = Literal["stack", "cube"]


class SearchSettings(Section):
    """Limits of the search; 0 lifts the limit of stack, pops and table, a distortion limit of -1 lifts that one."""

    algorithm: Algorithm = Field(
        default="stack", description="stack: try all that the stacks allow; cube: cube pruning, faster"
    )
    stack: int = Field(
        default=100,
        ge=0,
        le=MOST_KEPT,
        description="hypotheses kept per number of covered words (histogram pruning); 0: all",
    )
    pop_limit: int = Field(
        default=1000, ge=0, le=MOST_POPS, description="hypotheses tried per stack by cube pruning; 0: all"
    )
    beam_threshold: float = Field(
        default=1e-5,
        ge=0,
        lt=1,
        description="drop hypotheses worse than the best of their stack by this factor; 0: none",
    )
    future_cost: bool = Field(default=True, description="compare hypotheses of a stack with their future cost")
    distortion_limit: int = Field(
        default=6, ge=-1, le=MOST_COUNTED, description="longest jump between phrases, in source words; -1: any"
    )
    table_limit: int = Field(default=20, ge=0, le=MOST_PAIRS, description="target phrases per source phrase; 0: all")
    max_phrase_length: int = Field(default=7, ge=1, le=20, description="longest source phrase looked up, in words")

    @model_validator(mode="after")
    def _fits_coverage(self) -> "SearchSettings":
        reach = self.distortion_limit + self.max_phrase_length
        if reach > COVERAGE_WINDOW:
            raise ValueError(
                f"distortion_limit + max_phrase_length is {reach}, at most {COVERAGE_WINDOW}; lower one of them "
                f"(a negative distortion_limit reaches as far as {COVERAGE_WINDOW} words behind the first gap)"
            )
        return self

    @property
    def ln_beam_threshold(self) -> float:
        """ln of the threshold, -inf where there is none."""
        return math.log(self.beam_threshold) if self.beam_threshold > 0 else -math.inf
