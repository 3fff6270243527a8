"""Reads the files of a training run for its report: settings, curves, weights and translations of its iterations."""

import csv
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.config import load_config
from phrasebeam.base.errors import ConfigError, FormatError, excerpt
from phrasebeam.base.files import check_regular, read_lines
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import ModelDescription, open_description
from phrasebeam.decoder.tables.model_files import MODEL, WORK_DIRECTORIES
from phrasebeam.training.common.kept_translations import KeptSet, kept_development, kept_lines, kept_translations
from phrasebeam.training.common.work import FILE, BegunWork
from phrasebeam.training.metrics.definitions import METRICS
from phrasebeam.training.recipe.recipe import Recipe
from phrasebeam.training.recipe.recipe_run import RecipeState, StageRecord

CURVE = "curve.csv"
RECIPE = "recipe"  # the directory of `train` in its model
SHELL, YAML = "```sh", "```yaml"  # lines before the command and before the settings in the report of a recipe
NUMBER = "iteration"  # the column of a curve with the number of the iteration
Row = dict[str, float | None]  # a number for each column; None for an empty cell


class Curve(NamedTuple):
    """The iterations of the runs of a training, from one curve.csv."""

    name: str  # of its directory, relative to the work
    runs: dict[str, list[Row]]  # rows by name of the run; the name is "" if there is only one run


class RunParts(NamedTuple):
    """Stored weights and translations of one run."""

    name: str  # of its directory, relative to the work
    weights: dict[int, Weights]  # dense weights, by iteration
    translations: dict[int, list[str]]  # of the development set, by iteration


class TrainingWork(NamedTuple):
    """The work of a trainer."""

    directory: Path
    begun: BegunWork
    curves: list[Curve]
    runs: list[RunParts]
    development: KeptSet | None

    @property
    def ended(self) -> str:
        """The time (UTC) at which its newest curve was written; "" if there is none."""
        times = [path.stat().st_mtime for path in self.directory.rglob(CURVE)]
        return datetime.fromtimestamp(max(times), UTC).isoformat(" ", "seconds") if times else ""


def is_lower_better(work: TrainingWork) -> bool:
    """Whether the metric of a run is an error rate."""
    metric = str(work.begun.settings.get("metric", ""))
    return metric in METRICS and METRICS[metric].scale < 0


class RunDirectory(NamedTuple):
    """A training directory."""

    directory: Path
    description: ModelDescription | None  # of the resulting model; None if it was not written yet
    works: list[TrainingWork]
    recipe: "RecipeScores"  # if the directory is that of `train`


class RecipeScores(NamedTuple):
    """The content of a recipe's report; empty if there is no report."""

    tables: list[list[list[str]]]  # each is a list of rows of cells, the header first
    notes: list[str]
    command: str  # the command line
    settings: str  # of the recipe
    stages: dict[str, StageRecord]  # by name
    translations: dict[str, list[str]]  # of the deciding sentences, by name of the stage
    deciding: KeptSet | None
    metric: str  # decides which stages are kept

    @property
    def kept_translations(self) -> dict[str, list[str]]:
        """Translations of the first stage, and of the last stage that was kept."""
        kept = [name for name in self.translations if self.stages[name].is_kept]
        return {name: self.translations[name] for name in [*self.translations][:1] + kept[-1:]}


def find_training(directory: Path) -> RunDirectory:
    """Find the training in `directory`, an output of a trainer or its work directory.

    Raises SmtError if there is none.
    """
    check_regular(directory)
    places = [directory, *(directory / name for name in WORK_DIRECTORIES), *_stage_works(directory)]
    works = [_work(place) for place in places if (place / FILE).is_file()]
    description = open_description(directory, is_verified=False) if (directory / MODEL).is_file() else None
    if not works and description is None:
        raise ConfigError(
            f"{directory}: not a training run; expected the output directory of tune, train or another trainer"
        )
    return RunDirectory(directory, description, works, _recipe(directory / RECIPE, _metric(description)))


def _stage_works(directory: Path) -> list[Path]:
    """The work directories of a recipe's stages; they are deeper if a stage tries several searches."""
    return sorted(path.parent for path in (directory / RECIPE / "stages").rglob(FILE))


def _recipe(work: Path, metric: str) -> RecipeScores:
    """Read the stages of a recipe, and the tables and lists of its report, which is Markdown."""
    report, state = work / "report.md", work / "run.yaml"
    lines = [line.rstrip("\n") for line in read_lines(report)] if report.is_file() else []
    stages = load_config(state, RecipeState).stages if state.is_file() else {}
    texts = {name: work / f"{name}.deciding" for name in stages}
    translations = {name: kept_lines(path) for name, path in texts.items() if path.is_file()}
    command, settings = (_block(lines, begin) for begin in (SHELL, YAML))
    found = RecipeScores([], [], command, settings, stages, translations, kept_development(work), metric)
    lines = lines[: lines.index(SHELL)] if SHELL in lines else lines
    for line, before in zip(lines, ["", *lines]):
        if line.startswith("| ---"):
            continue
        if line.startswith("| "):
            if not before.startswith("|"):
                found.tables.append([])
            found.tables[-1].append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif line.startswith("- "):
            found.notes.append(line.removeprefix("- ").strip())
    return found


def _block(lines: list[str], begin: str) -> str:
    """The content of the Markdown block after the line `begin`; "" if there is no such line."""
    return "\n".join(takewhile("```".__ne__, lines[lines.index(begin) + 1 :])) if begin in lines else ""


def _metric(description: ModelDescription | None) -> str:
    """The metric of the recipe with which the model was made, according to its description."""
    recipe = description.settings.get("recipe") if description else None
    default = Recipe.model_fields["metric"].default
    return str(recipe.get("metric", default) if isinstance(recipe, dict) else default)


def _work(directory: Path) -> TrainingWork:
    begun = load_config(directory / FILE, BegunWork)
    curves = [_curve(path, directory) for path in sorted(directory.rglob(CURVE))]
    runs = [_run(folder, directory) for folder in _run_folders(directory)]
    runs = [run for run in runs if run.weights or run.translations]
    return TrainingWork(directory, begun, curves, runs, kept_development(directory))


def _run_folders(directory: Path) -> Iterator[Path]:
    yield directory
    yield from sorted(path for path in directory.iterdir() if path.is_dir() and path.name != "lists")


def _run(folder: Path, work: Path) -> RunParts:
    weights = {}
    for path in sorted(folder.glob("weights.*.yaml")):
        number = path.name.split(".")[1]
        if number.isdigit():
            weights[int(number)] = load_config(path, Weights)
    return RunParts(_name(folder, work), weights, kept_translations(folder))


def _curve(path: Path, work: Path) -> Curve:
    runs: dict[str, list[Row]] = {}
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        try:
            if NUMBER not in (rows.fieldnames or ()):
                raise ValueError(f"no column {NUMBER}")
            for row in rows:
                run = row.pop("run", "")
                runs.setdefault(run, []).append({name: _number(value) for name, value in row.items()})
        except (ValueError, TypeError, csv.Error) as error:
            message = f"damaged ({excerpt(str(error))}); if you continue the training run, it is written again"
            raise FormatError(path, message, rows.line_num or None) from None
    return Curve(_name(path.parent, work), runs)


def _number(value: str | None) -> float | None:
    """The number in a cell; None if it is empty or not finite. Raises ValueError or TypeError if it is not a number."""
    number = float(value) if value else math.nan
    return number if math.isfinite(number) else None


def _name(folder: Path, work: Path) -> str:
    return "" if folder == work else str(folder.relative_to(work))
