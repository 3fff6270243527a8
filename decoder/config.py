"""What a model directory says of itself, the weights, and the limits of the search: the only defaults."""

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from lm.config import Bytes, Section

MODEL_FORMAT = "phrasebeam model 1"
COVERAGE_WINDOW = 64  # words behind the first gap that a coverage can tell apart

Algorithm = Literal["stack", "cube"]
Orientation = Literal["word", "phrase", "hier"]
Kind = Literal["msd", "mslr"]
N_ORIENTATIONS: dict[Kind, int] = {"msd": 3, "mslr": 4}

Finite = Annotated[float, Field(allow_inf_nan=False)]


class Search(Section):
    """Limits of the search; 0 lifts the limit of stack, pops and table, a negative distortion limit lifts that one."""

    algorithm: Algorithm = Field(default="stack", description="try all that the stacks allow, or prune by cubes")
    stack: int = Field(default=100, ge=0, description="hypotheses kept per number of covered words (histogram pruning)")
    pop_limit: int = Field(default=1000, ge=0, description="hypotheses tried per stack by cube pruning")
    beam_threshold: float = Field(
        default=1e-5, ge=0, lt=1, description="hypotheses worse than the best of their stack by this factor are dropped"
    )
    distortion_limit: int = Field(default=6, description="longest jump between phrases, in source words")
    table_limit: int = Field(default=20, ge=0, description="target phrases per source phrase")
    max_phrase_length: int = Field(default=7, ge=1, le=20, description="longest source phrase looked up, in words")

    @model_validator(mode="after")
    def _fits_coverage(self) -> "Search":
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


class Weights(Section):
    """The dense weights; the defaults are Moses' before tuning."""

    translation: list[Finite] = Field(default=[0.2] * 4)
    reordering: list[Finite] = Field(default=[0.3] * 6)
    language_model: Finite = 0.5
    distortion: Finite = 0.3
    word_penalty: Finite = -1.0
    phrase_penalty: Finite = 0.2
    unknown_word_penalty: Finite = 1.0


class Decoding(Section):
    """What a configuration file for `translate` may say."""

    search: Search = Search()
    weights: Weights | None = None
    memory: Bytes = Field(2 * 2**30, ge=64 * 2**20, description="bytes beyond which mapped files are let go of")


class Importing(Section):
    """How `import-moses` works; the model does not depend on it."""

    memory: Bytes = Field(2 * 2**30, ge=64 * 2**20, description="bytes that building may take, such as 2G")


class Reordering(Section):
    """Which lexicalized reordering model lies beside the phrase table; bidirectional, conditioned on both phrases."""

    orientation: Orientation = "word"
    kind: Kind = "msd"


class ModelDescription(Section):
    """model.yaml: what a model is and how it was made."""

    format: Literal["phrasebeam model 1"]
    version: str
    signature: str
    sentence_pairs: int
    source_words: int
    target_words: int
    max_source_phrase_length: int
    max_target_phrase_length: int
    max_pairs_per_source_phrase: int | None = None  # None in models made before it was counted
    language_model_order: int
    reordering: Reordering | None
    settings: dict[str, object]
    data: dict[str, object]
