"""The cost of iterations of maximum expected BLEU training: seconds and memory of each optimizer, on random lists.

    python -m benchmarks.speed.learning.expected_bleu_optimizers [--sentences 25000] [--nbest 100]
        [--pairs 900000] [--table 6000000]

The lists are on disk, as those of `train-expected-bleu` are. Each optimizer has a process of its own, in which kernels
are compiled before it is measured. Growth transformation changes all pairs of the phrase table, the other optimizers
those in the lists.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import run, table
from phrasebeam.base.memory_bound import keep_memory
from phrasebeam.training.expected_bleu.config import Steps
from phrasebeam.training.expected_bleu.growth_transformation import Channel, ascend, divergence, ln_ratio, step
from phrasebeam.training.expected_bleu.list_store import Events, ListStore, ScoredList
from phrasebeam.training.expected_bleu.objective import Design, Objective, expectations, ln_expected
from phrasebeam.training.expected_bleu.optimizers import OPTIMIZERS

PHRASES, PAIRS_OF_SENTENCE, TAU = 8, 60, 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=25000)
    parser.add_argument("--nbest", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=900_000, help="that may stand in lists")
    parser.add_argument("--table", type=int, default=6_000_000, help="pairs of the phrase table")
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    parser.add_argument("--directory", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        print(json.dumps(measured(given)))
        return
    rows = [["optimizer", "parameters", "seconds", "peak MB", "expected BLEU before", "after"]]
    with tempfile.TemporaryDirectory() as directory:
        make_lists(given, Path(directory))
        for name in (*OPTIMIZERS, "gt"):
            options = ["--only", name, "--directory", directory]
            found = json.loads(run([sys.executable, __file__, *sys.argv[1:], *options]).output)
            seconds, memory = f"{found['seconds']:.1f}", f"{found['peak'] / 2**20:.0f}"
            rows.append(
                [name, f"{found['size']:,}", seconds, memory, f"{found['before']:.4f}", f"{found['after']:.4f}"]
            )
            print(rows[-1], file=sys.stderr, flush=True)
    print(table(rows))


def make_lists(given: argparse.Namespace, directory: Path) -> None:
    """Make lists of hypotheses from the pairs that a sentence has; frequent pairs are in many sentences."""
    rng, store = np.random.default_rng(1), ListStore(directory, "random", given.table)
    n, first = given.nbest, np.arange(0, given.nbest * PHRASES + 1, PHRASES)
    quality = rng.normal(size=given.pairs)
    for _ in range(given.sentences):
        own = (given.pairs * rng.random(PAIRS_OF_SENTENCE) ** 3).astype(np.int64)
        pairs = own[rng.integers(PAIRS_OF_SENTENCE, size=(n, PHRASES))]
        bleu = 1 / (1 + np.exp(-quality[pairs].mean(axis=1)))
        orientations = np.zeros((pairs.size, 2), np.int8)
        store.add(ScoredList(np.sort(rng.normal(size=n))[::-1], bleu, first, Events(pairs.ravel(), orientations)))
    store.commit(given.sentences, is_whole=True)
    store.close()


def measured(given: argparse.Namespace) -> dict[str, float]:
    """Seconds of all iterations, peak memory of this process in bytes, and expected BLEU before and after."""
    store = ListStore(given.directory, "random", given.table)
    lists, pairs = store.lists(), store.events().pair
    shared = 1.0, given.threads
    keep_memory(1 << 30)
    expectations(lists._replace(first=lists.first[:5]), np.zeros(pairs.size), *shared)
    values, begin = [], time.perf_counter()
    if given.only == "gt":
        rng = np.random.default_rng(2)
        channels = []
        for _ in range(2):
            phrases, prior = np.sort(rng.integers(given.table // 4, size=given.table)), rng.random(given.table)
            channels.append(Channel(phrases, prior / np.bincount(phrases, prior)[phrases], 0.2))
        begin, found, ascent = time.perf_counter(), tuple(channel.prior for channel in channels), None
        for _ in range(given.iterations):
            by_pair = sum(ln_ratio(channel, p) for channel, p in zip(channels, found))
            expected, by_event = expectations(lists, by_pair[pairs], *shared)
            gradient = np.zeros(given.table)
            gradient[pairs] = by_event / expected
            away = sum(divergence(channel, p) for channel, p in zip(channels, found))
            ascent = ascend(ascent, ln_expected(expected) - TAU * away, found, gradient)
            found = step(tuple(channels), ascent, TAU)
            values.append(expected)
        size = 2 * given.table
    else:
        design = Design(np.arange(pairs.size + 1), np.arange(pairs.size, dtype=np.int32))
        objective = Objective(lists, [design], pairs.size, TAU, *shared)
        weights, state, size = np.zeros(pairs.size), {}, pairs.size
        for _ in range(given.iterations):
            value, gradient = objective.at(weights)
            OPTIMIZERS[given.only](weights, gradient, state, Steps())
            values.append(value.expected_bleu)
    seconds, peak = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"seconds": seconds, "peak": peak, "size": size, "before": values[0], "after": values[-1]}


if __name__ == "__main__":
    main()
