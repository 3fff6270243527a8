"""The report on a training: a page with its curves, settings, weights, and the translations that changed."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

import yaml

from phrasebeam.console.html_page import Child, element, html_contents, html_list, html_page, html_table
from phrasebeam.console.svg_chart import interval_chart, line_chart
from phrasebeam.decoder.explanation.feature_titles import feature_titles
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.decoder.tables.provenance import Stage
from phrasebeam.decoder.translate.explain import heaviest
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.metrics.definitions import METRICS
from phrasebeam.training.report.changed_translations import changed_in_run, changed_texts
from phrasebeam.training.report.run_files import (
    NUMBER,
    Curve,
    RecipeScores,
    Row,
    RunDirectory,
    RunParts,
    TrainingWork,
    is_lower_better,
)

HEAVIEST = 30  # number of sparse features of each group that are shown
TITLES = {"chrfpp": METRICS["chrf++"].title}  # titles of columns, if they differ from the names
SCORES = ("score", "list_score", "example_score")  # columns that share a chart, since they have the same unit
OF_TOKENS = "The model was trained on raw text. Scores and translations of iterations are those of tokenized text."
STAGE_DEPTH = 3  # parts of the path of a recipe's stage: recipe/stages/NAME


def training_report(files: RunDirectory) -> bytes:
    """The page on a training directory. Raises SmtError if its model is damaged."""
    parts: list[Child] = [element("p", {"class": "soft"}, f"{time.strftime('%Y-%m-%d %H:%M')}, {files.directory}")]
    sections = list(_sections(files))
    parts.append(html_contents((place, title) for place, title, _ in sections))
    for place, title, children in sections:
        parts += [element("h2", {"id": place}, title), *children]
    return html_page(f"{files.directory.absolute().name}: report", parts)


def _sections(files: RunDirectory) -> Iterator[tuple[str, str, Iterable[Child]]]:
    """Yield the parts of the page: name in links, title, content."""
    description, recipe = files.description, files.recipe
    titles = [_work_title(work, files.directory) for work in files.works]
    if description is not None:
        yield "made", "How the model was made", _stages(description, recipe)
    if recipe.tables:
        yield "stages", "Stages", _recipe(files)
        if recipe.deciding and len(kept := recipe.kept_translations) > 1:
            title = f"Translations that changed, from {' to '.join(kept)}"
            yield "changed", title, changed_texts(kept, recipe.deciding, "stages")
    reordering = None if description is None else description.reordering
    for number, (title, work) in enumerate(zip(titles, files.works), 1):
        yield f"work-{number}", title, _work(work, reordering, f"work-{number}")
    if description is not None and description.stages:
        yield "weights", "Weights of the model", _features(files.directory)


def _stages(description: ModelDescription, recipe: RecipeScores) -> Iterator[Child]:
    if recipe.command:
        yield element("pre", {}, recipe.command)
        settings = element("pre", {}, recipe.settings)
        yield element("details", {}, element("summary", {}, "Settings of the recipe"), settings)
    for number, stage in enumerate(description.stages, 1):
        yield element("h3", {}, f"{number}. {stage.command} ", element("small", {}, f"version {stage.version}"))
        yield html_list(_facts(stage))
        if stage.settings:
            yield element("p", {}, "Settings that differ from the defaults:")
            yield element("pre", {}, _yaml(stage.settings))
    if description.preprocessing:
        yield element("p", {}, OF_TOKENS)


def _recipe(files: RunDirectory) -> Iterator[Child]:
    """The stages of a recipe with their scores, each with a link to its training."""
    recipe, places = files.recipe, dict[str, str]()
    for number, work in enumerate(files.works, 1):
        path = work.directory.relative_to(files.directory).parts
        if len(path) > STAGE_DEPTH:  # within recipe/stages/NAME or recipe/stages/NAME.tried
            places.setdefault(path[STAGE_DEPTH - 1].removesuffix(".tried"), f"#work-{number}")
    metric = recipe.metric
    scores = {name: one.deciding for name, one in recipe.stages.items() if one.deciding}
    if all(metric in one.scores for one in scores.values()) and scores:
        rows = {name: (one.scores[metric], one.intervals[metric]) for name, one in scores.items()}
        title = f"{METRICS[metric].title} of the development sentences that decide, by stage"
        yield element("figure", {}, element("figcaption", {}, title), interval_chart(title, rows))
    for rows_of_table in recipe.tables:
        yield html_table([[_linked(cells[0], places), *cells[1:]] for cells in rows_of_table])
    yield html_list(recipe.notes)


def _linked(name: str, places: Mapping[str, str]) -> Child:
    return element("a", {"href": places[name]}, name) if name in places else name


def _facts(stage: Stage) -> Iterator[str]:
    for data in stage.data:
        sizes = [f"{n:,} {unit}" for n, unit in ((data.sentences, "sentences"), (data.words, "words")) if n is not None]
        yield ", ".join([f"{data.name}: {data.file}", *sizes])
    if stage.gain:
        yield stage.gain


def _work_title(work: TrainingWork, directory: Path) -> str:
    place = "" if work.directory == directory else f" in {work.directory.relative_to(directory)}"
    return f"{work.begun.command}{place}"


def _work(work: TrainingWork, reordering: Reordering | None, place: str) -> Iterator[Child]:
    times = [f"{what} {when}" for what, when in (("begun", work.begun.begun), ("last changed", work.ended)) if when]
    if times:
        yield element("p", {"class": "soft"}, f"{', '.join(times)}; version {work.begun.version}")
    is_lower = is_lower_better(work)
    for curve in [curve for curve in work.curves if curve.runs]:
        yield from _curve(curve, is_lower)
    for number, run in enumerate(work.runs, 1):
        yield from _run(run, reordering)
        if len(run.translations) > 1:
            yield element("h3", {}, f"Development translations {run.name}".strip())
            best = best_iteration(work.curves, run.name, is_lower)
            yield from changed_in_run(run.translations, best, work.development, f"{place}-{number}")
    settings = element("pre", {}, _yaml(work.begun.settings))
    yield element("details", {}, element("summary", {}, "All settings"), settings)


def best_iteration(curves: Iterable[Curve], run: str, is_lower_better: bool) -> int | None:
    """The iteration with the best score of a run; None if it is not known. `run`: the name of its directory."""
    row = _best_of(curves, run, is_lower_better)
    return None if row is None else int(row[NUMBER] or 0)


def best_score(curves: Iterable[Curve], run: str, is_lower_better: bool) -> float | None:
    """The best score of a run; None if it is not known. `run`: the name of its directory."""
    row = _best_of(curves, run, is_lower_better)
    return None if row is None else row["score"]


def _best_of(curves: Iterable[Curve], run: str, is_lower_better: bool) -> Row | None:
    for curve in curves:
        rows = curve.runs.get(run if curve.name != run else "", [])
        place = best_row(rows, is_lower_better)
        if place is not None:
            return rows[place]
    return None


def _curve(curve: Curve, is_lower_better: bool) -> Iterator[Child]:
    yield element("h3", {}, f"Iterations {curve.name}".strip())
    best = {run: best_row(rows, is_lower_better) for run, rows in curve.runs.items()}
    only = next(iter(curve.runs)) if len(curve.runs) == 1 else None
    marked = None if only is None or best[only] is None else curve.runs[only][best[only] or 0][NUMBER]
    yield element("div", {"class": "charts"}, *charts(curve.runs, marked))
    if marked is not None:
        yield element("p", {"class": "soft"}, f"The dotted line marks the best iteration, {_number(marked)}.")
    for run, rows in curve.runs.items():
        names = [name for name in rows[0] if any(row[name] is not None for row in rows)]
        cells = [[_number(row[name]) for name in names] for row in rows]
        place = best[run]
        table = html_table([[name.replace("_", " ") for name in names], *cells], None if place is None else place + 1)
        title = f"Numbers of {run}" if run else "Numbers"
        yield element("details", {}, element("summary", {}, title), table)


def best_row(rows: Sequence[Row], is_lower_better: bool) -> int | None:
    """The index of the first row with the best score; None if no row has a score."""
    scores = [row.get("score") for row in rows]
    known = [score for score in scores if score is not None]
    return scores.index(min(known) if is_lower_better else max(known)) if known else None


def charts(runs: Mapping[str, Sequence[Row]], best: float | None) -> Iterator[Element]:
    """Yield one chart of all scores, and one for each other column whose numbers differ."""
    columns = next(iter(runs.values()))[0]
    shown = [[name for name in SCORES if name in columns]]
    shown += [[name] for name in columns if name not in (*SCORES, NUMBER)]
    for names in shown:
        lines = {}
        for run, rows in runs.items():
            for name in names:
                points = [(row[NUMBER] or 0.0, value) for row in rows if (value := row[name]) is not None]
                if points:
                    lines[f"{run} {name}".replace("_", " ").strip()] = points
        if len({value for points in lines.values() for _, value in points}) > 1:
            yield line_chart(TITLES.get(names[0], names[0].replace("_", " ")), lines, best)


def _run(run: RunParts, reordering: Reordering | None) -> Iterator[Child]:
    if len(run.weights) > 1:
        yield element("h3", {}, f"Weights {run.name}".strip())
        yield html_table(weight_rows(run.weights, reordering))


def weight_rows(weights: Mapping[int, Weights], reordering: Reordering | None) -> list[list[str]]:
    """The table of weights, with a row for each feature and a column for each iteration.

    `reordering`: the reordering model, if it is known.
    """
    flat = {number: dict(_flat(one, reordering)) for number, one in sorted(weights.items())}
    names = list(dict.fromkeys(name for one in flat.values() for name in one))
    body = [[name, *(_number(one.get(name)) for one in flat.values())] for name in names]
    return [["feature", *(f"after {number}" if number else "before" for number in flat)], *body]


def _flat(weights: Weights, reordering: Reordering | None) -> Iterator[tuple[str, float]]:
    """Titles of features and their weights."""
    given = {name: value for name, value in weights.model_dump().items() if value is not None}
    groups = [(name, len(value) if isinstance(value, list) else None) for name, value in given.items()]
    values = [one for value in given.values() for one in (value if isinstance(value, list) else [value])]
    yield from zip(feature_titles(groups, reordering), values, strict=True)


def _features(directory: Path) -> Iterator[Child]:
    decoder = Decoder.load(directory)
    titles = feature_titles(decoder.features.groups, decoder.model.description.reordering)
    vector = zip(titles, weight_vector(decoder.dense_weights, decoder.features).tolist())
    yield html_table([["feature", "weight"], *([name, _number(weight)] for name, weight in vector)])
    if decoder.tables.sparse.active.any():
        found = [[one.group, one.name, _number(one.weight)] for one in heaviest(decoder, directory, HEAVIEST)]
        yield element("h3", {}, "Heaviest sparse features")
        yield html_table([["group", "feature", "weight"], *found], is_text=True)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


def _yaml(settings: Mapping[str, object]) -> str:
    return yaml.safe_dump(dict(settings), sort_keys=False, allow_unicode=True)
