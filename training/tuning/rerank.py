"""Reranking of given n-best lists with any features: learns weights, and finds the best entry of each list."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError, FormatError, excerpt
from phrasebeam.base.files import atomic_file, read_lines, scratch_directory
from phrasebeam.base.progress import log, stage
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.text.corpus import split
from phrasebeam.training.metrics.metric import Metric
from phrasebeam.training.nbest.moses_nbest import Layout, find_layout, store_nbest
from phrasebeam.training.nbest.nbest_lines import NbestLines
from phrasebeam.training.nbest.nbest_reader import NbestReader, read_value
from phrasebeam.training.nbest.nbest_store import NbestStore
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.methods.problem import Optimum, Problem
from phrasebeam.training.tuning.methods.registry import METHODS

Weights = Mapping[str, Sequence[float]]  # a weight for each value of a feature, by the feature's name in the list
MOST_NAMES = 5  # maximum number of names in a message


class RerankingResult(NamedTuple):
    """Learned weights, and scores of the same lists before and after learning, in the metric's usual units."""

    weights: dict[str, list[float]]
    before: float
    score: float
    optimum: Optimum
    is_better: bool  # whether the score is better than before


def learn(nbest: Path, metric: Metric, config: TuneConfig, start: Weights | None = None) -> RerankingResult:
    """Learn weights that rerank the lists in the file `nbest`, by the method of `config`. Raises FormatError.

    Learning begins with the weights `start`, and 0 for features without a weight there. If `start` is None, it begins
    with the dense weights that store_nbest estimates from the scores of the lists, and 0 for sparse features.
    """
    with stage("read the lists"):
        layout = find_layout(nbest)
    if start is not None:
        check_names(nbest, layout.dense, layout.sparse.values(), start)
    if "fixed" in config.model_fields_set:
        check_fixed(nbest, layout, config.fixed)
    n_dense = len(layout.names)
    with scratch_directory() as directory:
        store = NbestStore(directory, metric.n_sentences, n_dense, metric.n_statistics)
        with stage("store the lists"):
            dense = store_nbest(nbest, layout, metric, store)
        keys = store.keys.tolist()
        names = [*layout.names, *(layout.sparse[key] for key in keys)]
        first = np.append(dense, np.zeros(len(keys))) if start is None else _vector(nbest, start, layout, keys)
        tunable = np.array([name not in config.fixed for name in names])
        rng = np.random.default_rng([config.seeds[0], 1])
        problem = Problem(store.lists(), metric, first, tunable, rng, config.threads, config.memory)
        with stage(f"optimize ({config.method})"):
            optimum = METHODS[config.list_method](problem, config.of(config.list_method))
        before, score = problem.score_of(first), problem.score_of(optimum.weights)
        store.close()
    weights: dict[str, list[float]] = {}
    for name, value in zip(names, optimum.weights.tolist()):
        if value != 0 or name in layout.dense:
            weights.setdefault(name, []).append(value)
    return RerankingResult(weights, metric.reported(before), metric.reported(score), optimum, score > before)


def _vector(path: Path, weights: Weights, layout: Layout, keys: Sequence[int]) -> np.ndarray:
    """The weights of the dense features of a list, then of its sparse features `keys` (float64[F]); 0 if missing.

    Raises FormatError if the number of values of a feature differs from its number of weights.
    """
    found: list[float] = []
    sizes = layout.dense | {layout.sparse[key]: 1 for key in keys}
    for name, size in sizes.items():
        values = weights.get(name, [0.0] * size)
        _check_size(path, name, size, values)
        found += values
    return np.array(found)


