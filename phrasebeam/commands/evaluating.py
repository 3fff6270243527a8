"""Printed results of the commands that evaluate: tables, JSON, sacrebleu's signatures."""

import dataclasses
import json as json_text
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from phrasebeam.commands.derived_command import CommandCall, tell
from phrasebeam.console.tables import Rows, print_table
from phrasebeam.process.hints import hint

if TYPE_CHECKING:
    from phrasebeam.api.models import Explained
    from phrasebeam.training.metrics.evaluation import Evaluation, MetricResult


def evaluate(
    evaluation: "Evaluation",
    call: CommandCall,
    *,
    width: Annotated[int, Field(ge=0, le=12), "Digits after the decimal point."] = 1,
    json: Annotated[bool, "Print JSON."] = False,
) -> None:
    """Prints a row for each system."""
    if json:
        print(to_json(evaluation, width))
        return
    print_table(to_table(evaluation, width), underlined=True)
    print(f"\n{notes(evaluation)}")
    if page := call.given["page"]:
        tell(f"{page}: comparison of {', '.join(evaluation.systems)}")


def to_table(evaluation: "Evaluation", width: int = 1) -> Rows:
    """A table with a row for each system and a column for each metric."""
    rows = [["system", *evaluation.results]]
    for i, system in enumerate(evaluation.systems):
        rows.append([system, *(_cell(results[i], width) for results in evaluation.results.values())])
    return rows


def notes(evaluation: "Evaluation") -> str:
    """The lines below the table: details of a single system, the meaning of marks, and the signatures."""
    lines = []
    if len(evaluation.systems) == 1:
        details = {name: results[0].details for name, results in evaluation.results.items()}
        lines += [f"{name}: {text}" for name, text in details.items() if text]
    if evaluation.options.paired:
        lines.append(
            f"p: p-value of the difference to {evaluation.systems[0]} (* below 0.05); ±: 95 % confidence interval"
        )
    lines += [f"{name}|{signature}" for name, signature in evaluation.signatures.items()]
    return "\n".join(lines)


def _cell(result: "MetricResult", width: int) -> str:
    text = f"{result.score:.{width}f}"
    if result.mean is not None and result.interval is not None:
        text += f" (μ = {result.mean:.{width}f} ± {result.interval:.{width}f})"
    if result.p_value is not None:
        text += f" (p = {result.p_value:.4f}){'*' if result.p_value < 0.05 else ''}"
    return text


def to_json(evaluation: "Evaluation", width: int = 1) -> str:
    """The evaluation as JSON, with scores rounded to `width` digits; scores that were not computed are left out."""

    def fields(result: "MetricResult") -> dict[str, Any]:
        given = {name: value for name, value in dataclasses.asdict(result).items() if value not in (None, "")}
        return {name: value if name in ("p_value", "details") else round(value, width) for name, value in given.items()}

    systems = [
        {"system": system, **{name: fields(results[i]) for name, results in evaluation.results.items()}}
        for i, system in enumerate(evaluation.systems)
    ]
    return json_text.dumps(
        {"systems": systems, "signatures": dict(evaluation.signatures)}, indent=2, ensure_ascii=False
    )


def explain(explained: "Explained", call: CommandCall) -> None:
    """Prints features with their weights or, for a translation, their scores."""
    features, translation, n_fired = explained
    if translation is None:
        rows = [(f"{one.weight:+.6f}", one.name) for one in features]
        print_table([("weight", "feature"), *rows], "\n".join(map("  ".join, rows)))
        if not rows:
            training = "its training may have gained nothing, see its README.md"
            hint(f"{call.given['model']}: no sparse feature has a weight; {training}")
        return
    print(f"{translation.text}\nscore {translation.score:.4f}, {n_fired} sparse features")
    shown = [(f"{one.weight * one.value:+.6f}", f"{one.value:g} x {one.name}") for one in features]
    print_table([("score", "feature"), *shown], "\n".join(map("  ".join, shown)))


def report(result: None, call: CommandCall) -> None:
    """Prints the name of the page."""
    of = "comparison" if len(call.given["run"]) > 1 else "report"
    tell(f"{call.given['output']}: {of} of {', '.join(map(str, call.given['run']))}")
