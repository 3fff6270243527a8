"""evaluate and report: scores of translations by any metrics; web pages about trainings, and comparisons of systems."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from phrasebeam.api.arguments import File, Files, MemoryBound, TargetColumn, memory_bound, paths
from phrasebeam.base.config import MOST_COUNTED
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file, check_keeps_inputs, read_lines
from phrasebeam.base.memory_bound import memory_option
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
from phrasebeam.training.report.run_files import find_training
from phrasebeam.training.report.training_report import training_report
from phrasebeam.training.report.translated_sets import TranslatedSets, translated_sets

DOCUMENTS = "The target side of TSV, TMX, XLIFF and PO files is read."


@described()
def evaluate(
    hypothesis: Annotated[
        Files, f"Translations, one file for each system; the first system is the baseline. {DOCUMENTS}"
    ],
    reference: Annotated[Files, "Reference translations; one file for each set of references."],
    *,
    metric: Annotated[
        str | Sequence[str] | None, Option(f"One or more metrics: {', '.join(METRICS)}.", unset="bleu, chrf++")
    ] = None,
    tokenize: Annotated[str | None, Option("BLEU's tokenizer: 13a, none, intl, zh, char ...", unset="13a")] = None,
    lowercase: Annotated[bool, "Ignore case (TER always does)."] = False,
    paired: Annotated[
        PairedName | None, "Significance test of the difference between each system and the first."
    ] = None,
    confidence: Annotated[
        bool, "95 % confidence interval by bootstrap, for a single system; `paired` reports its own."
    ] = False,
    trials: Annotated[
        int | None, Option("Number of resamples or shuffles.", unset="1000; randomization: 10000")
    ] = None,
    seed: Annotated[int, "Random seed of the resampling."] = EvaluationOptions.seed,
    target_column: TargetColumn = None,
    page: Annotated[
        File | None,
        "Output file (.html) for a page that compares systems with the first, sentence by sentence; "
        "`paired` is then bootstrap.",
    ] = None,
    source: Annotated[File | None, "Source sentences, one per line, which `page` shows."] = None,
    most: Annotated[
        int, Field(ge=1, le=MOST_COUNTED), "How many of the largest gains, and of the largest losses, `page` shows."
    ] = 50,
) -> Evaluation:
    """Score translations with BLEU, chrF++ and others, and test whether systems differ.

    BLEU, chrF and TER equal those of sacrebleu, and word and character error rates (WER, CER) those of jiwer. Accuracy
    is the percentage of segments that equal a reference. `evaluate_texts` scores lists of sentences instead of files.

    Returns the results of all systems by metric. Raises FormatError if files differ in length, ConfigError, OSError.

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
    """Raise ConfigError if the page cannot be made, or would replace a file that is read."""
    if page is None and source is not None:
        raise ConfigError("only a page shows source; give page, too")
    if page is not None and len(files) < 2:
        raise ConfigError(f"a page compares two or more systems, got {len(files)}; give more files as hypothesis")
    check_keeps_inputs([page], [source, *files, *references])


def _source_lines(source: File, reference: File, texts: EvaluatedTexts) -> list[str]:
    lines = list(read_lines(source))
    check_parallel(source, lines, reference, texts.references[0])
    return lines


@described()
def report(
    run: Annotated[
        Files,
        Option(
            "Output directory of tune, train or another trainer, finished or not. Several of them, or several files of "
            "translations by any systems, are compared with the first.",
            is_bare=True,
        ),
    ],
    output: Annotated[File, "Output file for the page (.html)."],
    *,
    reference: Annotated[
        Files | None, "Reference translations for files of translations; one file for each set of references."
    ] = None,
    source: Annotated[File | None, "Source sentences, one per line."] = None,
    metric: Annotated[
        str | Sequence[str] | None, Option("Metrics of a comparison, as in evaluate.", unset="bleu, chrf++")
    ] = None,
    tokenize: Annotated[
        str | None, Option("BLEU's tokenizer, as in evaluate.", unset="13a; none for training runs on tokens")
    ] = None,
    most: Annotated[
        int,
        Field(ge=1, le=MOST_COUNTED),
        "How many of the largest gains, and of the largest losses, a comparison shows.",
    ] = 50,
    memory: MemoryBound = None,
) -> None:
    """Write a web page about a training run, or a comparison of systems sentence by sentence.

    The page of a training run has its curves, settings, weights, and the translations that changed. A comparison is the
    same as that of evaluate; training runs are compared by their translations of the development set. A page is a
    single file, which needs no server.

    Raises SmtError or OSError.

    >>> report("model-with-features", "report.html")
    >>> report(["dev.en", "dev.de"], "report.html", reference="dev.en")
    """
    given, places = locals(), paths(run)
    references = paths(reference)
    if not places:
        raise ConfigError("report needs the directory of a training run, or several to compare; got none")
    check_keeps_inputs([output], [source, *references, *(one for one in places if not one.is_dir())])
    with memory_bound(memory_option(memory)):
        if len(places) == 1 and not references:
            page = training_report(find_training(places[0]))
        else:
            compared = _compared_runs(places) if any(map(Path.is_dir, places)) else _compared_files(places, given)
            metrics = [metric] if isinstance(metric, str) else metric or EvaluationOptions.metrics
            how = tokenize or ("none" if compared.is_tokenized else None)
            evaluation = evaluate_read(compared.texts, EvaluationOptions(tuple(metrics), how, paired="bootstrap"))
            command = repeated_command(report, given)
            page = comparison_report(ComparedTexts(compared.texts, compared.source, command, most), evaluation)
        with atomic_file(Path(output)) as file:
            file.write(page)


def _compared_files(places: Sequence[Path], given: Mapping[str, Any]) -> TranslatedSets:
    references = paths(given["reference"])
    if not references:
        raise ConfigError(f"{places[0]}: to compare files of translations, give --reference, too")
    _check_page(given["output"], given["source"], places, references)
    texts = read_evaluated(places, references)
    source = given["source"]
    return TranslatedSets(texts, None if source is None else _source_lines(source, references[0], texts))


def _compared_runs(places: Sequence[Path]) -> TranslatedSets:
    if wrong := [one for one in places if not one.is_dir()]:
        raise ConfigError(
            f"{wrong[0]}: not the directory of a training run; compare training runs, or files of translations"
        )
    return translated_sets(places)
