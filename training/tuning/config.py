"""Settings of tuning: the only defaults."""

from typing import Annotated, Literal

from pydantic import Field

from decoder.config import Search
from lm.config import Section
from training.bleu import ReferenceLength
from training.metrics import MetricName

SparseTuning = Literal["scales", "weights"]
Method = Literal["mert", "pro", "mira-chiang", "mira-batch", "mira-corpus"]


class Mert(Section):
    """Minimum error rate training (Och 2003)."""

    restarts: int = Field(12, ge=0, description="random starting points besides the weights before")
    noise: float = Field(0.1, ge=0, description="of these: deviation of the scores that it adds, relative to theirs")
    coordinates: int = Field(50, ge=0, description="lines along single features in each round, drawn if there are more")
    directions: int = Field(10, ge=0, description="random directions besides these in each round")
    min_gain: float = Field(1e-4, ge=0, description="in score, which is at most 1; a round must bring more")


class Pro(Section):
    """Pairwise ranking optimization; the letters are those of Hopkins & May (2011)."""

    samples: int = Field(5000, ge=1, description="Gamma: pairs drawn from each list")
    kept: int = Field(50, ge=1, description="Xi: those with the largest differences that are kept")
    threshold: float = Field(0.05, ge=0, description="alpha: least difference in sentence score")
    interpolation: float = Field(0.1, gt=0, le=1, description="Psi: share of the new weights")
    penalty: float = Field(1.0, ge=0, description="of the weights' squares, against the loss of a pair")
    steps: int = Field(100, ge=1, description="of L-BFGS, at most")


class MiraBatch(Section):
    """Batch MIRA (Cherry & Foster 2012)."""

    c: float = Field(0.01, gt=0, description="largest step")
    decay: float = Field(0.999, ge=0, lt=1, description="of the pseudo-corpus, a sentence")
    epochs: int = Field(60, ge=1)


class MiraChiang(Section):
    """MIRA with several constraints a sentence (Chiang et al. 2008), in batches as in Tan et al. (2013)."""

    c: float = Field(0.01, gt=0, description="sum of the multipliers of a sentence")
    decay: float = Field(0.9, ge=0, lt=1, description="of the pseudo-document, a sentence")
    epochs: int = Field(40, ge=1)
    candidates: int = Field(10, ge=1, description="best by each of: score, score + gain, score - gain")
    tolerance: float = Field(1e-3, gt=0, description="by which constraints may be violated")


class MiraCorpus(Section):
    """Corpus-level MIRA (Tan et al. 2013)."""

    c: float = Field(0.1, gt=0, description="largest step")
    epochs: int = Field(400, ge=1)
    gains: Literal["corpus", "sentence"] = Field(
        "corpus", description="hope and fear by the score of the corpus, or of each sentence alone, as in the paper"
    )


class AddedFeatures(Section):
    """Features that the model has not and that begin with weight 0."""

    length_groups: int | None = Field(None, ge=1, le=20, description="longest phrase in group features")
    bitext_count: bool = False
    unique_rule: bool = False
    early_distortion: bool = False


class TuneConfig(Section):
    """Everything that `tune` can be told besides its files."""

    method: Method = "mira-batch"
    iterations: int = Field(30, ge=1, description="of decoding and optimizing, at most")
    nbest: int = Field(200, ge=1, description="hypotheses of each sentence and iteration")
    distinct: bool = Field(True, description="with different texts")
    seeds: list[Annotated[int, Field(ge=0)]] = Field(
        [1], min_length=1, description="a run each; the best on the development set is kept"
    )
    c: list[float] = Field([], description="of the MIRA methods: a run each, in place of the method's own")
    metric: MetricName = "bleu"
    lowercase: bool = Field(False, description="ignore case in the metric")
    reference_length: ReferenceLength = Field("closest", description="of several references, for BLEU")
    fixed: list[str] = Field(["unknown_word_penalty"], description="features that keep their weights")
    sparse: SparseTuning = Field("scales", description="of a model's sparse features: those of groups, or each its own")
    add: AddedFeatures = AddedFeatures()
    min_new: float = Field(0.001, ge=0, lt=1, description="stop when fewer of an iteration's hypotheses are new")
    search: Search = Search()
    mert: Mert = Mert()
    pro: Pro = Pro()
    mira_batch: MiraBatch = MiraBatch()
    mira_chiang: MiraChiang = MiraChiang()
    mira_corpus: MiraCorpus = MiraCorpus()
    threads: int = Field(2, ge=1)

    def scored_as(self, config: Section) -> "TuneConfig":
        """The settings with those of another trainer for what all scoring shares."""
        names = ("metric", "lowercase", "reference_length", "threads")
        return self.model_copy(update={name: getattr(config, name) for name in names})

    def with_c(self, c: float) -> "TuneConfig":
        """The settings with another C in all MIRA methods."""
        names = ("mira_batch", "mira_chiang", "mira_corpus")
        return self.model_copy(update={name: getattr(self, name).model_copy(update={"c": c}) for name in names})
