"""The report of a recipe: scores of each stage, time, memory, settings, and the commands that repeat it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

import yaml

from phrasebeam.base.files import atomic_file
from phrasebeam.console.html_page import element, html_list, html_page, html_table
from phrasebeam.console.svg_chart import interval_chart
from phrasebeam.training.recipe.recipe import Recipe
from phrasebeam.training.recipe.recipe_run import WORK, RecipeResult
from phrasebeam.training.recipe.stage import SetScores

HEADER = ["stage", "from", "BLEU", "chrF", "TER", "test BLEU", "test chrF", "test TER", "minutes", "peak", ""]


def write_report(result: RecipeResult, recipe: Recipe, output: Path, command: str) -> None:
    """Write report.md and report.html beside the models of the stages; `command` is what was called."""
    rows, notes = list(_rows(result)), list(_notes(result, recipe, output))
    settings = yaml.safe_dump(recipe.model_dump(mode="json", exclude_unset=True), sort_keys=False, allow_unicode=True)
    markdown = [f"# {output.name}: report", "", _markdown_table(rows), "", *(f"- {note}" for note in notes), ""]
    markdown += ["Made by", "", "```sh", command, "```", "", "with the recipe", "", "```yaml", settings + "```", ""]
    page = html_page(
        f"{output.name}: report",
        [
            _picture(result),
            html_table(rows),
            html_list(notes),
            element("p", {}, "Made by"),
            element("pre", {}, command),
            element("p", {}, "with the recipe"),
            element("pre", {}, settings),
        ],
    )
    for name, text in (("report.md", "\n".join(markdown).encode()), ("report.html", page)):
        with atomic_file(output / WORK / name) as file:
            file.write(text)


def _rows(result: RecipeResult) -> Iterator[list[str]]:
    yield HEADER
    for name, record in result.stages.items():
        kept = "written" if name == result.best else "kept" if record.is_kept else "dropped"
        scores = [*_cells(record.deciding), *_cells(record.test)]
        yield [name, record.start, *scores, f"{record.seconds / 60:.1f}", f"{record.peak >> 20} MB", kept]


def _cells(scores: SetScores | None) -> list[str]:
    if scores is None:
        return ["", "", ""]
    return [f"{scores.bleu:.2f} ± {scores.bleu_interval:.2f}", f"{scores.chrf:.2f}", f"{scores.ter:.2f}"]


def _curves(result: RecipeResult, output: Path) -> Iterator[str]:
    """Where the curves of the stages are, from the report."""
    for name in result.stages:
        for path in sorted((output / WORK / "stages" / name).glob("*/curve.png")):
            yield str(path.relative_to(output / WORK))


def _notes(result: RecipeResult, recipe: Recipe, output: Path) -> Iterator[str]:
    sizes = ", ".join(f"{number:,} {name}" for name, number in result.sentences.items())
    yield f"Sentences: {sizes}."
    decides = f"every {round(1 / recipe.held_out)}th sentence of it" if recipe.held_out else "all of it"
    yield f"BLEU, chrF and TER are of development data, {decides}, by which stages are kept; test data only report."
    yield "± is half of the 95 % confidence interval by bootstrap. Text is scored as it is tokenized (sacrebleu, none)."
    if curves := list(_curves(result, output)):
        yield f"Curves: {', '.join(curves)}."
    yield "Peak: what the process had held at most when the stage was done."
    yield from result.cleaning
    if result.twins:
        yield f"{result.twins}."
    for name, number in result.seen.items():
        if number:
            yield f"{number:,} {name} sentences are in the training data, too: scores are higher than of new text."


def _markdown_table(rows: Sequence[Sequence[str]]) -> str:
    header, *body = rows
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _picture(result: RecipeResult) -> Element:
    """BLEU by stage, with intervals."""
    scores = {name: record.deciding for name, record in result.stages.items() if record.deciding}
    rows = {name: (one.bleu, one.bleu_interval) for name, one in scores.items()}
    return interval_chart("BLEU of the development sentences that decide, by stage", rows)
