"""The report of a recipe: scores of each stage, time, memory, settings, and the commands that repeat it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from phrasebeam.base.files import atomic_file
from phrasebeam.training.metrics.definitions import METRICS
from phrasebeam.training.recipe.recipe import Recipe
from phrasebeam.training.recipe.recipe_run import WORK, RecipeResult
from phrasebeam.training.recipe.score_table import headings, reported_metrics, score_cells


def write_report(result: RecipeResult, recipe: Recipe, output: Path, command: str) -> None:
    """Write report.md beside the models of the stages; `command` is the command line."""
    tables, notes = list(_tables(result)), list(_notes(result, recipe, output))
    settings = yaml.safe_dump(recipe.model_dump(mode="json", exclude_unset=True), sort_keys=False, allow_unicode=True)
    markdown = [f"# {output.name}: report", "", *map(_markdown_table, tables), *(f"- {note}" for note in notes), ""]
    markdown += ["Made by", "", "```sh", command, "```", "", "with the recipe", "", "```yaml", settings + "```", ""]
    with atomic_file(output / WORK / "report.md") as file:
        file.write("\n".join(markdown).encode())


def _tables(result: RecipeResult) -> Iterator[list[list[str]]]:
    """Yield a table of the stages with their scores on the deciding sentences; and one of test scores, if any."""
    metrics = reported_metrics(result.metric)
    rows = [["stage", "from", *headings(metrics), "minutes", "peak", ""]]
    for name, record in result.stages.items():
        kept = "written" if name == result.best else "kept" if record.is_kept else "dropped"
        scores = score_cells(record.deciding, metrics, has_intervals=True)
        rows.append([name, record.start, *scores, f"{record.seconds / 60:.1f}", f"{record.peak >> 20} MB", kept])
    yield rows
    tested = {name: record.test for name, record in result.stages.items() if record.test}
    if tested:
        body = [[name, *score_cells(scores, metrics, has_intervals=True)] for name, scores in tested.items()]
        yield [["test set", *headings(metrics)], *body]


def _curves(result: RecipeResult, output: Path) -> Iterator[str]:
    """Links from the report to the curves of the stages."""
    for name in result.stages:
        for path in sorted((output / WORK / "stages" / name).glob("*/curve.png")):
            yield str(path.relative_to(output / WORK))


def _notes(result: RecipeResult, recipe: Recipe, output: Path) -> Iterator[str]:
    sizes = ", ".join(f"{number:,} {name}" for name, number in result.sentences.items())
    yield f"Sentences: {sizes}."
    share = f"every {round(1 / recipe.held_out)}th sentence of" if recipe.held_out else "all of"
    by = METRICS[recipe.metric].title
    data = "held-out training pairs, which are those most like new text" if result.is_held_out else "development data"
    yield f"The first table shows scores on {share} the {data}."
    yield f"{by} decides which stages are kept; test data decide nothing."
    yield "TER, WER and CER are error rates; accuracy is the share of sentences that equal a reference."
    yield f"± is half of the 95 % confidence interval by bootstrap. {_scored(result, recipe)}"
    if curves := list(_curves(result, output)):
        yield f"Curves: {', '.join(curves)}."
    yield "Peak: the largest memory of the process up to the end of the stage."
    yield from result.cleaning
    if result.twins:
        yield f"{result.twins}."
    for name, number in result.seen.items():
        if number:
            fate = "and left out" if recipe.leave_out_seen else "too: their scores are higher than those of new text"
            yield f"{number:,} {name} sentences are in the training data, {fate}."


def _scored(result: RecipeResult, recipe: Recipe) -> str:
    """The description of how text is scored, with sacrebleu's signatures."""
    kind = "raw text, as in publications" if recipe.is_raw else "tokenized text"
    signatures = "; ".join(result.signatures(reported_metrics(result.metric)))
    return f"Scores are computed on {kind}: {signatures}."


def _markdown_table(rows: Sequence[Sequence[str]]) -> str:
    header, *body = rows
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
