"""The way of tuning that is best on unseen sentences: compared on many splits of kept n-best lists.

    python -m benchmarks.experiments.tuning_splits RUN --output FILE [--splits 20] [--most 100] [--way NAME ...]

RUN is the directory of a finished tuning run of a model without sparse features (MODEL/tuning/seed-1). For each split,
each way optimizes weights on the lists of one half of the sentences, and its weights choose translations from the lists
of the other half. No sentence is decoded again, so that a split takes seconds. Results in FILE are not computed again.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import table
from phrasebeam.base.config import load_config
from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.tables.ragged import taken
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.metrics.metric import Metric
from phrasebeam.training.nbest.nbest_store import INDEX, Lists, NbestStore, StoreIndex
from phrasebeam.training.tuning.methods.mert import Mert, mert
from phrasebeam.training.tuning.methods.mira_batch import MiraBatch, mira_batch
from phrasebeam.training.tuning.methods.mira_corpus import MiraCorpus, mira_corpus
from phrasebeam.training.tuning.methods.problem import Optimum, Problem

Way = Callable[[Problem], np.ndarray]
STEPS = (0.01, 0.1, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--most", type=int, default=100, help="hypotheses of each sentence, at random")
    parser.add_argument("--way", nargs="+", choices=list(WAYS), default=list(WAYS))
    given = parser.parse_args()
    whole, found = read(given.run, given.most), json.loads(given.output.read_text()) if given.output.exists() else {}
    for split in range(given.splits):
        order = np.random.default_rng(split).permutation(whole.n_sentences)
        halves = [np.sort(half) for half in np.array_split(order, 2)]
        for way in given.way:
            key = f"{way}/{split}"
            if key not in found:
                problem = of_sentences(with_seed(whole, split), halves[0])
                weights = WAYS[way](problem)
                found[key] = [100 * one.score_of(weights) for one in (problem, of_sentences(whole, halves[1]))]
                with atomic_file(given.output) as file:
                    file.write(json.dumps(found, indent=1).encode())
    print_table(found)


def read(run: Path, most: int) -> Problem:
    """The lists of a run, with up to `most` hypotheses of each sentence, and the weights that the run started from."""
    index = load_config(run / "nbest" / INDEX, StoreIndex)
    shape, directory = index.shape, run / "nbest"
    store = NbestStore(directory, shape.sentences, shape.dense, shape.statistics, len(index.iterations))
    lists, rng = store.lists(), np.random.default_rng(0)
    kept, sizes = [], []
    for begin, end in zip(lists.first, lists.first[1:]):
        kept.append(np.sort(rng.permutation(lists.row[begin:end])[:most]))
        sizes.append(kept[-1].size)
    lists = lists._replace(first=np.append(0, np.cumsum(sizes)).astype(np.int64), row=np.concatenate(kept))
    decoder = Decoder(open_model(run.parent.parent), None, load_config(run / "weights.00.yaml", Weights))
    start = weight_vector(decoder.dense_weights, decoder.features)
    tunable = np.array([name != "unknown_word_penalty" for name in decoder.features.names()])
    problem = Problem(lists, Metric("bleu", shape.sentences, no_texts), start, tunable)
    return of_sentences(problem, np.arange(shape.sentences))


def no_texts(sentences: np.ndarray, texts: Any) -> np.ndarray:
    """Raise an error: no text has to be scored, since the lists have their statistics."""
    raise ValueError("texts are not scored here; the lists of a run have their statistics")


def with_seed(problem: Problem, seed: int) -> Problem:
    """A copy of the problem with random numbers from `seed`."""
    rng = np.random.default_rng([7, seed])
    return Problem(problem.lists, problem.metric, problem.start, problem.tunable, rng)


def of_sentences(problem: Problem, sentences: np.ndarray) -> Problem:
    """The problem for these sentences only (int64[K], may repeat), in the given order. Its lists are in memory."""
    lists = problem.lists
    first, entries = taken(lists.first, sentences)
    rows = lists.row[entries]
    sparse_first, sparse = taken(lists.sparse_first, rows)
    chosen = Lists(
        first,
        np.arange(rows.size),
        np.ascontiguousarray(lists.dense[rows]),
        sparse_first,
        np.ascontiguousarray(lists.sparse_column[sparse]),
        np.ascontiguousarray(lists.sparse_value[sparse]),
        np.ascontiguousarray(lists.statistics[rows]),
    )
    return Problem(chosen, problem.metric, problem.start, problem.tunable, problem.rng, problem.threads, problem.memory)


def mean_of(weights: Sequence[np.ndarray], tunable: np.ndarray) -> np.ndarray:
    """float64[F], the mean of weights (float64[F]) scaled so that their `tunable` ones (bool[F]) have equal L1 norms.

    The scaling is needed since the scale of weights is arbitrary for methods such as MERT, whose scores do not change.
    """
    norms = np.array([np.abs(one[tunable]).sum() for one in weights])
    scales = np.where(norms > 0, norms.mean() / np.where(norms > 0, norms, 1.0), 1.0)
    scaled = [np.where(tunable, scale * one, one) for scale, one in zip(scales, weights)]
    mean: np.ndarray = np.mean(scaled, axis=0)
    return mean


def bagged(problem: Problem, optimize: Callable[[Problem], Optimum], n_bags: int) -> Optimum:
    """The mean of the weights that `optimize` finds on bootstrap samples of the sentences (Breiman 1996).

    With 0 bags, what it finds on all sentences.
    """
    if not n_bags:
        return optimize(problem)
    found = []
    for _ in range(n_bags):
        sentences = np.sort(problem.rng.integers(0, problem.n_sentences, problem.n_sentences))
        found.append(optimize(of_sentences(problem, sentences)))
    weights = mean_of([optimum.weights for optimum in found], problem.tunable)
    return Optimum(weights, sum(optimum.n_updates for optimum in found))


def method(optimize: Callable[[Problem, Any], Optimum], settings: Any, n_bags: int = 0) -> Way:
    """A way of tuning: the weights that a method finds on all sentences, or their mean over bootstrap samples."""
    return lambda problem: bagged(problem, partial(optimize, settings=settings), n_bags).weights


def step_by_held_out(problem: Problem) -> np.ndarray:
    """Corpus-level MIRA on three quarters of the sentences with several C; the last quarter chooses the best one."""
    order = problem.rng.permutation(problem.n_sentences)
    rest, quarter = (np.sort(part) for part in np.split(order, [3 * order.size // 4]))
    chosen, judged = of_sentences(problem, rest), of_sentences(problem, quarter)
    candidates = [mira_corpus(chosen, MiraCorpus(c=c)).weights for c in STEPS]
    return max(candidates, key=judged.score_of)


WAYS: dict[str, Way] = {
    "default weights": lambda problem: problem.start,
    "corpus MIRA": method(mira_corpus, MiraCorpus()),
    "corpus MIRA, 100 epochs": method(mira_corpus, MiraCorpus(epochs=100)),
    "corpus MIRA, 30 epochs": method(mira_corpus, MiraCorpus(epochs=30)),
    "corpus MIRA, C 0.1": method(mira_corpus, MiraCorpus(c=0.1)),
    "corpus MIRA, C by a quarter": step_by_held_out,
    "corpus MIRA, 100 epochs, 5 bags": method(mira_corpus, MiraCorpus(epochs=100), 5),
    "corpus MIRA, 100 epochs, 10 bags": method(mira_corpus, MiraCorpus(epochs=100), 10),
    "corpus MIRA, 30 epochs, 10 bags": method(mira_corpus, MiraCorpus(epochs=30), 10),
    "corpus MIRA, 100 epochs, C 0.1, 10 bags": method(mira_corpus, MiraCorpus(epochs=100, c=0.1), 10),
    "MERT": method(mert, Mert()),
    "MERT, 10 bags": method(mert, Mert(restarts=3), 10),
    "batch MIRA": method(mira_batch, MiraBatch()),
    "batch MIRA, 10 bags": method(mira_batch, MiraBatch(), 10),
}


def print_table(found: dict[str, list[float]]) -> None:
    """Print a row for each way: means over splits, and the difference to the first method on the same splits."""
    base = "corpus MIRA"
    rows = [["", "splits", "seen half", "other half", "difference", "standard error"]]
    for way in WAYS:
        splits = [key.split("/")[1] for key in found if key.split("/")[0] == way]
        common = [split for split in splits if f"{base}/{split}" in found]
        if len(common) > 1:
            seen, other = ([found[f"{way}/{split}"][i] for split in common] for i in (0, 1))
            gains = [value - found[f"{base}/{split}"][1] for value, split in zip(other, common)]
            error = statistics.stdev(gains) / len(gains) ** 0.5
            means = [f"{statistics.mean(values):.2f}" for values in (seen, other, gains)]
            rows.append([way, str(len(common)), *means, f"{error:.2f}"])
    print(table(rows), flush=True)


if __name__ == "__main__":
    main()
