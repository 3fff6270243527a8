"""The report of a training: a page with its curves, settings, weights and the translations that changed."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

import yaml

from phrasebeam.console.html_page import Child, element, html_list, html_page, html_table
from phrasebeam.console.svg_chart import line_chart
from phrasebeam.decoder.explanation.feature_titles import feature_titles
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.decoder.tables.provenance import Stage
from phrasebeam.decoder.translate.explain import heaviest
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.metrics.definitions import METRICS
from phrasebeam.training.report.marked_words import marked
from phrasebeam.training.report.run_files import NUMBER, Curve, Row, RunDirectory, RunParts, TrainingWork

HEAVIEST = 30  # sparse features of each group
TITLES = {"chrfpp": METRICS["chrf++"].title}  # of columns whose name is not theirs
SCORES = ("score", "list_score", "example_score")  # columns of one chart, as they have one unit
OF_TOKENS = "The model is of raw text. Scores and translations of iterations are of its tokens."
MOST_SENTENCES = 200  # in a report


def training_report(files: RunDirectory) -> bytes:
    """The page of a training directory. Raises SmtError where its model is damaged."""
    parts: list[Child] = []
    if files.description is not None:
        parts += _stages(files.description)
        parts += [element("p", {}, OF_TOKENS)] if files.description.preprocessing else []
    if files.recipe.tables:
        parts += [element("h2", {}, "Stages"), *map(html_table, files.recipe.tables), html_list(files.recipe.notes)]
    reordering = None if files.description is None else files.description.reordering
    for work in files.works:
        parts += _work(work, files.directory, reordering)
    if files.description is not None and files.description.stages:
        parts += _features(files.directory)
    return html_page(f"{files.directory.absolute().name}: report", parts)


def _stages(description: ModelDescription) -> Iterator[Child]:
    yield element("h2", {}, "How the model was made")
    for number, stage in enumerate(description.stages, 1):
        yield element("h3", {}, f"{number}. {stage.command} ", element("small", {}, f"version {stage.version}"))
        yield html_list(_facts(stage))
        if stage.settings:
            yield element("p", {}, "Settings that are not the defaults:")
            yield element("pre", {}, _yaml(stage.settings))


def _facts(stage: Stage) -> Iterator[str]:
    for data in stage.data:
        sizes = [f"{n:,} {unit}" for n, unit in ((data.sentences, "sentences"), (data.words, "words")) if n is not None]
        yield ", ".join([f"{data.name}: {data.file}", *sizes])
    if stage.gain:
        yield stage.gain


def _work(work: TrainingWork, directory: Path, reordering: Reordering | None) -> Iterator[Child]:
    place = "" if work.directory == directory else f" in {work.directory.relative_to(directory)}"
    yield element("h2", {}, f"{work.begun.command}{place}")
    metric = str(work.begun.settings.get("metric", ""))
    is_lower_better = metric in METRICS and METRICS[metric].scale < 0
    for curve in [curve for curve in work.curves if curve.runs]:
        yield from _curve(curve, is_lower_better)
    for run in work.runs:
        yield from _run(run, reordering)
    settings = element("pre", {}, _yaml(work.begun.settings))
    yield element("details", {}, element("summary", {}, "All settings"), settings)


def _curve(curve: Curve, is_lower_better: bool) -> Iterator[Child]:
    yield element("h3", {}, f"Iterations {curve.name}".strip())
    best = {run: best_row(rows, is_lower_better) for run, rows in curve.runs.items()}
    only = next(iter(curve.runs)) if len(curve.runs) == 1 else None
    marked = None if only is None or best[only] is None else curve.runs[only][best[only] or 0][NUMBER]
    yield element("div", {"class": "charts"}, *charts(curve.runs, marked))
    for run, rows in curve.runs.items():
        names = [name for name in rows[0] if any(row[name] is not None for row in rows)]
        cells = [[_number(row[name]) for name in names] for row in rows]
        place = best[run]
        table = html_table([[name.replace("_", " ") for name in names], *cells], None if place is None else place + 1)
        title = f"Numbers of {run}" if run else "Numbers"
        yield element("details", {}, element("summary", {}, title), table)


def best_row(rows: Sequence[Row], is_lower_better: bool) -> int | None:
    """The number of the row with the best score, the first of several; None where none has one."""
    scores = [row.get("score") for row in rows]
    known = [score for score in scores if score is not None]
    return scores.index(min(known) if is_lower_better else max(known)) if known else None


def charts(runs: Mapping[str, Sequence[Row]], best: float | None) -> Iterator[Element]:
    """A chart of all scores, and one of each other number that changes."""
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
    if len(run.translations) > 1:
        yield element("h3", {}, f"Development translations {run.name}".strip())
        yield from changed_translations(run.translations)


def weight_rows(weights: Mapping[int, Weights], reordering: Reordering | None) -> list[list[str]]:
    """Weights by iteration: a row for each feature; `reordering` is the model's, if it is known."""
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
    yield element("h2", {}, "Weights of the model")
    yield html_table([["feature", "weight"], *([name, _number(weight)] for name, weight in vector)])
    if decoder.tables.sparse.active.any():
        found = [[one.group, one.name, _number(one.weight)] for one in heaviest(decoder, directory, HEAVIEST)]
        yield element("h2", {}, "Heaviest sparse features")
        yield html_table([["group", "feature", "weight"], *found], is_text=True)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


def _yaml(settings: Mapping[str, object]) -> str:
    return yaml.safe_dump(dict(settings), sort_keys=False, allow_unicode=True)


class Version(NamedTuple):
    """A translation that a sentence had for some iterations on end."""

    first: int
    last: int
    text: str


def versions(translations: Mapping[int, Sequence[str]], number: int) -> list[Version]:
    """Distinct translations of sentence `number`, in order of iterations."""
    found: list[Version] = []
    for iteration, texts in sorted(translations.items()):
        if found and found[-1].text == texts[number]:
            found[-1] = found[-1]._replace(last=iteration)
        else:
            found.append(Version(iteration, iteration, texts[number]))
    return found


def changed_translations(translations: Mapping[int, Sequence[str]]) -> list[Child]:
    """Parts of a page that show changes, the sentences that changed most often first."""
    n_sentences = min((len(texts) for texts in translations.values()), default=0)
    every = {number: versions(translations, number) for number in range(n_sentences)}
    changed = sorted((number for number in every if len(every[number]) > 1), key=lambda one: (-len(every[one]), one))
    told = f"{len(changed)} of {n_sentences} translations changed within {len(translations)} iterations"
    parts: list[Child] = [element("p", {}, told)]
    if len(changed) > MOST_SENTENCES:
        parts.append(element("p", {"class": "soft"}, f"The {MOST_SENTENCES} that changed most often are shown."))
    rows = [row for number in changed[:MOST_SENTENCES] for row in _rows(number, every[number])]
    return [*parts, html_table([["line", "iterations", "translation"], *rows], is_text=True)] if rows else parts


def _rows(number: int, found: Sequence[Version]) -> Iterator[list[Child]]:
    before: Version | None = None
    for version in found:
        name = f"{version.first}" if version.first == version.last else f"{version.first} to {version.last}"
        yield [str(number + 1) if before is None else "", name, marked(before.text if before else None, version.text)]
        before = version
