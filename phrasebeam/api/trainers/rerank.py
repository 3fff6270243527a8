"""rerank: learning weights from n-best lists with any features, and choosing the best translations of lists."""

from pathlib import Path
from typing import Annotated, NamedTuple, Unpack

from phrasebeam.api.arguments import Config, File, Files, memory_bound, paths
from phrasebeam.api.trainers.trainer_options import ResourceOptions
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import check_keeps_inputs, output_file, read_lines
from phrasebeam.base.options import Option, described, settings_of
from phrasebeam.base.progress import log
from phrasebeam.training.metrics.definitions import MetricName
from phrasebeam.training.metrics.metric import make_metric
from phrasebeam.training.tuning import rerank as reranking
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.methods.registry import Method


class Reranked(NamedTuple):
    """Learned weights, and the best translations by them."""

    learned: reranking.RerankingResult | None  # None without lists to learn from
    translations: list[str]  # the best of each list of `nbest`; empty if they were written to `output`


class RerankOptions(ResourceOptions, total=False):
    """How weights are learned from given n-best lists."""

    nbest: Annotated[File | None, "N-best lists to rerank."]
    output: Annotated[
        File | None, Option("Output file for the best translations; - for standard output.", unset="returned")
    ]
    train: Annotated[File | None, "N-best lists in Moses' format, to learn weights from."]
    reference: Annotated[Files | None, "Reference translations for `train`; one file for each set of references."]
    method: Method | None
    config: Config
    start_weights: Annotated[
        File | None,
        Option(
            "File with initial weights for `train`; features that are not in it start with 0.",
            unset="the weights that the scores in the lists come from",
        ),
    ]
    metric: MetricName | None
    seed: Annotated[int | None, Option("Random seed.", "seeds")]
    c: Annotated[float | None, Option("C of the MIRA methods, which limits the step size.", "c")]


@described(TuneConfig)
def rerank(
    weights: Annotated[
        File, "File of weights, with lines 'name= weight ...'; it is written if `train` is given, else read."
    ],
    **options: Unpack[RerankOptions],
) -> Reranked:
    """Learn weights from given n-best lists with any features, and choose the best translations of lists by them.

    A line of the log names features without a weight, and weights without a feature. Raises ConfigError, OSError, or
    FormatError, also if no feature has a weight.

    >>> reranked = rerank("rerank.weights", nbest="dev.nbest", train="dev.nbest", reference="dev.en")
    >>> reranked.learned.score >= reranked.learned.before
    True
    >>> reranked.translations == rerank("rerank.weights", nbest="dev.nbest").translations
    True
    """
    nbest, output, train = options["nbest"], options["output"], options["train"]
    reference, start_weights, c = options["reference"], options["start_weights"], options["c"]
    if (train is None) != (not reference):
        raise ConfigError("--train and --reference need each other; give both")
    if train is None and nbest is None:
        raise ConfigError("nothing to do; give --train and --reference to learn weights, --nbest to use them, or both")
    if start_weights is not None and train is None:
        raise ConfigError("--start-weights needs --train; give both, or leave it out")
    check_keeps_inputs([output], [nbest, train, weights, start_weights, *paths(reference)])
    if train is not None:
        check_keeps_inputs([weights], [nbest, train, start_weights, *paths(reference)])
    settings = settings_of(rerank, TuneConfig, options)
    settings = settings if c is None else settings.with_c(c)
    with memory_bound(settings.memory):
        learned = None
        if train is not None:
            start = None if start_weights is None else reranking.load_weights(Path(start_weights))
            learned = _learned(Path(train), paths(reference), settings, start)
            reranking.save_weights(learned.weights, Path(weights))
        if nbest is None:
            return Reranked(learned, [])
        texts = reranking.rerank(Path(nbest), reranking.load_weights(Path(weights)))
        if output is None:
            return Reranked(learned, list(texts))
        with output_file(Path(output)) as file:
            file.writelines(f"{text}\n".encode() for text in texts)
        return Reranked(learned, [])


def _learned(
    train: Path, reference: list[Path], settings: TuneConfig, start: reranking.Weights | None
) -> reranking.RerankingResult:
    """The weights that are learned from the lists in `train`, starting from the weights `start`."""
    references = [list(read_lines(path)) for path in reference]
    learned = reranking.learn(train, make_metric(settings.metric, references, settings.lowercase), settings, start)
    log.info("%s on these lists: %.2f, before %.2f", settings.metric, learned.score, learned.before)
    return learned
