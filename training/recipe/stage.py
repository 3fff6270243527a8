"""The common part of all kinds of stages of a recipe: input, settings, scores of models, writing of models."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

from pydantic import Field, StringConstraints

from phrasebeam.base.config import Section, save_config
from phrasebeam.base.files import read_lines
from phrasebeam.base.progress import stage as logged
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.marked_text.tokenization import TOKENIZED, Tokenization
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.tables.model_files import SEARCH
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.process.unfinished import remove
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.derived_model import DerivedModel, Making
from phrasebeam.training.common.settings import ScoringSettings, settings_with_effect
from phrasebeam.training.metrics.definitions import METRICS, MetricName
from phrasebeam.training.metrics.evaluation import EvaluationOptions, evaluate_texts
from phrasebeam.training.recipe_texts.recipe_data import DividedData, RecipeFiles

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=40)]
REPORTED = ("bleu", "chrf++", "ter", "wer", "cer", "accuracy")  # metrics in reports, besides that of the recipe
S = TypeVar("S", bound=Section)


class StageWork(NamedTuple):
    """The input of a stage: models, texts, threads."""

    model: Path  # the model with which it begins; unused by stages that build a model from the bitext
    output: Path
    files: RecipeFiles
    training: Callable[[], BitextFiles]  # makes the training data for stages that learn from them
    data: DividedData | None  # None in the first stage
    threads: int
    earlier: Sequence["RecipeStage"]  # the stages before it
    directory: Callable[[str], Path]  # the directory of the model of a stage, by name

    @property
    def tuning(self) -> BitextFiles:
        """The development data to tune on."""
        return self.data.tuning if self.data else self.files.tuned_on

    @property
    def tuning_text(self) -> BitextFiles:
        """The development data to tune on as they were given, perhaps raw."""
        return self.data.tuning_text if self.data else self.files.tuned_on


class RecipeStage(Section):
    """A stage: its name, that of the kind unless given, and the model that it begins with."""

    builds: ClassVar[bool] = False  # whether it builds a model from the texts alone, without an initial model
    learns: ClassVar[bool] = False  # whether it learns from the training data
    is_scored: ClassVar[bool] = True  # whether the deciding sentences score it; a stage without scores is always kept

    name: Name | Literal[""] = Field(
        "", description="name of the stage in reports and directories; by default its kind"
    )
    start: Name | None = Field(None, description="name of the stage whose model it starts from; null: the best so far")
    kind: str
    may_lose: float = Field(
        0.0,
        ge=-100,
        le=100,
        description="points of the deciding metric that it may lose and still be kept, for stages that are at a "
        "disadvantage on sentences that were tuned on; if negative, points that it must gain",
    )

    @property
    def label(self) -> str:
        """The name in reports and directories."""
        return self.name or self.kind

    @property
    def others(self) -> list[str]:
        """Names of the stages whose models it needs, besides the model with which it begins."""
        return []

    def decodings(self, sentences: Mapping[str, int]) -> float:
        """An upper estimate of the number of sentences that it decodes.

        `sentences`: number of sentences of the "training" and of the "development" data.
        """
        raise NotImplementedError

    def run(self, work: StageWork) -> None:
        """Make the model in `work.output`, or continue unfinished work there. Raises SmtError or OSError."""
        raise NotImplementedError

    def within(self, bounds: Mapping[str, int]) -> Self:
        """The same stage with these bounds on threads and on bytes of memory, by name."""
        return self

    def by_metric(self, metric: MetricName) -> Self:
        """The same stage with this metric, if it uses a metric and its settings do not set another one."""
        return self

    def signed(self, is_whole: bool) -> dict[str, Any]:
        """The settings that affect the model; unless `is_whole`, without those that may change during a training."""
        return self.model_dump(mode="json", exclude={"name", "may_lose"})


class TrainerStage(RecipeStage):
    """A stage of a trainer, whose section of settings it has."""

    if TYPE_CHECKING:  # a field of each subclass, of a type of its own

        @property
        def settings(self) -> Section:
            """The settings of the trainer."""

    def within(self, bounds: Mapping[str, int]) -> Self:
        """The same stage with those of the bounds on threads and memory that the trainer has as settings."""
        known = {name: value for name, value in bounds.items() if name in type(self.settings).model_fields}
        return self.model_copy(update={"settings": self.settings.model_copy(update=known)})

    def by_metric(self, metric: MetricName) -> Self:
        """The same stage with this metric, if the trainer uses a metric and its settings do not set another one."""
        if not isinstance(self.settings, ScoringSettings) or "metric" in self.settings.model_fields_set:
            return self
        return self.model_copy(update={"settings": self.settings.model_copy(update={"metric": metric})})

    def signed(self, is_whole: bool) -> dict[str, Any]:
        """The settings of the trainer."""
        return self.settings.model_dump(mode="json") if is_whole else settings_with_effect(self.settings)


def write_changed(
    model: Path, output: Path, making: Making, weights: Weights | None = None, search: Mapping[str, Any] = {}
) -> None:
    """Write a copy of a model to `output`, with these sections of search.yaml, and with other weights if given."""
    output.mkdir(parents=True, exist_ok=True)
    carried = {**ModelSearch.of(model).model_dump(exclude_unset=True), **search}
    opened = open_model(model)
    save_config(ModelSearch.model_validate(carried), output / SEARCH)
    DerivedModel(model, opened, output, output, {}).write(weights or opened.weights, making, [SEARCH])


def tried_in(output: Path) -> Path:
    """The directory for the temporary work of a stage whose model is in `output`."""
    return output.with_name(f"{output.name}.tried")


def clear_stage(output: Path) -> None:
    """Delete a stage's results and unfinished work, so that the stage starts again."""
    remove(tried_in(output))
    remove(output)


