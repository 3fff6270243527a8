"""Reranking: weights from given n-best lists with any features, and the best of each list by given weights."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError, FormatError, excerpt
from phrasebeam.base.files import atomic_file, read_lines, scratch_directory
from phrasebeam.base.progress import stage
from phrasebeam.lm.text.corpus import split
from phrasebeam.training.metrics.metrics import Metric
from phrasebeam.training.nbest.moses_nbest import by_sentence, find_layout, read_nbest, read_value, store_nbest
from phrasebeam.training.nbest.nbest_store import NbestStore
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.methods.methods import METHODS
from phrasebeam.training.tuning.methods.problem import Optimum, Problem

Weights = Mapping[str, Sequence[float]]  # by the names of the list, as many as it has values


class RerankingResult(NamedTuple):
    """Learned weights, and scores before and after on the lists they were learned on, in the metric's own units."""

    weights: dict[str, list[float]]
    before: float
    score: float
    optimum: Optimum
    is_better: bool  # than before


def learn(nbest: Path, metric: Metric, config: TuneConfig) -> RerankingResult:
    """Weights that rerank the lists in the file `nbest` well, by the method of `config`. Raises FormatError.

    It begins with the weights that the scores of the lists come from; sparse features begin with 0.
    """
    with stage("read the lists"):
        layout = find_layout(nbest)
    n_dense = len(layout.names)
    with scratch_directory() as directory:
        store = NbestStore(directory, metric.n_sentences, n_dense, metric.n_statistics)
        with stage("store the lists"):
            dense = store_nbest(nbest, layout, metric, store)
        start, tunable = np.zeros(store.n_features), np.ones(store.n_features, bool)
        start[:n_dense] = dense
        tunable[:n_dense] = [name not in config.fixed for name in layout.names]
        rng = np.random.default_rng([config.seeds[0], 1])
        problem = Problem(store.lists(), metric, start, tunable, rng, config.threads, config.memory)
        with stage(f"optimize ({config.method})"):
            optimum = METHODS[config.list_method](problem, config.of(config.list_method))
        before, score = problem.score_of(start), problem.score_of(optimum.weights)
        keys = store.keys.tolist()
        store.close()
    weights: dict[str, list[float]] = {}
    for name, value in zip(layout.names, optimum.weights.tolist()):
        weights.setdefault(name, []).append(value)
    for key, value in zip(keys, optimum.weights[n_dense:].tolist()):
        if value != 0:
            weights[layout.sparse[key]] = [value]
    return RerankingResult(weights, metric.reported(before), metric.reported(score), optimum, score > before)


def rerank(nbest: Path, weights: Weights) -> Iterator[str]:
    """The text of the best entry of each list, the first of several; features without weights count nothing.

    Raises FormatError where a feature has not as many values as weights.
    """
    for entries in by_sentence(read_nbest(nbest)):
        scores = [_score(entry.features, weights, nbest) for entry in entries]
        yield entries[int(np.argmax(scores))].text


def _score(features: Mapping[str, Sequence[float]], weights: Weights, path: Path) -> float:
    total = 0.0
    for name, values in features.items():
        factors = weights.get(name)
        if factors is not None:
            if len(factors) != len(values):
                raise FormatError(
                    path, f"the feature {excerpt(name)} has {len(values)} values, but {len(factors)} weights"
                )
            total += sum(weight * value for weight, value in zip(factors, values))
    return total


def save_weights(weights: Weights, path: Path) -> None:
    """Write a line "name= weight weight ..." for each feature, as n-best lists have their values."""
    with atomic_file(path) as file:
        for name, values in weights.items():
            file.write(f"{name}= {' '.join(map(repr, values))}\n".encode())


def load_weights(path: Path) -> dict[str, list[float]]:
    """Read weights by feature name, as save_weights writes them. Raises FormatError or ConfigError."""
    weights: dict[str, list[float]] = {}
    for number, line in enumerate(read_lines(path), 1):
        name, *values = split(line) or [""]
        try:
            if not name.endswith("=") or not values:
                raise ValueError("expected a name and weights, such as LM0= 0.5")
            if name[:-1] in weights:
                raise ValueError(f"weights of {excerpt(name[:-1])} a second time; remove one line")
            weights[name[:-1]] = [read_value("a weight", value) for value in values]
        except ValueError as error:
            raise FormatError(path, str(error), number) from None
    if not weights:
        raise ConfigError(f"{path}: no weights; expected lines such as LM0= 0.5")
    return weights
