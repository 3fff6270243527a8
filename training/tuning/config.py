"""Settings of tuning, with all their defaults."""

from typing import Annotated, Literal

from pydantic import Field

from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.training.common.settings import WITHOUT_EFFECT, ScoringSettings, Seed
from phrasebeam.training.tuning.added_features import AddedFeatures
from phrasebeam.training.tuning.methods.methods import Method, MethodSettings

SparseTuning = Literal["scales", "weights"]


class TuneConfig(MethodSettings, ScoringSettings):
    """Everything that `tune` can be told besides its files."""

    method: Method = "mira-batch"
    iterations: Annotated[int, WITHOUT_EFFECT] = Field(30, ge=1, description="of decoding and optimizing, at most")
    nbest: int = Field(200, ge=1, description="hypotheses of each sentence and iteration")
    distinct: bool = Field(True, description="with different texts")
    seeds: Annotated[list[Seed], WITHOUT_EFFECT] = Field(
        [1], min_length=1, description="a run each; the best on the development set is kept"
    )
    c: Annotated[list[float], WITHOUT_EFFECT] = Field(  # it is in the name of the run
        [], description="of the MIRA methods: a run each, in place of the method's own"
    )
    fixed: list[str] = Field(["unknown_word_penalty"], description="features that keep their weights")
    sparse: SparseTuning = Field("scales", description="of a model's sparse features: those of groups, or each its own")
    add: AddedFeatures = AddedFeatures()
    min_new: float = Field(0.001, ge=0, lt=1, description="stop when fewer of an iteration's hypotheses are new")
    search: SearchSettings = SearchSettings()

    def with_c(self, c: float) -> "TuneConfig":
        """The settings with another C in all MIRA methods."""
        names = ("mira_batch", "mira_chiang", "mira_corpus")
        return self.model_copy(update={name: getattr(self, name).model_copy(update={"c": c}) for name in names})
