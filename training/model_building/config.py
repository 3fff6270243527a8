"""Settings of `train-model`, with their defaults, and the checks that they do not contradict each other."""

from typing import Literal

from pydantic import Field, model_validator

from phrasebeam.base.config import FileName, Section, Threads
from phrasebeam.base.memory_bound import MemorySettings
from phrasebeam.decoder.features.reordering_type import Condition, Direction, Kind, Orientation, Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings, TextLanguages
from phrasebeam.decoder.tables.score_codes import ScoreSettings
from phrasebeam.decoder.tables.score_smoothing import Method
from phrasebeam.lm.ngrams import MAX_ORDER
from phrasebeam.training.bitext.cleaning import CleaningSettings, PairCleaner, pair_cleaner
from phrasebeam.training.word_alignment.alignment_settings import AlignmentConfig

N_SCORES = 4  # scores of a phrase pair, see ln_scores in piece_scoring.py
OPERATION_WEIGHTS = [0.1, 0.0, 0.0]  # weights of ln p, gaps and backward jumps before tuning


class Phrases(ScoreSettings):
    """Which phrase pairs are extracted, how their probabilities are smoothed, and how their scores are stored."""

    max_length: int = Field(7, ge=1, le=20, description="maximum phrase length of either side, in words")
    agreement: int = Field(
        1, ge=1, le=100, description="how many of several word alignments must be consistent with a phrase pair"
    )
    smoothing: Literal[Method, "none"] = Field(
        "none", description="smoothing of p(f|e) and p(e|f); none: relative frequencies"
    )


class ReorderingConfig(Section):
    """Type of the lexicalized reordering model; orientation `none` builds no model."""

    orientation: Orientation | Literal["none"] = Field(
        "word",
        description="how the orientation is determined: by the adjacent word, the adjacent phrase, or (hier) the "
        "block of all phrases before (Galley & Manning 2008)",
    )
    kind: Kind = Field(
        "msd",
        description="set of orientations. msd: monotone, swap, discontinuous; mslr: discontinuous to the left and "
        "to the right are distinct; monotonicity: monotone or not; leftright: to the left or to the "
        "right",
    )
    direction: Direction = Field(
        "bidirectional",
        description="orientation relative to the phrase before (backward), to the next phrase (forward), or both",
    )
    condition: Condition = Field(
        "fe", description="probabilities for each phrase pair (fe), or for each source phrase (f)"
    )
    collapse: bool = Field(False, description="one weight for each direction instead of one for each orientation")

    @property
    def model(self) -> Reordering | None:
        """The reordering model as model.yaml describes it; None for orientation `none`."""
        return None if self.orientation == "none" else Reordering(**self.model_dump())

    @property
    def n_weights(self) -> int:
        """Number of reordering features; 0 without a reordering model."""
        return self.model.n_weights if self.model else 0


class LanguageModelConfig(Section):
    """The first language model, estimated from the target side of the bitext and from additional text."""

    order: int = Field(4, ge=2, le=MAX_ORDER, description="length of the longest n-grams")
    text: list[FileName] = Field(
        [], description="files with additional target-language sentences, raw or tokenized like the bitext"
    )


class FurtherLanguageModelConfig(Section):
    """An additional language model: of other text, over word classes, or both."""

    order: int | None = Field(
        None, ge=2, le=MAX_ORDER, description="length of the longest n-grams; none: as in the first model"
    )
    text: list[FileName] = Field(
        [],
        description=(
            "files with target-language sentences, raw or tokenized like the bitext; none: those of the first model"
        ),
    )
    classes: FileName | None = Field(
        None, description="file with word classes, as `cluster` writes it; other words are unknown"
    )

    @model_validator(mode="after")
    def _differs(self) -> "FurtherLanguageModelConfig":
        if not self.text and not self.classes:
            raise ValueError("neither text nor classes, expected one of them or both")
        return self


class OperationsConfig(Section):
    """An operation sequence model: a language model over the operations that generate both sides of the bitext."""

    order: int = Field(5, ge=2, le=MAX_ORDER, description="length of the longest n-grams of operations")


class TrainModelConfig(MemorySettings):
    """Settings of `train-model`."""

    preprocessing: RawTextSettings | None = Field(
        None, description="tokenization of raw text; none: the text is tokenized already"
    )
    languages: TextLanguages | None = Field(
        None, description="languages of tokenized text, for servers and documents; raw text has its own setting"
    )
    clean: bool | None = Field(
        None, description="leave out bad sentence pairs and repair characters; none: only in raw text"
    )
    cleaning: CleaningSettings = CleaningSettings()
    alignment: AlignmentConfig = AlignmentConfig()
    more_alignments: list[AlignmentConfig] = Field(
        [],
        max_length=20,
        description=(
            "more word alignments of the same text with other settings; phrase pairs are extracted from all of them"
        ),
    )
    phrases: Phrases = Phrases()
    reordering: ReorderingConfig = ReorderingConfig()
    language_model: LanguageModelConfig = LanguageModelConfig()
    language_models: list[FurtherLanguageModelConfig] = Field(
        [], description="additional language models, each with its own weight"
    )
    operations: OperationsConfig | None = Field(
        None, description="an operation sequence model (Durrani et al. 2011); none: no such model"
    )
    weights: Weights = Weights()
    threads: Threads = 2

    @model_validator(mode="after")
    def _weights_fit(self) -> "TrainModelConfig":
        expected, found = self.reordering.n_weights, len(self.starting_weights.reordering)
        if found != expected:
            what = ", ".join(f"{name} {value}" for name, value in self.reordering.model_dump().items())
            raise ValueError(f"weights.reordering has {found} weights, the reordering model ({what}) needs {expected}")
        found = len(self.starting_weights.translation)
        if found != N_SCORES:
            raise ValueError(f"weights.translation has {found} weights, the table {N_SCORES} scores")
        expected, found = 1 + len(self.language_models), len(self.starting_weights.language_model)
        if found != expected:
            raise ValueError(f"weights.language_model has {found} weights, the model has {expected} language models")
        return self

    @property
    def is_cleaned(self) -> bool:
        """Whether the text is cleaned."""
        return self.preprocessing is not None if self.clean is None else self.clean

    @property
    def cleaner(self) -> PairCleaner:
        """The cleaner of the text."""
        return pair_cleaner(self.cleaning, self.preprocessing)

    @property
    def starting_weights(self) -> Weights:
        """`weights` with the number of default weights that the model's scores, reordering and language models need."""
        default, update = Weights(), dict[str, list[float]]()
        if self.weights.translation == default.translation:
            update["translation"] = default.translation[:1] * N_SCORES
        if self.weights.reordering == default.reordering:
            update["reordering"] = default.reordering[:1] * self.reordering.n_weights
        if self.weights.language_model == default.language_model:
            n_models = 1 + len(self.language_models)  # all share one default weight; else translations are too short
            update["language_model"] = [weight / n_models for weight in default.language_model] * n_models
        if self.operations and self.weights.operations is None:
            update["operations"] = OPERATION_WEIGHTS
        return self.weights.model_copy(update=update)
