"""The files of a training run that its report shows: settings, curves, weights and translations of its iterations."""

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
SHELL, YAML = "```sh", "```yaml"  # begin the command and the settings in the report of a recipe
NUMBER = "iteration"  # the column of a curve that numbers its rows
Row = dict[str, float | None]  # a number by column; None where there is none


class Curve(NamedTuple):
    """The iterations of the runs of a training, one of these after the other."""

    name: str  # of the directory, within the work
    runs: dict[str, list[Row]]  # rows by run, whose name is "" where there is one alone


class RunParts(NamedTuple):
    """Kept parts of one run, by iteration."""

    name: str  # of its directory, within the work
    weights: dict[int, Weights]  # dense ones, by iteration
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
        """When its newest curve was written, in UTC; "" if there is none."""
        times = [path.stat().st_mtime for path in self.directory.rglob(CURVE)]
        return datetime.fromtimestamp(max(times), UTC).isoformat(" ", "seconds") if times else ""


def is_lower_better(work: TrainingWork) -> bool:
    """Whether the metric of a run is an error rate."""
    metric = str(work.begun.settings.get("metric", ""))
    return metric in METRICS and METRICS[metric].scale < 0


class RunDirectory(NamedTuple):
    """A training directory."""

    directory: Path
    description: ModelDescription | None  # of the model that was written, if it was
    works: list[TrainingWork]
    recipe: "RecipeScores"  # of `train`


class RecipeScores(NamedTuple):
    """Content of a recipe's report about its stages; empty if there is no report."""

    tables: list[list[list[str]]]  # rows of cells, the header first
    notes: list[str]
    command: str  # that was called
    settings: str  # of the recipe
    stages: dict[str, StageRecord]  # by name
    translations: dict[str, list[str]]  # by the name of the stage, of the sentences that decide
    deciding: KeptSet | None
    metric: str  # by which stages are kept

    @property
    def kept_translations(self) -> dict[str, list[str]]:
        """Translations by the first stage, and by the last that was kept."""
        kept = [name for name in self.translations if self.stages[name].is_kept]
        return {name: self.translations[name] for name in [*self.translations][:1] + kept[-1:]}


def find_training(directory: Path) -> RunDirectory:
    """The training in a directory that a trainer wrote, or in its work directory. Raises SmtError without one."""
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
    """The work directories of a recipe's stages, which may lie deeper if a stage tries several ways."""
    return sorted(path.parent for path in (directory / RECIPE / "stages").rglob(FILE))


def _recipe(work: Path, metric: str) -> RecipeScores:
    """The stages of a recipe, and what its report, which it writes as Markdown, has in tables and lists."""
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
    """The lines of a block in Markdown, of which the first is `begin`; "" if there is none."""
    return "\n".join(takewhile("```".__ne__, lines[lines.index(begin) + 1 :])) if begin in lines else ""


def _metric(description: ModelDescription | None) -> str:
    """The metric by which a recipe, of which the model tells, kept its stages."""
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
