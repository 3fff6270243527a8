"""What a model directory says of itself, the weights, and the limits of the search: the only defaults."""

import math
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from lm.config import Section

MODEL_FORMAT = "phrasebeam model 1"
COVERAGE_WINDOW = 64  # words behind the first gap that a coverage can tell apart

Algorithm = Literal["stack", "cube"]
Orientation = Literal["word", "phrase", "hier"]
Kind = Literal["msd", "mslr"]
TermPolicy = Literal["exclusive", "inclusive", "constraint"]
Markup = Literal["pass-through", "ignore", TermPolicy]
Oov = Literal["copy", "drop", "mark"]
N_ORIENTATIONS: dict[Kind, int] = {"msd": 3, "mslr": 4}

Finite = Annotated[float, Field(allow_inf_nan=False)]
# One number stands for a list of one.
OneOrMore = Annotated[list[Finite], BeforeValidator(lambda value: [value] if isinstance(value, int | float) else value)]


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


class Reading(Section):
    """How source sentences are read, with Moses' words for it."""

    markup: Markup = Field(
        default="pass-through",
        description="translations of terms in the input: none, plain text; exclusive, nothing else for their words; "
        "inclusive, beside the phrase table's; constraint, what phrases over their words must contain; ignore",
    )
    oov: Oov = Field(default="copy", description="words that are no phrase: copy; drop if without digits; or mark")
    oov_prefix: str = Field(default="UNK", pattern=r"^\S*$", description="before a marked word")
    oov_suffix: str = Field(default="", pattern=r"^\S*$", description="behind it")


class Weights(Section):
    """The dense weights; the defaults are Moses' before tuning."""

    translation: list[Finite] = Field(default=[0.2] * 4)
    reordering: list[Finite] = Field(default=[0.3] * 6)
    language_model: OneOrMore = Field(default=[0.5], description="one for each language model")
    distortion: Finite = 0.3
    word_penalty: Finite = -1.0
    phrase_penalty: Finite = 0.2
    unknown_word_penalty: Finite = 1.0


class Decoding(Section):
    """What a configuration file for `translate` may say."""

    search: Search = Search()
    weights: Weights | None = None
    input: Reading = Reading()


class Reordering(Section):
    """Which lexicalized reordering model lies beside the phrase table; bidirectional, conditioned on both phrases."""

    orientation: Orientation = "word"
    kind: Kind = "msd"


class LanguageModelFile(Section):
    """A language model beside the phrase table: its file in the model directory, and for a class model the classes."""

    file: str = "lm.bin"
    classes: str | None = Field(default=None, description="file of lines 'word class'; the model is over classes")


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
    language_model_order: int
    language_models: list[LanguageModelFile] = Field(default=[LanguageModelFile()], min_length=1)
    reordering: Reordering | None
    settings: dict[str, object]
    data: dict[str, object]
