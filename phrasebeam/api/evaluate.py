"""evaluate: scores by any metrics of files of translations, and a page that compares them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from phrasebeam.api.arguments import File, Files, TargetColumn, paths
from phrasebeam.base.config import MOST_COUNTED
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file, check_keeps_inputs, read_lines
from phrasebeam.base.options import Option, described
from phrasebeam.console.repeated_command import repeated_command
from phrasebeam.training.metrics.definitions import METRICS
from phrasebeam.training.metrics.evaluation import (
    EvaluatedTexts,
    Evaluation,
    EvaluationOptions,
    PairedName,
    check_parallel,
    evaluate_read,
    read_evaluated,
)
from phrasebeam.training.report.comparison_report import ComparedTexts, comparison_report

DOCUMENTS = "Of TSV, TMX, XLIFF and PO the target side is read."


@described()
def evaluate(
    hypothesis: Annotated[Files, f"Translations, one file for each system; the first is the baseline. {DOCUMENTS}"],
    reference: Annotated[Files, "Reference translations, one file for each set of them."],
    *,
    metric: Annotated[
        str | Sequence[str] | None, Option(f"Metrics: {', '.join(METRICS)}; one or several.", unset="bleu, chrf++")
    ] = None,
    tokenize: Annotated[str | None, Option("BLEU's tokenizer: 13a, none, intl, zh, char ...", unset="13a")] = None,
    lowercase: Annotated[bool, "Ignore case (TER always does)."] = False,
    paired: Annotated[PairedName | None, "Test of the difference between every system and the first."] = None,
    confidence: Annotated[bool, "95 % confidence interval of one system by bootstrap."] = False,
    trials: Annotated[
        int | None, Option("Number of resamples or shuffles.", unset="1000; randomization: 10000")
    ] = None,
    seed: Annotated[int, "Random seed of the resampling."] = EvaluationOptions.seed,
    target_column: TargetColumn = None,
    page: Annotated[
        File | None,
        "File for a page, .html, that compares systems with the first by sentence; `paired` is bootstrap, then.",
    ] = None,
    source: Annotated[File | None, "Source sentences, one a line, which `page` shows."] = None,
    most: Annotated[
        int, Field(ge=1, le=MOST_COUNTED), "Sentences that `page` shows of the largest gains, and of the losses."
    ] = 50,
) -> Evaluation:
    """Score translations with BLEU, chrF++ and others, and test whether systems differ.

    BLEU, chrF and TER are sacrebleu's numbers, error rates of words (WER) and characters (CER) those of jiwer; accuracy
    is the share of segments that are as a reference has them. `evaluate_texts` does so with lists of sentences in place
    of files.

    Returns the results of all systems by metric. Raises FormatError for files of other lengths, ConfigError, OSError.

    >>> evaluation = evaluate("dev.en", "dev.en", metric=["bleu", "ter"], tokenize="none")
    >>> round(evaluation.results["BLEU"][0].score, 2), evaluation.results["TER"][0].score
    (100.0, 0.0)
    >>> evaluation = evaluate(["dev.en", "dev.de"], "dev.en", page="page.html", source="dev.de", trials=20)
    >>> evaluation.options.paired
    'bootstrap'
    """
    given = locals()
    files, references = paths(hypothesis), paths(reference)
    _check_page(page, source, files, references)
    metrics = [metric] if isinstance(metric, str) else metric or EvaluationOptions.metrics
    paired = paired or (None if page is None else "bootstrap")
    options = EvaluationOptions(tuple(metrics), tokenize, lowercase, paired, confidence, trials, seed)
    texts = read_evaluated(files, references, target_column)
    lines = None if source is None else _source_lines(source, references[0], texts)
    evaluation = evaluate_read(texts, options)
    if page is not None:
        written = comparison_report(ComparedTexts(texts, lines, repeated_command(evaluate, given), most), evaluation)
        with atomic_file(page) as file:
            file.write(written)
    return evaluation


def _check_page(page: File | None, source: File | None, files: Sequence[Path], references: Sequence[Path]) -> None:
    """Raise ConfigError where a page cannot be made, or would replace what is read."""
    if page is None and source is not None:
        raise ConfigError("source is shown by a page alone; give page, too")
    if page is not None and len(files) < 2:
        raise ConfigError(f"a page compares two systems or more, got {len(files)}; give more files as hypothesis")
    check_keeps_inputs([page], [source, *files, *references])


def _source_lines(source: File, reference: File, texts: EvaluatedTexts) -> list[str]:
    lines = list(read_lines(source))
    check_parallel(source, lines, reference, texts.references[0])
    return lines
