"""Settings that trainers share, of scores and of decoding the training data; which of them a signature includes."""

from typing import Annotated

from pydantic import Field, model_validator

from phrasebeam.base.config import MOST_COUNTED, WITHOUT_EFFECT, Section, Threads
from phrasebeam.base.memory_bound import MemorySettings
from phrasebeam.decoder.input.sentence_input import LEAVE_ONE_OUT, LeaveOneOut
from phrasebeam.decoder.model.language_model_folds import MOST_FOLDS
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.levels import Level, WordEdges
from phrasebeam.decoder.sparse.templates import Templates
from phrasebeam.training.metrics.bleu import ReferenceLength
from phrasebeam.training.metrics.definitions import MetricName

MOST_RUNS = 100  # runs of one command; each has its own seed or factor
MOST_HYPOTHESES = 10_000  # hypotheses of a sentence; products of all pairs of them take 800 MB
MOST_NAMES = 1_000_000  # names of features in memory
LARGEST_BATCH = 100_000  # sentences whose updates are in memory together
CUBE_200 = SearchSettings(algorithm="cube", pop_limit=200, stack=200)
# The sparse features that help most on small data, see docs/experiments/perceptron-settings.md.
RULES_AND_EDGES = Templates(
    rule_id=True,
    word_edges=WordEdges(budget=10, most_words=2),
    levels=[
        Level(kind="word", budget=5),
        Level(kind="characters", budget=3, prefix=4),
        Level(kind="type", budget=1),
    ],
)
Iterations = Annotated[int, Field(ge=1, le=1000)]  # each has an entry in the progress file, which is read as a whole


class ScoringSettings(MemorySettings):
    """Settings of translating and scoring development data, and the bound on memory."""

    metric: MetricName = Field("bleu", description="metric to optimize, which also chooses the best weights")
    lowercase: bool = Field(False, description="ignore case in all scores")
    reference_length: ReferenceLength = Field("closest", description="which of several reference lengths BLEU uses")
    threads: Annotated[Threads, WITHOUT_EFFECT] = 2


class TrainingDataSettings(Section):
    """Settings of decoding the training data: which sentence pairs, and with which leave-one-out."""

    leave_one_out: LeaveOneOut | None = Field("drop", description=LEAVE_ONE_OUT)
    lm_folds: int = Field(
        5,
        ge=0,
        le=MOST_FOLDS,
        description="number of folds of the data; each has a language model that was trained without it; 0: none",
    )
    sentences: int = Field(
        0, ge=0, le=MOST_COUNTED, description="number of sentence pairs to use, from the start of the data; 0: all"
    )
    max_words: int = Field(100, ge=1, le=MOST_COUNTED, description="leave out source sentences with more words")

    @model_validator(mode="after")
    def _has_folds(self) -> "TrainingDataSettings":
        if self.lm_folds == 1:
            raise ValueError("lm_folds is 1; give 2 or more, or 0 for the model's own language model")
        return self


def settings_with_effect(config: Section) -> dict[str, object]:
    """The settings of a run as JSON, for its signature: those marked WITHOUT_EFFECT are left out."""
    fields = type(config).model_fields.items()
    return config.model_dump(mode="json", exclude={name for name, field in fields if WITHOUT_EFFECT in field.metadata})


def changed_settings(config: Section) -> dict[str, object]:
    """The settings that differ from the defaults, as JSON for users; without threads, workers and memory."""
    return config.model_dump(mode="json", exclude_defaults=True, exclude={"threads", "workers", "memory"})
