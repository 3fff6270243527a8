"""The cost of each tuning method on n-best lists with random features: wall and processor seconds.

    python -m benchmarks.speed.learning.tuning_methods [--sentences 1000] [--nbest 200] [--features 15 228]
        [--threads 2]

The statistics are from random changes to random references. Settings are the defaults; kernels are compiled before.
"""

import argparse
import sys
import time

import numpy as np

from benchmarks.measure import table
from phrasebeam.training.metrics.metric import make_metric
from phrasebeam.training.nbest.nbest_store import Lists
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.methods.problem import Problem
from phrasebeam.training.tuning.methods.registry import METHODS, Method

N_WORDS, VOCABULARY, CHANGED = 12, 2000, 0.4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--nbest", type=int, default=200)
    parser.add_argument("--features", type=int, nargs="+", default=[15, 228])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS))
    given = parser.parse_args()
    rows = [["method", "features", "seconds", "processor seconds", "updates", "score before", "after"]]
    for method in given.method:
        optimize(make_problem(4, 4, 2, 1), method)
        for n_features in given.features:
            problem = make_problem(given.sentences, given.nbest, n_features, given.threads)
            rows.append([method, str(n_features), *optimize(problem, method)])
            print(rows[-1], file=sys.stderr, flush=True)
    print(table(rows))


def make_problem(n_sentences: int, n_best: int, n_features: int, threads: int) -> Problem:
    """Random lists, in which the first features are weakly correlated with the quality of a hypothesis."""
    rng, n = np.random.default_rng(1), n_sentences * n_best
    references = rng.integers(VOCABULARY, size=(n_sentences, N_WORDS))
    words = np.repeat(references, n_best, axis=0)
    is_changed = rng.random(words.shape) < CHANGED * rng.random((n, 1))
    words = np.where(is_changed, rng.integers(VOCABULARY, size=words.shape), words)
    metric = make_metric("bleu", [[" ".join(map(str, line)) for line in references.tolist()]])
    sentence = np.repeat(np.arange(n_sentences), n_best)
    statistics = metric.statistics(sentence, [" ".join(map(str, line)) for line in words.tolist()])
    dense = rng.normal(size=(n, n_features)).astype(np.float32)
    dense -= is_changed.sum(axis=1, keepdims=True) / np.arange(1, n_features + 1)
    nothing = np.zeros(n + 1, np.int64)
    lists = Lists(
        np.arange(0, n + 1, n_best),
        np.arange(n),
        dense.astype(np.float32),
        nothing,
        np.zeros(0, np.int32),
        np.zeros(0, np.float32),
        statistics,
    )
    return Problem(lists, metric, np.full(n_features, 0.2), np.ones(n_features, bool), rng, threads)


def optimize(problem: Problem, method: Method) -> list[str]:
    """The cost of a method, and its scores before and after."""
    begin, processor = time.perf_counter(), time.process_time()
    optimum = METHODS[method](problem, TuneConfig().of(method))
    seconds, processor = time.perf_counter() - begin, time.process_time() - processor
    before, after = (100 * problem.score_of(weights) for weights in (problem.start, optimum.weights))
    return [f"{seconds:.1f}", f"{processor:.1f}", f"{optimum.n_updates:,}", f"{before:.2f}", f"{after:.2f}"]


if __name__ == "__main__":
    main()
