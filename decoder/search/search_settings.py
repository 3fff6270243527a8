"""The limits of the search, and their defaults."""

import math
from typing import Literal

from pydantic import Field, model_validator

from phrasebeam.base.config import MOST_COUNTED, Section
from phrasebeam.decoder.input.coverage import COVERAGE_WINDOW

# More would take minutes and gigabytes a sentence; 0 (no limit) is for those who mean it.
MOST_KEPT, MOST_POPS, MOST_PAIRS = 100_000, 1_000_000, 100_000
Algorithm = Literal["stack", "cube"]


class SearchSettings(Section):
    """Limits of the search. 0 means no limit for stack, pops and table, and -1 for the distortion limit."""

    algorithm: Algorithm = Field(
        default="stack", description="stack: extend all hypotheses of each stack; cube: cube pruning, which is faster"
    )
    stack: int = Field(
        default=100,
        ge=0,
        le=MOST_KEPT,
        description=(
            "stack size: number of hypotheses kept for each number of covered words (histogram pruning); 0: no limit"
        ),
    )
    pop_limit: int = Field(
        default=1000,
        ge=0,
        le=MOST_POPS,
        description="number of hypotheses that cube pruning builds per stack; 0: no limit",
    )
    beam_threshold: float = Field(
        default=1e-5,
        ge=0,
        lt=1,
        description="prune hypotheses whose probability is below that of the best in the stack times this factor "
        "(threshold pruning); 0: none",
    )
    future_cost: bool = Field(default=True, description="compare the hypotheses of a stack with their future cost")
    distortion_limit: int = Field(
        default=6, ge=-1, le=MOST_COUNTED, description="maximum distortion in source words; -1: no limit"
    )
    table_limit: int = Field(
        default=20, ge=0, le=MOST_PAIRS, description="maximum number of target phrases per source phrase; 0: no limit"
    )
    max_phrase_length: int = Field(default=7, ge=1, le=20, description="maximum length of source phrases, in words")

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
        """Natural logarithm of the beam threshold, -inf without a threshold."""
        return math.log(self.beam_threshold) if self.beam_threshold > 0 else -math.inf
