"""evaluate: BLEU, chrF and TER of files of translations."""

from collections.abc import Sequence

from phrasebeam.api.arguments import Files, paths
from phrasebeam.base.checked_arguments import checked
from phrasebeam.training.metrics.evaluation import Evaluation, EvaluationOptions, PairedName, evaluate_files


@checked
def evaluate(
    hypothesis: Files,
    reference: Files,
    *,
    metric: str | Sequence[str] | None = None,
    tokenize: str | None = None,
    lowercase: bool = False,
    paired: PairedName | None = None,
    confidence: bool = False,
    trials: int | None = None,
    seed: int = EvaluationOptions.seed,
) -> Evaluation:
    """Score translations with BLEU, chrF and TER, and test whether systems differ: sacrebleu's numbers and signatures.

    `evaluate_texts` does so with lists of sentences in place of files.

    Args:
        hypothesis: Files of translations, one for each system; the first is the baseline.
        reference: Files of reference translations, one for each set of them.
        metric: "bleu" (the default), "chrf", "ter" ..., or several.
        tokenize: BLEU's tokenizer: "13a" (the default), "none", "intl" ...
        lowercase: Ignore case (BLEU, chrF; TER always does).
        paired: "bootstrap" or "randomization": test of the difference between every system and the first.
        confidence: 95 % confidence interval of one system by bootstrap.
        trials: Resamples or shuffles.
        seed: Of the resampling.

    Returns the results of all systems by metric. Raises FormatError for files of other lengths, ConfigError, OSError.

    >>> evaluation = evaluate("dev.en", "dev.en", metric=["bleu", "ter"], tokenize="none")
    >>> round(evaluation.results["BLEU"][0].score, 2), evaluation.results["TER"][0].score
    (100.0, 0.0)
    """
    metrics = [metric] if isinstance(metric, str) else metric or EvaluationOptions.metrics
    options = EvaluationOptions(tuple(metrics), tokenize, lowercase, paired, confidence, trials, seed)
    return evaluate_files(paths(hypothesis), paths(reference), options)
