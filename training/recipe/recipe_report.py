"""The report of a recipe: scores of each stage, time, memory, settings, and the commands that repeat it."""

import html
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from phrasebeam.base.files import atomic_file
from phrasebeam.training.recipe.recipe import Recipe
from phrasebeam.training.recipe.recipe_run import WORK, RecipeResult, StageRecord
from phrasebeam.training.recipe.recipe_scores import SetScores

STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{padding:.3rem .7rem;border-bottom:1px solid #ccc;text-align:right}"
    "td:first-child,th:first-child{text-align:left}pre{background:#f4f4f4;padding:1rem;overflow:auto}"
    "@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}pre{background:#262626}}"
)
HEADER = ["stage", "from", "BLEU", "chrF", "TER", "test BLEU", "test chrF", "test TER", "minutes", "peak", ""]


def write_report(result: RecipeResult, recipe: Recipe, output: Path, command: str) -> None:
    """Write report.md and report.html beside the models of the stages; `command` is what was called."""
    rows, notes = list(_rows(result)), list(_notes(result, recipe, output))
    settings = yaml.safe_dump(recipe.model_dump(mode="json", exclude_unset=True), sort_keys=False, allow_unicode=True)
    markdown = [f"# {output.name}: report", "", _markdown_table(rows), "", *(f"- {note}" for note in notes), ""]
    markdown += ["Made by", "", "```sh", command, "```", "", "with the recipe", "", "```yaml", settings + "```", ""]
    page = f"<!doctype html><meta charset=utf-8><title>{html.escape(output.name)}</title><style>{STYLE}</style>"
    page += f"<h1>{html.escape(output.name)}: report</h1>{_picture(result)}{_html_table(rows)}<ul>"
    page += "".join(f"<li>{html.escape(note)}" for note in notes) + "</ul><p>Made by"
    page += f"<pre>{html.escape(command)}</pre><p>with the recipe<pre>{html.escape(settings)}</pre>"
    for name, text in (("report.md", "\n".join(markdown)), ("report.html", page)):
        with atomic_file(output / WORK / name) as file:
            file.write(text.encode())


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
    if result.twins:
        yield f"{result.twins}."
    for name, number in result.seen.items():
        if number:
            yield f"{number:,} {name} sentences are in the training data, too: scores are higher than of new text."


def _markdown_table(rows: Sequence[Sequence[str]]) -> str:
    header, *body = rows
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _html_table(rows: Sequence[Sequence[str]]) -> str:
    header, *body = ([html.escape(cell) for cell in row] for row in rows)
    head = "".join(f"<th>{cell}" for cell in header)
    return f"<table><tr>{head}" + "".join("<tr>" + "".join(f"<td>{cell}" for cell in row) for row in body) + "</table>"


def _picture(result: RecipeResult) -> str:
    """An SVG of BLEU by stage, with intervals."""
    known = [(name, record) for name, record in result.stages.items() if record.deciding]
    low = min(_scores(record).bleu - _scores(record).bleu_interval for _, record in known)
    high = max(_scores(record).bleu + _scores(record).bleu_interval for _, record in known)
    width, height = 640, 30 * len(known) + 30

    def x(value: float) -> float:
        return 180 + (width - 220) * (value - low) / max(high - low, 1e-9)

    parts = []
    for i, (name, record) in enumerate(known):
        y, scores = 30 * i + 20, _scores(record)
        ends = x(scores.bleu - scores.bleu_interval), x(scores.bleu + scores.bleu_interval)
        parts.append(f'<text x="0" y="{y + 5}">{html.escape(name)}</text>')
        parts.append(
            f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y}" y2="{y}" stroke="#56B4E9" stroke-width="3"/>'
        )
        parts.append(f'<circle cx="{x(scores.bleu):.1f}" cy="{y}" r="6" fill="#0072B2"/>')
    scale = "".join(f'<text x="{x(value):.1f}" y="{height}">{value:.1f}</text>' for value in (low, high))
    label = "BLEU of the development sentences that decide, by stage"
    begin = f'<svg viewBox="0 0 {width} {height + 5}" role="img" aria-label="{label}" fill="currentColor">'
    return begin + "".join(parts) + scale + "</svg>"


def _scores(record: StageRecord) -> SetScores:
    return record.deciding or SetScores(bleu=0.0, bleu_interval=0.0, chrf=0.0, ter=0.0)