def rerank(nbest: Path, weights: Weights) -> Iterator[str]:
    """Yield the text of the best entry of each list (among equals, the first); features without weights are ignored.

    Raises FormatError if the number of values of a feature differs from its number of weights; at the end, the errors
    of check_names.
    """
    reader, n_lines = NbestReader(nbest), 0
    counts, factors = np.zeros(0, np.int64), list[Sequence[float]]()  # occurrences and weights of each name
    for lines in reader:
        names = reader.names.words
        factors += [weights.get(name, ()) for name in names[len(factors) :]]
        sizes = np.array([len(one) for one in factors], np.int64)
        is_wrong = (sizes[lines.name] > 0) & (np.diff(lines.value_first) != sizes[lines.name])
        for i in np.flatnonzero(is_wrong)[:1].tolist():
            name = names[lines.name[i]]
            _check_size(nbest, name, int(lines.value_first[i + 1] - lines.value_first[i]), weights[name])
        scores, flat = np.empty(lines.sentence.size), np.array([value for one in factors for value in one], np.float64)
        _fill_scores(lines, np.append(0, np.cumsum(sizes)), flat, scores)
        counts = np.append(counts, np.zeros(len(names) - counts.size, np.int64))
        counts += np.bincount(lines.name, minlength=counts.size)
        n_lines += scores.size
        best = [begin + int(np.argmax(scores[begin:end])) for begin, end in lines.lists()]
        yield from lines._replace(span=lines.span[best]).hypotheses()
    if n_lines:
        names = reader.names.words
        check_names(nbest, [name for name, count in zip(names, counts) if count == n_lines], names, weights)


@kernel
def _fill_scores(lines: NbestLines, first: np.ndarray, weights: np.ndarray, scores: np.ndarray) -> None:
    """Fill `scores` (float64[L]) of all lines; the weights of name i are weights[first[i]:first[i + 1]], if any."""
    for line in range(scores.size):
        scores[line] = 0.0
        for feature in range(lines.feature_first[line], lines.feature_first[line + 1]):
            name, total = np.int64(lines.name[feature]), 0.0
            for i in range(first[name + 1] - first[name]):
                total += weights[first[name] + i] * lines.value[lines.value_first[feature] + i]
            scores[line] += total


def check_names(path: Path, dense: Iterable[str], sparse: Iterable[str], weights: Weights) -> None:
    """Warn of dense features without a weight, and of weights without a feature in any line.

    A sparse feature may lack a weight, since weights of 0 are not written. Raises FormatError if no feature has a
    weight.
    """
    names = dict.fromkeys([*dense, *sparse])
    if not names.keys() & weights.keys():
        problem = f"no feature has a weight: the list has {_shown(names)}; the weights are of {_shown(weights)}"
        raise FormatError(path, f"{problem}; give both the same names")
    if without := [name for name in dense if name not in weights]:
        log.warning("%s: features without a weight, which are ignored: %s", path, _shown(without))
    if unused := [name for name in weights if name not in names]:
        log.warning("%s: no line has the features of these weights: %s", path, _shown(unused))


def check_fixed(path: Path, layout: Layout, fixed: Iterable[str]) -> None:
    """Warn of names in `fixed`, features that shall keep their weights, that are in no list."""
    if unknown := sorted({*fixed} - {*layout.dense, *layout.sparse.values()}):
        log.warning("%s: no line has the features to be fixed: %s", path, _shown(unknown))


def _shown(names: Iterable[str]) -> str:
    found = list(names)
    more = f" and {len(found) - MOST_NAMES} more" if len(found) > MOST_NAMES else ""
    return ", ".join(map(excerpt, found[:MOST_NAMES])) + more if found else "none"


def _check_size(path: Path, name: str, size: int, weights: Sequence[float]) -> None:
    if len(weights) != size:
        raise FormatError(path, f"the feature {excerpt(name)} has {size} values, but {len(weights)} weights")


def save_weights(weights: Weights, path: Path) -> None:
    """Write a line "name= weight weight ..." for each feature; values in n-best lists have the same format."""
    with atomic_file(path) as file:
        for name, values in weights.items():
            file.write(f"{name}= {' '.join(map(repr, values))}\n".encode())


def load_weights(path: Path) -> dict[str, list[float]]:
    """Read the weights in a file of save_weights, by feature name. Raises FormatError or ConfigError."""
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
