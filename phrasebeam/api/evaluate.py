"""evaluate: scores by any metrics of files of translations."""

from collections.abc import Sequence
from typing import Annotated

from phrasebeam.api.arguments import Files, TargetColumn, paths
from phrasebeam.base.options import Option, described
from phrasebeam.training.metrics.definitions import METRICS
from phrasebeam.training.metrics.evaluation import Evaluation, EvaluationOptions, PairedName, evaluate_files

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
) -> Evaluation:
    """Score translations with BLEU, chrF++ and others, and test whether systems differ.

    BLEU, chrF and TER are sacrebleu's numbers, error rates of words (WER) and characters (CER) those of jiwer; accuracy
    is the share of segments that are as a reference has them. `evaluate_texts` does so with lists of sentences in place
    of files.

    Returns the results of all systems by metric. Raises FormatError for files of other lengths, ConfigError, OSError.

    >>> evaluation = evaluate("dev.en", "dev.en", metric=["bleu", "ter"], tokenize="none")
    >>> round(evaluation.results["BLEU"][0].score, 2), evaluation.results["TER"][0].score
    (100.0, 0.0)
    """
    metrics = [metric] if isinstance(metric, str) else metric or EvaluationOptions.metrics
    options = EvaluationOptions(tuple(metrics), tokenize, lowercase, paired, confidence, trials, seed)
    return evaluate_files(paths(hypothesis), paths(reference), options, target_column)
