"""Scores of translations by all metrics, with sacrebleu's numbers, signatures and tests of significance (Post 2018)."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import PairedTest

from phrasebeam.base.checked_arguments import check_fields, checked
from phrasebeam.base.errors import ConfigError, FormatError, excerpt
from phrasebeam.decoder.documents.sentence_pairs import read_translations
from phrasebeam.training.metrics.definitions import METRICS, MetricOptions
from phrasebeam.training.metrics.score_hints import hint_at_fields, hint_at_low_score, hint_at_tokens

PairedName = Literal["bootstrap", "randomization"]
MOST_TRIALS = 100_000  # sacrebleu has a number in memory for each trial and sentence
PAIRED_TESTS = {"bootstrap": ("bs", 1000), "randomization": ("ar", 10_000)}  # sacrebleu's name and number of trials
CONFIDENCE_TRIALS = 1000


@dataclass(frozen=True)
class EvaluationOptions:
    """The metrics and tests to compute, and their options."""

    metrics: tuple[str, ...] = ("bleu", "chrf++")
    tokenize: str | None = None  # tokenizer of BLEU; None: sacrebleu's own choice
    lowercase: bool = False
    paired: PairedName | None = None  # one of PAIRED_TESTS, which compares every system with the first one
    confidence: bool = False  # compute the confidence interval of a single system by bootstrap
    trials: int | None = None  # of a test; None: sacrebleu's number
    seed: int = 12345  # the default of sacrebleu

    def __post_init__(self) -> None:
        """Raise ConfigError for an option that is unknown or out of range, or options that exclude each other."""
        check_fields(self, "paired")
        for metric in self.metrics or ("none",):
            _expect("metric", metric, tuple(METRICS))
        if self.paired is not None:
            _expect("paired", self.paired, tuple(PAIRED_TESTS))
        if self.tokenize is not None:
            _expect("tokenize", self.tokenize, tuple(BLEU.TOKENIZERS))
        if self.paired and self.confidence:
            raise ConfigError(
                "confidence is for a single system, and a paired test reports its own intervals; give one of them"
            )
        if self.trials is not None and not 2 <= self.trials <= MOST_TRIALS:
            raise ConfigError(f"trials is {excerpt(self.trials)}; expected from 2 to {MOST_TRIALS}")
        if not 1 <= self.seed < 2**32:  # the seeds that numpy accepts
            raise ConfigError(
                f"seed is {excerpt(self.seed)}; expected from 1 to {2**32 - 1} (0 is no seed to sacrebleu)"
            )


@dataclass(frozen=True)
class MetricResult:
    """One metric of one system; parts that were not requested are None."""

    score: float  # 0 to 100, or more for error rates
    p_value: float | None = None  # of the difference from the first system
    mean: float | None = None  # of the bootstrap
    interval: float | None = None  # half of the 95 % confidence interval
    details: str = ""  # from sacrebleu: precisions, brevity penalty, lengths


@dataclass(frozen=True)
class Evaluation:
    """Results by metric (named as in sacrebleu) and system, and the signature of each metric."""

    systems: tuple[str, ...]
    results: Mapping[str, tuple[MetricResult, ...]]  # by metric; in the order of `systems`
    signatures: Mapping[str, str]
    options: EvaluationOptions = field(default_factory=EvaluationOptions)


class EvaluatedTexts(NamedTuple):
    """Sentences of systems and of references; all have the same number of sentences."""

    systems: Mapping[str, Sequence[str]]  # by file name
    references: Sequence[Sequence[str]]  # one list for each set of references


def read_evaluated(
    hypotheses: Sequence[str | Path], references: Sequence[str | Path], column: str | int | None = None
) -> EvaluatedTexts:
    """Read text files, one sentence a line, or the target side of bilingual files.

    `column`: of the target side, see read_translations. Raises FormatError, ConfigError, OSError.
    """
    if not hypotheses or not references:
        raise ConfigError("an evaluation takes at least one hypothesis file and one reference file")
    names = [str(path) for path in hypotheses]
    if len(set(names)) < len(names):
        raise ConfigError(f"a hypothesis file was given twice: {', '.join(names)}")
    lines = {
        path: [line.rstrip() for line in read_translations(path, column)] for path in {*names, *map(str, references)}
    }
    first = str(references[0])
    if not lines[first]:
        raise FormatError(first, "no lines; expected the reference translations, one per line")
    for path, sentences in lines.items():
        check_parallel(path, sentences, first, lines[first])
    return EvaluatedTexts({name: lines[name] for name in names}, [lines[str(path)] for path in references])


def check_parallel(path: str | Path, lines: Sequence[str], reference: str | Path, expected: Sequence[str]) -> None:
    """Raise FormatError unless the file `path` has as many lines as the file `reference`.

    `lines` and `expected` are their lines.
    """
    if len(lines) != len(expected):
        raise FormatError(path, f"{len(lines)} lines, but {reference} has {len(expected)}; each line must match")


def evaluate_files(
    hypotheses: Sequence[str | Path],
    references: Sequence[str | Path],
    options: EvaluationOptions | None = None,
    column: str | int | None = None,
) -> Evaluation:
    """Score files, see read_evaluated. Raises FormatError, ConfigError, OSError."""
    return evaluate_read(read_evaluated(hypotheses, references, column), options)


def evaluate_read(texts: EvaluatedTexts, options: EvaluationOptions | None = None) -> Evaluation:
    """Score texts that were read from files, and give hints at possible problems. Raises ConfigError."""
    evaluation = evaluate_texts(texts.systems, texts.references, options)
    hint_at_fields(texts.systems)
    if bleu := evaluation.results.get("BLEU"):
        if evaluation.options.tokenize != "none":
            hint_at_tokens(texts.systems)
        hint_at_low_score("bleu", min(result.score for result in bleu))
    return evaluation


@checked
def evaluate_texts(
    systems: Mapping[str, Sequence[str]], references: Sequence[Sequence[str]], options: EvaluationOptions | None = None
) -> Evaluation:
    """Score the translations of each system against `references`, a list for each set of references.

    All lists have one sentence for each source sentence. Raises ConfigError.

    >>> evaluation = evaluate_texts({"mine": ["the dog sleeps ."]}, [["the dog sleeps ."]])
    >>> round(evaluation.results["BLEU"][0].score, 2)
    100.0
    """
    options = options or EvaluationOptions()
    lengths = {len(lines) for lines in (*systems.values(), *references)}
    if len(lengths) != 1 or lengths == {0}:
        raise ConfigError(f"systems and references have {sorted(lengths)} sentences; expected the same number of each")
    if options.paired and len(systems) < 2:
        raise ConfigError(f"a paired {options.paired} test compares two or more systems, got {len(systems)}")
    if options.confidence and len(systems) > 1:
        raise ConfigError(f"confidence is for a single system, got {len(systems)}; compare them by a paired test")
    metrics = {name: _metric(name, options, references) for name in dict.fromkeys(options.metrics)}
    with _seed(options.seed):
        if options.paired:
            results, signatures = _paired(systems, metrics, options)
        else:
            results, signatures = _each(systems, metrics, options)
    return Evaluation(tuple(systems), results, signatures, options)


def bleu(hypotheses: Sequence[str], references: Sequence[str], tokenize: str = "none") -> tuple[float, str]:
    """Corpus BLEU of one system against one reference, and its signature; the default is for tokenized text."""
    evaluation = evaluate_texts({"system": hypotheses}, [references], EvaluationOptions(("bleu",), tokenize))
    return evaluation.results["BLEU"][0].score, evaluation.signatures["BLEU"]


def _each(
    systems: Mapping[str, Sequence[str]], metrics: Mapping[str, Metric], options: EvaluationOptions
) -> tuple[dict[str, tuple[MetricResult, ...]], dict[str, str]]:
    trials = (options.trials or CONFIDENCE_TRIALS) if options.confidence else 1
    results, signatures = {}, {}
    for metric in metrics.values():
        scores = [metric.corpus_score(list(lines), None, n_bootstrap=trials) for lines in systems.values()]
        name = scores[0].name
        signatures[name] = metric.get_signature().format()
        results[name] = tuple(
            MetricResult(
                score=score.score,
                mean=float(score._mean) if options.confidence else None,
                interval=float(score._ci) if options.confidence else None,
                details=score._verbose,
            )
            for score in scores
        )
    return results, signatures


def _paired(
    systems: Mapping[str, Sequence[str]], metrics: Mapping[str, Metric], options: EvaluationOptions
) -> tuple[dict[str, tuple[MetricResult, ...]], dict[str, str]]:
    test, trials = PAIRED_TESTS[options.paired or "bootstrap"]
    named = [(name, list(lines)) for name, lines in systems.items()]
    signatures, scores = PairedTest(named, metrics, None, test_type=test, n_samples=options.trials or trials)()
    is_first = [lines == named[0][1] for _, lines in named]
    results = {
        name: tuple(
            MetricResult(float(r.score), _p_value(r.p_value, same), _number(r.mean), _number(r.ci))
            for r, same in zip(scores[name], is_first)
        )
        for name in signatures
    }
    return results, {name: signature.format() for name, signature in signatures.items()}


def _p_value(value: float | None, is_first: bool) -> float | None:
    """sacrebleu's p-value; 1 if the translations equal those of the first system, where its bootstrap says 0.001."""
    return None if value is None else 1.0 if is_first else float(value)


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _metric(name: str, options: EvaluationOptions, references: Sequence[Sequence[str]]) -> Metric:
    """The metric, with its statistics of the references. Raises ConfigError if its tokenizer is not installed."""
    try:
        metric = METRICS[name].sacrebleu(MetricOptions(options.lowercase, options.tokenize), references)
    except (ImportError, RuntimeError) as error:
        message = " ".join(str(error).split())
        raise ConfigError(f"tokenize {options.tokenize}: {message}") from None
    if not isinstance(metric, CHRF):
        return metric
    compute = metric._compute_score_from_stats

    def of_one_type(statistics: Sequence[float]) -> Any:
        """Compute the score. Give 0 the type of other scores, since sacrebleu's bootstrap cannot average two types."""
        score = compute(statistics)
        if isinstance(statistics, np.ndarray) and not score.score:
            score.score = statistics.dtype.type(score.score)
        return score

    metric._compute_score_from_stats = of_one_type
    return metric


@contextmanager
def _seed(seed: int) -> Iterator[None]:
    """Set the seed of sacrebleu's resampling, which it reads only from the environment, and restore it afterwards."""
    before = os.environ.get("SACREBLEU_SEED")
    os.environ["SACREBLEU_SEED"] = str(seed)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SACREBLEU_SEED"]
        else:
            os.environ["SACREBLEU_SEED"] = before


def _expect(option: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ConfigError(f"{option} is {value!r}; expected one of {', '.join(choices)}")
