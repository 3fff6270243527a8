"""evaluate and report: scores of translations by any metrics; pages of trainings, and of systems compared."""

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


@described()
def report(
    run: Annotated[
        Files,
        Option(
            "What tune, train or a train- command wrote to its output, be it done or not; or, to be compared with the "
            "first, several of these, or files of translations by any systems.",
            is_bare=True,
        ),
    ],
    output: Annotated[File, "File for the page, .html."],
    *,
    reference: Annotated[
        Files | None, "Reference translations of files of translations, one file for each set of them."
    ] = None,
    source: Annotated[File | None, "Their source sentences, one a line."] = None,
    metric: Annotated[
        str | Sequence[str] | None, Option("Metrics of a comparison, as of evaluate.", unset="bleu, chrf++")
    ] = None,
    tokenize: Annotated[
        str | None, Option("BLEU's tokenizer, as of evaluate.", unset="13a; none for trainings on tokens")
    ] = None,
    most: Annotated[
        int, Field(ge=1, le=MOST_COUNTED), "Sentences that a comparison shows of the largest gains, and of the losses."
    ] = 50,
    memory: MemoryBound = None,
) -> None:
    """Tell of a training as one page, or compare systems sentence by sentence.

    The page of a training has its curves, settings, weights, and the translations that changed. A comparison is that of
    evaluate; trainings are compared by their translations of the development set. A page needs no other file and no
    server.

    Raises SmtError or OSError.

    >>> report("model-with-features", "report.html")
    >>> report(["dev.en", "dev.de"], "report.html", reference="dev.en")
    """
    given, places = locals(), paths(run)
    references = paths(reference)
    if not places:
        raise ConfigError("report tells of a training, or of several that are compared; got none")
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
        raise ConfigError(f"{places[0]}: files of translations are compared by --reference; give it, too")
    _check_page(given["output"], given["source"], places, references)
    texts = read_evaluated(places, references)
    source = given["source"]
    return TranslatedSets(texts, None if source is None else _source_lines(source, references[0], texts))


def _compared_runs(places: Sequence[Path]) -> TranslatedSets:
    if wrong := [one for one in places if not one.is_dir()]:
        raise ConfigError(f"{wrong[0]}: no directory of a training; compare trainings, or files of translations")
    return translated_sets(places)
