"""Runs all stages of a recipe, one after the other: each is made, scored, and kept or dropped.

A stage is made again only if something that it depends on has changed. DIR is the resulting model. DIR/recipe has
stages/NAME, the models of the stages, with their own checkpoints; data/, the parts of the development data; run.yaml,
the work done so far; report.md.
"""

import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from phrasebeam.base.config import Count, Section, load_config, save_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import write_lines
from phrasebeam.base.progress import board, log
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.tables.model_files import ALIGNMENT, MODEL
from phrasebeam.decoder.tables.provenance import check_work, file_digests, signature
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.process.directory_lock import alone_in_output
from phrasebeam.process.interruption import goes_on_in
from phrasebeam.system.memory_use import peak_memory
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.bitext.tokenized_files import write_tokens
from phrasebeam.training.common.derived_model import Making
from phrasebeam.training.common.gain import Gain
from phrasebeam.training.common.kept_translations import keep_development
from phrasebeam.training.metrics.definitions import MetricName
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import with_capitals
from phrasebeam.training.model_building.word_alignments import check_alignments
from phrasebeam.training.recipe.recipe import Recipe
from phrasebeam.training.recipe.recipe_screen import RecipeScreen
from phrasebeam.training.recipe.score_table import score_cells, shown_metrics
from phrasebeam.training.recipe.stage import (
    RecipeStage,
    SetScores,
    StageWork,
    clear_stage,
    scores_of,
    translated,
    write_changed,
)
from phrasebeam.training.recipe_texts.dictionary import read_dictionary, with_entries
from phrasebeam.training.recipe_texts.recipe_data import (
    NO_DEVELOPMENT,
    CleanedData,
    DividedData,
    RecipeFiles,
    TwinData,
    check_lengths,
    cleaned,
    divided,
    of_one_spelling,
    with_held_out,
    without_twins,
)
from phrasebeam.training.recipe_texts.seen_sentences import Seen, check_enough_unseen, seen_in_training, without_seen

WORK = "recipe"
KEPT_ADVICE = "their scores are higher than those of new text; --leave-out-seen leaves them out"
WITHOUT_EFFECT = ("threads", "workers", "memory")


class StageRecord(Section):
    """A stage in run.yaml: signature, time, scores."""

    signature: str  # of everything that the stage depends on
    work: str = ""  # signature without settings that may change during a training, such as the number of iterations
    start: str = ""  # the stage with whose model it began
    is_done: bool = False
    seconds: float = Field(0.0, ge=0)  # time of the attempt that finished the stage
    peak: Count = 0  # peak memory of the process at the end of the stage, in bytes
    deciding: SetScores | None = None
    test: SetScores | None = None
    is_kept: bool = False


def short_cells(record: StageRecord, metric: MetricName) -> list[str]:
    """Scores on the deciding sentences and on the test set; "" for each that is missing."""
    return [cell for scores in (record.deciding, record.test) for cell in score_cells(scores, shown_metrics(metric))]


class RecipeState(Section):
    """The content of run.yaml: the stages that were begun, by name."""

    format: Literal["phrasebeam recipe 2"] = "phrasebeam recipe 2"
    stages: dict[str, StageRecord] = Field({})


