"""The command that scores translations: a table of systems and metrics, or JSON, with sacrebleu's signatures."""

import dataclasses
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from phrasebeam.api.evaluate import evaluate as evaluate_files
from phrasebeam.console.tables import Rows, print_table
from phrasebeam.training.metrics.definitions import METRICS
from phrasebeam.training.metrics.evaluation import Evaluation, EvaluationOptions, MetricResult, PairedName


def evaluate(
    hypothesis: Annotated[
        list[Path], typer.Option(help="Translations, one file for each system; the first is the baseline.")
    ],
    reference: Annotated[list[Path], typer.Option(help="Reference translations, one file for each set of them.")],
    metric: Annotated[
        list[str] | None, typer.Option(help=f"{', '.join(METRICS)}; several are computed at once.", show_default="bleu")
    ] = None,
    tokenize: Annotated[
        str | None, typer.Option(help="BLEU's tokenizer: 13a, none, intl, zh, char ...", show_default="13a")
    ] = None,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Ignore case (BLEU, chrF; TER always does).")] = False,
    paired: Annotated[
        PairedName | None, typer.Option(help="Test of the difference between every system and the first.")
    ] = None,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="95 % confidence interval of one system by bootstrap.")
    ] = False,
    trials: Annotated[
        int | None, typer.Option(help="Resamples or shuffles.", show_default="1000; randomization: 10000")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the resampling.")] = EvaluationOptions.seed,
    width: Annotated[int, typer.Option(min=0, max=12, help="Digits after the decimal point.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score translations with BLEU, chrF and TER, and test whether systems differ; sacrebleu's numbers and signatures.

    --hypothesis, --reference and --metric take one value or more, or are repeated.
    """
    evaluation = evaluate_files(
        hypothesis,
        reference,
        metric=metric,
        tokenize=tokenize,
        lowercase=lowercase,
        paired=paired,
        confidence=confidence,
        trials=trials,
        seed=seed,
    )
    if as_json:
        print(to_json(evaluation, width))
        return
    print_table(to_table(evaluation, width), underlined=True)
    print(f"\n{notes(evaluation)}")


def to_table(evaluation: Evaluation, width: int = 1) -> Rows:
    """A table with a row for each system and a column for each metric."""
    rows = [["system", *evaluation.results]]
    for i, system in enumerate(evaluation.systems):
        rows.append([system, *(_cell(results[i], width) for results in evaluation.results.values())])
    return rows


def notes(evaluation: Evaluation) -> str:
    """What stands below the table: details of a single system, what is marked in it, and the signatures."""
    lines = []
    if len(evaluation.systems) == 1:
        details = {name: results[0].details for name, results in evaluation.results.items()}
        lines += [f"{name}: {text}" for name, text in details.items() if text]
    if evaluation.options.paired:
        lines.append(f"p: of the difference to {evaluation.systems[0]} (* below 0.05); ±: 95 % confidence interval")
    lines += [f"{name}|{signature}" for name, signature in evaluation.signatures.items()]
    return "\n".join(lines)


def _cell(result: MetricResult, width: int) -> str:
    text = f"{result.score:.{width}f}"
    if result.mean is not None and result.interval is not None:
        text += f" (μ = {result.mean:.{width}f} ± {result.interval:.{width}f})"
    if result.p_value is not None:
        text += f" (p = {result.p_value:.4f}){'*' if result.p_value < 0.05 else ''}"
    return text


def to_json(evaluation: Evaluation, width: int = 1) -> str:
    """The evaluation as JSON, scores rounded to `width` digits; what was not computed is left out."""

    def fields(result: MetricResult) -> dict[str, Any]:
        given = {name: value for name, value in dataclasses.asdict(result).items() if value not in (None, "")}
        return {name: value if name in ("p_value", "details") else round(value, width) for name, value in given.items()}

    systems = [
        {"system": system, **{name: fields(results[i]) for name, results in evaluation.results.items()}}
        for i, system in enumerate(evaluation.systems)
    ]
    return json.dumps({"systems": systems, "signatures": dict(evaluation.signatures)}, indent=2, ensure_ascii=False)
