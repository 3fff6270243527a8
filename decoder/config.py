"""What a model directory says of itself, the weights, and the limits of the search: the only defaults."""

import math
import re
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from lm.config import Bytes, Section

MODEL_FORMAT = "phrasebeam model 1"
LONGEST_PHRASE = 255  # words that a phrase can have: alignment points are bytes
COVERAGE_WINDOW = 64  # words behind the first gap that a coverage can tell apart

Algorithm = Literal["stack", "cube"]
Orientation = Literal["word", "phrase", "hier"]
Kind = Literal["msd", "mslr", "monotonicity", "leftright"]
N_ORIENTATIONS: dict[Kind, int] = {"msd": 3, "mslr": 4, "monotonicity": 2, "leftright": 2}
Direction = Literal["backward", "forward", "bidirectional"]
Condition = Literal["f", "fe"]
TermPolicy = Literal["exclusive", "inclusive", "constraint"]
Markup = Literal["pass-through", "ignore", TermPolicy]
Oov = Literal["copy", "drop", "mark"]
Prefixes = Literal["longest", "all", "none"]
LeaveOneOut = Literal["drop", "penalty"]

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


class Forcing(Section):
    """What forced decoding looks for where a sentence pair as a whole is not reachable, and when it gives up."""

    prefixes: Prefixes = Field(default="longest", description="prefix pairs, where the whole is not reachable")
    least_prefix: int = Field(default=5, ge=1, description="source words of the shortest prefix pair")
    max_states: int = Field(
        default=1 << 20, ge=1, description="states of a pair that is not too large, which may have 4 nodes each"
    )
    aligned: bool = Field(default=False, description="only phrase pairs that fit the sentence pair's word alignment")


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
    # Features that are there only where they are given a weight:
    early_distortion: Finite | None = None
    bitext_count: Finite | None = None
    unique_rule: Finite | None = None
    length_groups: list[Finite] | None = None
    # Scales of groups of sparse features, see templates.yaml:
    pair_sparse: Finite | None = None
    rule_id: Finite | None = None
    rule_bigram: Finite | None = None
    rule_history: Finite | None = None
    source_edges: Finite | None = None
    target_edges: Finite | None = None
    context_edges: Finite | None = None
    source_target_edges: Finite | None = None
    source_context_edges: Finite | None = None
    target_context_edges: Finite | None = None
    all_edges: Finite | None = None

    @model_serializer(mode="wrap")
    def _without_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {name: value for name, value in serialize(self).items() if value is not None}

    @classmethod
    def required(cls) -> list[str]:
        """The names of the features that every model has."""
        return [name for name, field in cls.model_fields.items() if field.default is not None]


class Mbr(Section):
    """Minimum Bayes risk: the translation of a distinct n-best list with the largest expected BLEU."""

    size: int = Field(default=200, ge=1, description="distinct translations compared")
    scale: float = Field(
        default=1.0, ge=0, allow_inf_nan=False, description="factor of model scores before they become probabilities"
    )


class Decoding(Section):
    """What a configuration file for `translate` may say."""

    search: Search = Search()
    weights: Weights | None = None
    mbr: Mbr | None = None
    input: Reading = Reading()
    memory: Bytes = Field(2 * 2**30, ge=64 * 2**20, description="bytes beyond which mapped files are let go of")


class Importing(Section):
    """How `import-moses` works; the model does not depend on it."""

    memory: Bytes = Field(2 * 2**30, ge=64 * 2**20, description="bytes that building may take, such as 2G")


class Reordering(Section):
    """Which lexicalized reordering model lies beside the phrase table, in the words of Moses' `type`."""

    orientation: Orientation = "word"
    kind: Kind = "msd"
    direction: Direction = "bidirectional"  # to the phrase before, to the one after, or both
    condition: Condition = "fe"  # scores of phrase pairs, or the same for all pairs of a source phrase
    collapse: bool = False  # one weight a direction, instead of one an orientation
    ln_default: list[Finite] = Field(default=[])  # scores of pairs that the table lacks, and of copied words; none: 0
    learned: int = Field(default=0, ge=0)  # how often the columns follow again, with scores that were learned

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
        """Columns of the estimated scores: the orientations of each direction."""
        return len(self.directions) * N_ORIENTATIONS[self.kind]

    @property
    def n_all_columns(self) -> int:
        """Columns of the table."""
        return self.n_columns * (1 + self.learned)

    @property
    def n_weights(self) -> int:
        """Features and their weights; each column of learned scores has its own."""
        return (len(self.directions) if self.collapse else self.n_columns) + self.learned * self.n_columns


class LanguageModelFile(Section):
    """A language model beside the phrase table: its file in the model directory, and for a class model the classes."""

    file: str = "lm.bin"
    classes: str | None = Field(default=None, description="file of lines 'word class'; the model is over classes")


Casing = Literal["truecase", "lowercase", "keep"]

# Their words are not set apart by spaces, and Moses' tokenizer does not segment.
WITHOUT_SPACES = {"bo", "dz", "ja", "km", "lo", "my", "th", "yue", "zh"}


def _language(code: str) -> str:
    if not re.fullmatch("[a-z]{2,3}", code):
        raise ValueError("should be a language code of two or three letters, such as de")
    if code in WITHOUT_SPACES:
        raise ValueError("is written without spaces, which Moses' tokenizer cannot split; give tokenized text")
    return code


Language = Annotated[str, AfterValidator(_language)]


class Preprocessing(Section):
    """How raw text becomes the tokenized text of a model, after Moses' scripts, and back."""

    source_language: Language
    target_language: Language
    normalize: bool = Field(default=True, description="make quotation marks, dashes and spaces ASCII")
    casing: Casing = Field(default="truecase", description="of the tokens: as in mid-sentence, lower, or untouched")
    escape: bool = Field(default=True, description="write & | < > ' \" [ ] as &amp; &#124; ..., as Moses' models do")


class ModelDescription(Section):
    """model.yaml: what a model is and how it was made."""

    format: Literal["phrasebeam model 1"]
    version: str
    signature: str
    sentence_pairs: int
    source_words: int
    target_words: int
    max_source_phrase_length: int = Field(ge=1)
    max_target_phrase_length: int = Field(ge=1, le=LONGEST_PHRASE)
    max_pairs_per_source_phrase: int | None = Field(None, ge=1)  # None in models made before it was counted
    language_model_order: int
    language_models: list[LanguageModelFile] = Field(default=[LanguageModelFile()], min_length=1)
    reordering: Reordering | None
    preprocessing: Preprocessing | None = None  # of raw text; none: the model knows tokenized text alone
    settings: dict[str, object]
    data: dict[str, object]