class RecipeResult(NamedTuple):
    """The stages of a finished run, with their scores."""

    stages: dict[str, StageRecord]  # by name, in their order
    best: str  # the stage whose model is written
    sentences: dict[str, int]  # number of sentences of the training, development and test data
    seen: dict[str, int]  # number of development and test sentences that are also in the training data
    twins: str  # message on pairs that repeat others
    metric: MetricName = "bleu"  # decides which stages are kept
    is_raw: bool = False  # whether the text is raw; scores are then those of raw text
    cleaning: Sequence[str] = ()  # messages on training pairs left out and on repairs
    is_held_out: bool = False  # whether the development data are held-out training pairs

    @property
    def decided(self) -> str:
        """The stage whose scores decided which model is used: the best one, or, if that is not scored, its start."""
        record = self.stages[self.best]
        return self.best if record.deciding else record.start

    def signatures(self, metrics: Collection[str]) -> list[str]:
        """Sacrebleu's signatures of the scores by these metrics, each after the name of its metric."""
        deciding = self.stages[self.decided].deciding  # scores and signatures are in the same order
        named = zip(deciding.scores, deciding.signatures.items()) if deciding else []
        return [f"{name}|{signature}" for metric, (name, signature) in named if metric in metrics]

    @property
    def gain(self) -> Gain:
        """Scores of the resulting model and of the first stage's model, on the deciding sentences."""
        first = next(iter(self.stages))
        names = first, self.decided
        before, best = (one.scores[self.metric] if (one := self.stages[name].deciding) else 0.0 for name in names)
        return Gain(
            self.metric, before, best, "" if self.decided == first else f"stage {self.decided}", f"stage {first}"
        )


@alone_in_output
def run_recipe(files: RecipeFiles, output: Path, recipe: Recipe, threads: int, is_forced: bool = False) -> RecipeResult:
    """Make the model of a recipe in `output`; work that exists for the same recipe and files is not done again.

    Raises SmtError or OSError; if files are missing or differ in length, before any work.
    """
    check_work(output)
    if not (output / WORK).exists() and (output / MODEL).exists() and not is_forced:
        raise ConfigError(
            f"{output}: a model that was not made by a recipe; give --force to replace it, or another --output"
        )
    texts = {f"text {i}": path for i, path in enumerate(recipe.language_model_texts, 1)}
    digests, sentences, seen = file_digests(texts), check_lengths(files), seen_in_training(files)
    recipe = recipe.refitting(files.development is None)
    if files.development is None and not recipe.dev_folds:
        raise ConfigError(NO_DEVELOPMENT)
    for built in recipe.builds:
        check_alignments(built.settings, files.training.alignment)
    if recipe.leave_out_seen:
        check_enough_unseen(files, seen)
    for name, found in seen.items():
        if any(found):
            known = f"{sum(found):,} of {len(found):,} {name} sentences are in the training data"
            log.warning("%s", f"{known}, and left out" if recipe.leave_out_seen else f"{known}, too; {KEPT_ADVICE}")
    if not (state := output / WORK / "run.yaml").exists():
        save_config(RecipeState(), state)  # the first file: it identifies the directory as that of a recipe
    recipe, clean = _cleaned(files, recipe, output / WORK / "data")
    read = _read(clean.files, recipe, seen, output / WORK / "data")
    sentences |= check_lengths(read.files) | {"training": clean.n_kept or sentences["training"]}
    if clean.entries:
        read = with_entries(read, clean.entries, output / WORK / "data" / "with-dictionary")
    run, screen = _Run(read, output, recipe, threads, digests), RecipeScreen(recipe, sentences)
    with board(screen):
        for number, stage in enumerate(recipe.stages, 1):
            left = screen.left()
            log.info("stage %d of %d: %s%s", number, len(recipe.stages), stage.label, f", {left}" if left else "")
            screen.begin()
            record = run.make(stage)
            screen.finish(stage.label, short_cells(record, recipe.metric), run.best, record.seconds)
    run.write()
    stages = {name: run.records[name] for name in (stage.label for stage in recipe.stages)}
    n_seen = {name: sum(found) for name, found in seen.items()}
    is_held_out = read.files.held_out_of is not None
    told = read.note, recipe.metric, recipe.is_raw, clean.notes, is_held_out
    return RecipeResult(stages, run.best, sentences, n_seen, *told)


def _cleaned(files: RecipeFiles, recipe: Recipe, directory: Path) -> tuple[Recipe, CleanedData]:
    """The recipe for cleaned texts, and these texts: training data of one spelling, entries of the dictionary."""
    settings = recipe.builds[0].settings
    clean = cleaned(files, settings, directory)
    if recipe.varieties == "largest":
        clean = of_one_spelling(clean, directory / "spelling")
    clean = read_dictionary(clean, settings, directory / "dictionary")

    def of_clean_text(built: TrainModelConfig) -> TrainModelConfig:
        built = built.model_copy(update={"clean": False})
        # Sentences decide whether translations begin with capitals, not the entries after them
        return with_capitals(built, clean.files.training.target) if clean.entries else built

    return recipe.with_builds(of_clean_text), clean