class SetScores(Section):
    """Scores of one set by metric, as in sacrebleu: of tokens, or of raw text with sacrebleu's tokenizer."""

    scores: dict[str, float]
    intervals: dict[str, float]  # half of the 95 % confidence interval by bootstrap
    signatures: dict[str, str] = Field({})  # of the metrics, by the names that sacrebleu gives them

    def quality(self, metric: MetricName) -> float:
        """The score with the sign that makes higher scores better."""
        return self.scores[metric] if METRICS[metric].scale > 0 else -self.scores[metric]


def translated(
    decoder: Decoder,
    data: BitextFiles,
    threads: int,
    risk: MbrSettings | None = None,
    tokenization: Tokenization = TOKENIZED,
) -> list[str]:
    """Translate the sentences of a set; with settings `risk`, by minimum Bayes risk decoding."""
    texts, request = [], Request(mbr=risk) if risk else decoder.request
    lines = read_lines(data.source)
    inputs = list(tokenization.sentences(lines, "pass-through", data.source, decoder.model.has_tags))
    with (
        logged("decode", len(inputs), "sentences") as advance,
        closing(decoder.answer_all(inputs, request, threads)) as answers,
    ):
        for given, answer in zip(inputs, answers):
            texts.append(tokenization.text_of(answer.translation, given))
            advance(1)
    return texts


def scores_of(texts: list[str], data: BitextFiles, metric: MetricName = "bleu", is_raw: bool = False) -> SetScores:
    """Scores of translations by `metric` and all REPORTED metrics, as published: of tokens or raw text.

    Raises SmtError.
    """
    references = [[line.rstrip() for line in read_lines(path)] for path in data.references]
    names = tuple(dict.fromkeys((metric, *REPORTED)))
    options = EvaluationOptions(names, "13a" if is_raw else "none", confidence=True)
    evaluation = evaluate_texts({"": texts}, references, options)
    results = {name: one for name, (one,) in zip(names, evaluation.results.values(), strict=True)}
    intervals = {name: one.interval or 0.0 for name, one in results.items()}
    scores = {name: one.score for name, one in results.items()}
    return SetScores(scores=scores, intervals=intervals, signatures=dict(evaluation.signatures))


def with_seeds(section: S, more: int) -> S:
    """The settings with `more` added to all seeds in them, at any depth: of alignments, of tuning, of trainers."""
    changed = {}
    for name in type(section).model_fields:
        value = getattr(section, name)
        other = _changed(value, more, name in ("seed", "seeds"))
        if other != value:
            changed[name] = other
    return section.model_copy(update=changed)


def _changed(value: object, more: int, is_seed: bool) -> object:
    if isinstance(value, Section):
        return with_seeds(value, more)
    if isinstance(value, list):
        return [_changed(one, more, is_seed) for one in value]
    return value + more if is_seed and isinstance(value, int) else value
