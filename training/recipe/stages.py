"""The kinds of stages: each makes a model in its own directory, from the models of stages before it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from phrasebeam.base.config import Factor, parse_config, save_config
from phrasebeam.base.progress import stage as logged
from phrasebeam.decoder.output.mbr import MOST_COMPARED, Gain, MbrSettings
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.tables.model_files import SEARCH
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.lm.estimate import MIN_ORDER
from phrasebeam.lm.ngrams import MAX_ORDER
from phrasebeam.process.unfinished import unfinished_directory
from phrasebeam.training.clustering.bigrams import read_bigrams
from phrasebeam.training.clustering.word_classes import write_classes
from phrasebeam.training.common.derived_model import Making
from phrasebeam.training.common.settings import CUBE_200, TrainingDataSettings
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.expected_bleu.expected_bleu_model import train_expected_bleu
from phrasebeam.training.joining.joined_model import join_features
from phrasebeam.training.joint_selection.config import RankingConfig
from phrasebeam.training.joint_selection.ranking_model import train_ranking
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.maxforce.maxforce_model import train_maxforce
from phrasebeam.training.metrics.definitions import MetricName
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from phrasebeam.training.model_building.word_alignments import kept_alignments
from phrasebeam.training.recipe.chosen_search import as_carried, tuning_decodings
from phrasebeam.training.recipe.stage import (
    Name,
    RecipeStage,
    StageWork,
    TrainerStage,
    scores_of,
    translated,
    write_changed,
)
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.tune_model import tune_model

BUILDING = 0.5  # time of building a model for each training pair, relative to the time of decoding a sentence
Size = Annotated[int, Field(ge=1, le=MOST_COMPARED)]
EvidenceShare = Annotated[float, Field(ge=0, lt=1)]


class BuildStage(TrainerStage):
    """Builds a model from the bitext: the first stage of all recipes. Later stages of this kind build alternatives."""

    builds: ClassVar[bool] = True

    kind: Literal["train-model"]
    settings: TrainModelConfig = TrainModelConfig()
    word_classes: int = Field(
        0,
        ge=0,
        le=1000,
        description=(
            "number of word classes of the target text, for an additional language model over classes; 0: no such model"
        ),
    )
    class_order: int = Field(7, ge=MIN_ORDER, le=MAX_ORDER, description="length of the longest n-grams of that model")
    search: SearchSettings = Field(CUBE_200, description="search settings of the model, also for later stages")

    def decodings(self, sentences: Mapping[str, int]) -> float:
        """An equivalent: building decodes nothing, but takes as long as decoding so many sentences."""
        return BUILDING * sentences["training"]

    def run(self, work: StageWork) -> None:
        """Build the model; word alignments of the same text in models of earlier stages are not computed again."""
        files = work.files.training
        kept = [
            kept_alignments(work.directory(one.label), one.settings, files.alignment is not None)
            for one in work.earlier
            if isinstance(one, BuildStage) and one.settings.preprocessing == self.settings.preprocessing
        ]
        settings = self._with_word_classes(work) if self.word_classes else self.settings
        # By force: a killed attempt may have left search.yaml beside the model, which counts as added by the user.
        train_model(files.source, files.target, work.output, settings, files.alignment, True, kept)
        save_config(ModelSearch(search=self.search), work.output / SEARCH)

    def _with_word_classes(self, work: StageWork) -> TrainModelConfig:
        """The settings with an additional language model over word classes; makes the classes of target words."""
        path = work.output.with_name(f"{work.output.name}.classes")
        with self._target_tokens(work) as target, logged("counting"):
            bigrams = read_bigrams([target], 1)
        write_classes(path, bigrams, self.word_classes)
        given = self.settings.model_dump(mode="json", exclude_unset=True)
        models = [*given.get("language_models", []), {"classes": str(path), "order": self.class_order}]
        return parse_config(given | {"language_models": models}, TrainModelConfig, "recipe")

    @contextmanager
    def _target_tokens(self, work: StageWork) -> Iterator[Path]:
        """Yield a file with the tokens of the target text; if the text is raw, it is deleted at the end."""
        files, settings = work.files.training, self.settings
        if not settings.preprocessing:
            yield files.target
            return
        from phrasebeam.training.model_building.preprocessing import preprocessed  # slow, see train_model.py

        with (
            unfinished_directory(work.output.parent, "tokens") as directory,
            preprocessed(files.parallel[:2], settings.preprocessing, directory, settings.threads) as tokens,
        ):
            yield tokens[1]


class TuneStage(TrainerStage):
    """Tunes weights on the development data."""

    kind: Literal["tune"]
    settings: TuneConfig = TuneConfig()

    def decodings(self, sentences: Mapping[str, int]) -> float:
        """Number of sentences: the development data in each iteration."""
        return tuning_decodings(self.settings, sentences)

    def run(self, work: StageWork) -> None:
        """Tune the weights."""
        tune_model(work.model, work.tuning, work.output, self.settings)


class ExpectedBleuStage(TrainerStage):
    """Trains scores of phrase pairs on the training data."""

    learns: ClassVar[bool] = True

    kind: Literal["train-expected-bleu"]
    settings: ExpectedBleuConfig = ExpectedBleuConfig()

    def decodings(self, sentences: Mapping[str, int]) -> float:
        """Number of sentences: the training data once, and the development data for each score."""
        n_scores = self.settings.iterations / self.settings.score_every
        return _training(self.settings, sentences) + n_scores * _scoring(self.settings.tune, sentences)

    def run(self, work: StageWork) -> None:
        """Learn the scores."""
        settings = as_carried(self.settings, work.model)
        train_expected_bleu(work.model, work.training(), work.tuning, work.output, settings)


class MaxforceStage(TrainerStage):
    """Trains sparse features on the training data by the perceptron."""

    learns: ClassVar[bool] = True

    kind: Literal["train-maxforce"]
    settings: MaxforceConfig = MaxforceConfig()

    def decodings(self, sentences: Mapping[str, int]) -> float:
        """Number of sentences: all data in each iteration, for each seed."""
        each = _training(self.settings, sentences) + _scoring(self.settings.tune, sentences)
        return len(self.settings.seeds) * self.settings.iterations * each

    def run(self, work: StageWork) -> None:
        """Learn the features."""
        settings = as_carried(self.settings, work.model)
        train_maxforce(work.model, work.training(), work.tuning, work.output, settings)


class RankingStage(TrainerStage):
    """Trains sparse features on the training data by ranking."""

    learns: ClassVar[bool] = True

    kind: Literal["train-ranking"]
    settings: RankingConfig = RankingConfig()

    def decodings(self, sentences: Mapping[str, int]) -> float:
        """Number of sentences: all data in each iteration."""
        each = _training(self.settings, sentences) + _scoring(self.settings.tune, sentences)
        return self.settings.iterations * each

    def run(self, work: StageWork) -> None:
        """Learn the features."""
        settings = as_carried(self.settings, work.model)
        train_ranking(work.model, work.training(), work.tuning, work.output, settings)


class JoinStage(TrainerStage):
    """Adds the sparse features of another stage to a model, and tunes it."""

    kind: Literal["join-features"]
    features: Name = Field(description="name of the stage whose sparse features the model gets")
    settings: TuneConfig = TuneConfig()

    @property
    def others(self) -> list[str]:
        """The stage whose model has the sparse features."""
        return [self.features]

    def decodings(self, sentences: Mapping[str, int]) -> float:
        """Number of sentences: the development data in each iteration of tuning."""
        return tuning_decodings(self.settings, sentences)

    def run(self, work: StageWork) -> None:
        """Join the features, and tune the weights."""
        joined = work.output.with_name(f"{work.output.name}.joined")
        join_features(work.model, work.directory(self.features), joined, is_forced=True)
        tune_model(joined, work.tuning, work.output, self.settings)


class RiskStage(RecipeStage):
    """Chooses the settings of minimum Bayes risk decoding that are best on the development data."""

    kind: Literal["mbr"]
    sizes: list[Size] = Field([200], min_length=1, max_length=10, description="sizes of the n-best lists to try")
    scales: list[Factor] = Field(
        [0.3, 1.0, 3.0], min_length=1, max_length=20, description="scales of model scores to try"
    )
    gains: list[Gain] = Field(["bleu"], min_length=1, max_length=2, description="gains to try, see the section mbr")
    evidence: list[EvidenceShare] = Field(
        [0.0], min_length=1, max_length=10, description="shares of a second model to try, see the section mbr"
    )
    metric: MetricName = Field("bleu", description="metric that compares them")

    @model_validator(mode="after")
    def _evidence_fits(self) -> Self:
        if any(self.evidence) and "chrf++" not in self.gains:
            raise ValueError("evidence needs chrf++ among the gains; add it, or leave out evidence")
        return self

    def by_metric(self, metric: MetricName) -> Self:
        """The same stage with this metric, unless its settings set another one."""
        return self if "metric" in self.model_fields_set else self.model_copy(update={"metric": metric})

    def decodings(self, sentences: Mapping[str, int]) -> float:
        """Number of sentences: the development data for each of the settings that are tried."""
        return float(len(self._tried()) * sentences["development"])

    def run(self, work: StageWork) -> None:
        """Write the same model with the minimum Bayes risk settings that are best on the tuning set."""
        decoder, found = Decoder.load(work.model), []
        for risk in self._tried():
            texts = translated(decoder, work.tuning, work.threads, risk)
            found.append((scores_of(texts, work.tuning, self.metric).quality(self.metric), risk))
        _, best = max(found, key=lambda one: one[0])
        making = Making("mbr", {"mbr": best.model_dump(mode="json")})
        write_changed(work.model, work.output, making, search={"mbr": best})

    def _tried(self) -> list[MbrSettings]:
        """The settings that are tried: all combinations, but a second model only with the gain chrf++."""
        return [
            MbrSettings(size=size, scale=scale, gain=gain, evidence=evidence)
            for size, scale, gain, evidence in product(self.sizes, self.scales, self.gains, self.evidence)
            if gain == "chrf++" or not evidence
        ]


def _training(settings: TrainingDataSettings, sentences: Mapping[str, int]) -> float:
    """Number of sentences in a pass over the training data."""
    return min(sentences["training"], settings.sentences or sentences["training"])


def _scoring(tune: TuneConfig | None, sentences: Mapping[str, int]) -> float:
    """Number of sentences that are decoded to score weights, including those of tuning."""
    return tuning_decodings(tune, sentences) if tune else sentences["development"]