def _read(files: RecipeFiles, recipe: Recipe, seen: Seen, directory: Path) -> TwinData:
    """The texts as stages read them, made from the cleaned `files`; without development data, pairs are held out."""
    if recipe.leave_out_seen:
        files = without_seen(files, seen, directory)
    read = without_twins(files, recipe.twins, directory)
    if files.development is not None or recipe.dev_folds is None:
        return read
    held_out = with_held_out(read.files, recipe.dev_folds, recipe.dev_sentences, directory / "held-out")
    if read.left_out is None or not any(stage.learns for stage in recipe.stages):
        return read._replace(files=held_out, left_out=None)  # its line numbers are those of the files before
    again = recipe.twins.model_copy(update={"left_out_of": "learning"})
    return without_twins(held_out, again, directory / "held-out")._replace(note=read.note)


class _Run:
    """The stages of a run so far; makes further stages."""

    def __init__(
        self, read: TwinData, output: Path, recipe: Recipe, threads: int, texts: Mapping[str, Mapping[str, str]]
    ):
        """`texts`: digests of additional texts of language models."""
        self.files, self.left_out = read.files, read.left_out
        self.output, self.recipe, self.threads = output, recipe, threads
        self.work = output / WORK
        goes_on_in(self.work)
        self.records = load_config(self.work / "run.yaml", RecipeState).stages
        self.digests = {**texts, **file_digests(self.files.by_name)}
        self.learned_from = file_digests({"left out": self.left_out}) if self.left_out else {}
        self.best = ""
        self.data: DividedData | None = None

    def directory(self, name: str) -> Path:
        """The directory of the model of a stage."""
        return self.work / "stages" / name

    def make(self, stage: RecipeStage) -> StageRecord:
        """Make the model of a stage, unless it exists; score it, and keep it if it is the best."""
        name, start = stage.label, "" if stage.builds else stage.start or self.best
        whole, work = (self._signature(stage, start, is_whole) for is_whole in (True, False))
        before = self.records.get(name)
        is_same = before is not None and before.signature == whole
        record = before if before and is_same else StageRecord(signature=whole, work=work, start=start)
        if not record.is_done:
            if before is not None and before.work != work:  # otherwise the stage continues
                clear_stage(self.directory(name))
            self._save(name, record)
            record = self._made(stage, record)
        if self.data is None:
            self.data = self._divided(self.directory(name))
        if record.deciding is None and record.test is None:
            record = self._scored(stage, record)
        is_best = not (stage.is_scored and self.best) or self._is_better(record, stage.may_lose)
        self._save(name, record.model_copy(update={"is_kept": is_best}))
        if is_best:
            self.best = name
            log.info("%s: kept, %s", name, self._told(name))
        else:
            log.info("%s: dropped, %s; %s has %s", name, self._told(name), self.best, self._told(self.best))
        return self.records[name]

    def _is_better(self, record: StageRecord, may_lose: float) -> bool:
        """Whether the deciding score of a stage is above the best so far minus `may_lose` points."""
        return self._quality(record) > self._quality(self.records[self.best]) - may_lose

    def _made(self, stage: RecipeStage, record: StageRecord) -> StageRecord:
        name, begun = stage.label, time.perf_counter()
        model, output = self.directory(record.start) if record.start else Path(), self.directory(name)
        output.parent.mkdir(parents=True, exist_ok=True)
        earlier = list(takewhile(lambda one: one is not stage, self.recipe.stages))
        texts = self.files, partial(self._training, model), self.data
        stage.run(StageWork(model, output, *texts, self.threads, earlier, self.directory))
        seconds = time.perf_counter() - begun
        made = record.model_copy(update={"is_done": True, "seconds": seconds, "peak": peak_memory()})
        self._save(name, made)
        return made

    def _scored(self, stage: RecipeStage, record: StageRecord) -> StageRecord:
        name, found = stage.label, {}
        decoder = Decoder.load(self.directory(name))
        tokenization = Tokenization.of_model(self.directory(name), self.recipe.is_raw)
        for kind, data in (("deciding", self._data.deciding), ("test", self._data.test)):
            if data is not None and (stage.is_scored or kind == "test"):
                texts = translated(decoder, data, self.threads, tokenization=tokenization)
                write_lines(self.work / f"{name}.{kind}", texts)
                found[kind] = scores_of(texts, data, self.recipe.metric, self.recipe.is_raw)
        return record.model_copy(update=found)

    def write(self) -> None:
        """Write the best model to the directory of the recipe."""
        made = {"recipe": self.recipe.model_dump(mode="json", exclude_unset=True), "stage": self.best}
        gain = f"{self._told(self.best)} on the development sentences that decide"
        write_changed(self.directory(self.best), self.output, Making("train", made, gain=gain))

    @property
    def _data(self) -> DividedData:
        return self.data or self._divided(Path())

    def _divided(self, model: Path) -> DividedData:
        """The development and test data as stages read them; if raw, the tuning part is tokenized by `model`."""
        directory = self.work / "data"
        directory.mkdir(exist_ok=True)
        text, deciding = divided(self.files.tuned_on, self.recipe.held_out, directory)
        keep_development(self.work, deciding.source, deciding.references)
        tuning = text
        if self.recipe.is_raw:
            tuning = write_tokens(text, Tokenization.of_model(model), directory / "tuning.tokens")
        return DividedData(tuning, text, deciding, self.files.test)

    def _training(self, start: Path) -> BitextFiles:
        """The training data as stages read them; of raw text, these are tokens, with the alignment of `start`."""
        if not self.recipe.is_raw:
            return replace(self.files.training, alignment=None, left_out=self.left_out)
        model = self.directory(self.recipe.stages[0].label)
        tokens = write_tokens(self.files.training, Tokenization.of_model(model), self.work / "data" / "training.tokens")
        return replace(tokens, alignment=start / ALIGNMENT, left_out=self.left_out)

    def _signature(self, stage: RecipeStage, start: str, is_whole: bool) -> str:
        """Signature of the stage's settings, of the models from which it is made, and of all texts that these use."""
        signed = stage.signed(is_whole).items()
        settings = {
            "kind": stage.kind,
            "held_out": self.recipe.held_out,
            "more": stage.model_dump(mode="json", exclude={"name", "settings", "start", "may_lose"}),
            "settings": {name: value for name, value in signed if name not in WITHOUT_EFFECT},
            "models": [self.records[one].signature for one in (*([start] if start else []), *stage.others)],
        }
        unread = ("test", "develop") if stage.builds else ("test",)
        ours = {name: one for name, one in self.digests.items() if not name.startswith(unread)}
        if stage.learns:
            ours |= self.learned_from
        return signature(settings, ours)

    def _save(self, name: str, record: StageRecord) -> None:
        self.records = {**self.records, name: record}
        save_config(RecipeState(stages=self.records), self.work / "run.yaml")

    def _deciding(self, record: StageRecord) -> SetScores | None:
        """The scores of a stage on the sentences that decide; of a stage without scores, those of its start."""
        return record.deciding or (self.records[record.start].deciding if record.start else None)

    def _quality(self, record: StageRecord) -> float:
        deciding = self._deciding(record)
        return deciding.quality(self.recipe.metric) if deciding else -math.inf

    def _told(self, name: str) -> str:
        """The scores of a stage on the sentences that decide, in words."""
        deciding = self._deciding(self.records[name])
        scores = deciding.scores if deciding else {}
        return ", ".join(f"{one} {scores[one]:.2f}" for one in shown_metrics(self.recipe.metric) if one in scores)
