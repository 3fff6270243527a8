"""The command `tune`: options, progress and the table of runs."""

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.trainers.tune import tune as tune_model
from phrasebeam.base.command_line import Force, Memory, config_option
from phrasebeam.base.progress import show_progress
from phrasebeam.console.tables import Rows, print_table
from phrasebeam.decoder.search.search_settings import Algorithm
from phrasebeam.engine.engine_options import Address, EngineOption, Workers
from phrasebeam.training.common import command_options as shared
from phrasebeam.training.metrics.definitions import MetricName
from phrasebeam.training.tuning.config import TuneMethod
from phrasebeam.training.tuning.run_state import RunResult


def tune(
    model: Annotated[Path, typer.Option(help="Model directory, as train-model writes it.")],
    source: Annotated[Path, typer.Option(help="Source sentences to tune on, tokenized, one a line.")],
    reference: Annotated[list[Path], typer.Option(help="Their translations, one file for each set of them.")],
    output: Annotated[Path, typer.Option(help="Directory of the tuned model; a run that was stopped there goes on.")],
    method: Annotated[
        TuneMethod | None, typer.Option(help="How weights are found.", show_default="mira-corpus")
    ] = None,
    config: Annotated[Path | None, config_option("tune")] = None,
    iterations: Annotated[int | None, typer.Option(help="Most iterations.", show_default="10")] = None,
    nbest: Annotated[int | None, typer.Option(help="Hypotheses of each sentence.", show_default="200")] = None,
    seed: Annotated[list[int] | None, typer.Option(help="Of each run; several are compared.", show_default="1")] = None,
    c: Annotated[list[float] | None, typer.Option("--c", help="Of MIRA: the largest step; a run each.")] = None,
    metric: Annotated[MetricName | None, typer.Option(help="What is optimized.", show_default="bleu")] = None,
    algorithm: Annotated[
        Algorithm | None,
        typer.Option(help="Of the search, which the tuned model then carries.", show_default="the model's"),
    ] = None,
    alignment: Annotated[
        Path | None,
        typer.Option(
            help="Of method online: the sentences are training data, with this word alignment (0-0 1-2 ...).",
            show_default="what the model keeps of them",
        ),
    ] = None,
    dev_source: Annotated[
        Path | None, typer.Option(help="Of method online: other sentences, whose score says which epoch is best.")
    ] = None,
    dev_reference: Annotated[list[Path] | None, typer.Option(help="Their translations.")] = None,
    test_source: Annotated[Path | None, typer.Option(help="Other sentences, to score the tuned weights on.")] = None,
    test_reference: Annotated[list[Path] | None, typer.Option(help="Their translations.")] = None,
    threads: shared.Threads = None,
    memory: Memory = None,
    engine: EngineOption = "local",
    address: Address = None,
    workers: Workers = None,
    force: Force = False,
    require_gain: shared.RequireGain = False,
) -> int:
    """Tune the weights of a model on n-best lists: decode, merge, optimize, until nothing new is found."""
    given = locals()  # the options, which are arguments of the function
    given.pop("require_gain")
    show_progress()
    results, gain = tune_model(**given)
    print_table(to_table(results, gain.metric))
    return shared.status_of(gain, require_gain)


def to_table(results: Sequence[RunResult], metric: str) -> Rows:
    """A row for each run, and the mean and standard deviation of several seeds (Clark et al. 2011)."""
    rows = [["run", f"{metric} before", "tuned", "test", "iterations", "best", "updates", "optimize", "decode"]]
    for result in results:
        scores = [f"{result.before:.2f}", f"{result.score:.2f}", _test(result.test_score)]
        counts = [str(number) for number in (result.iterations, result.best, result.updates)]
        seconds = [f"{result.optimize_seconds:.1f} s", f"{result.decode_seconds:.1f} s"]
        rows.append([result.name, *scores, *counts, *seconds])
    for c in dict.fromkeys(result.c for result in results):
        same = [result for result in results if result.c == c]
        if len(same) > 1:
            rows += _mean(same)
    return rows


def _test(score: float | None) -> str:
    return "" if score is None else f"{score:.2f}"


def _mean(results: Sequence[RunResult]) -> list[list[str]]:
    """Two rows: mean and standard deviation of the scores of several seeds with the same C."""
    tuned = [result.score for result in results]
    test = [result.test_score for result in results if result.test_score is not None]
    names = ["mean", "deviation"] if results[0].c is None else [f"mean of C {results[0].c:g}", "deviation"]
    return [
        [name, "", f"{of(tuned):.2f}", _test(of(test) if test else None)]
        for name, of in zip(names, (statistics.mean, statistics.stdev))
    ]
