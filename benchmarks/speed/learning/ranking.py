"""The cost of distributed ranking: sentences per second and worker, number of workers, memory with many features.

    python -m benchmarks.speed.learning.ranking DATA [--corpus ted] [--sentences 2000] [--features 5000000]

It uses lists of 100 distinct hypotheses, cube pruning with pop limit 200, leave-one-out, and the rule features of
Simianer et al. (2012): ids, source bigrams, shapes. Each row is from a process of its own; kernels are compiled before.
Memory is the peak of a process that begins with --features sparse weights, and mixes two shards of them.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import CORPORA, prepare
from benchmarks.experiments.ranking import FEATURES, PAPER
from benchmarks.measure import PHRASEBEAM, run, table
from phrasebeam.base.config import parse_config
from phrasebeam.decoder.sparse.sparse_weights import add_weights, new_sparse_weights
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.development_set import DevelopmentScore
from phrasebeam.training.common.training_data import training_pairs
from phrasebeam.training.joint_selection.config import RankingConfig
from phrasebeam.training.joint_selection.ranking_model import examples_of
from phrasebeam.training.joint_selection.ranking_training import (
    list_objective,
    ranking_training,
    rates_of,
    shards_of,
    start_weights,
)
from phrasebeam.training.online.featured_model import with_features
from phrasebeam.training.online.learned_weights import LearnedWeights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpus", choices=list(CORPORA), default="ted")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--features", type=int, default=5_000_000)
    parser.add_argument("--only", type=int, nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--model", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        print(json.dumps(measured(given, *given.only)))
        return
    rows = [["features", "shards", "workers", "sentences/s", "peak MB"]]
    with tempfile.TemporaryDirectory() as directory:
        files = prepare(given.data / given.corpus, CORPORA[given.corpus], Path(directory))
        options = [f"--{name}={getattr(files, name)}" for name in ("source", "target", "alignment")]
        model = Path(directory) / "model"
        run([*PHRASEBEAM, "train-model", *options, f"--output={model}"])
        for features, shards, workers in ((0, 2, 1), (0, 2, 2), (0, 2, 1), (0, 2, 2), (given.features, 2, 1)):
            only = ["--only", str(features), str(shards), str(workers), "--model", str(model)]
            measurement = run([sys.executable, "-m", "benchmarks.speed.learning.ranking", *sys.argv[1:], *only])
            found = json.loads(measurement.output.splitlines()[-1])
            cells = [f"{found['features']:,}", str(shards), str(workers), f"{found['speed']:.0f}"]
            rows.append([*cells, f"{found['peak'] / 2**20:.0f}"])
    print(table(rows))


def measured(given: argparse.Namespace, n_features: int, n_shards: int, workers: int) -> dict[str, Any]:
    """Sentences per second in one epoch of algorithm 4, and the peak memory of this process."""
    with tempfile.TemporaryDirectory() as directory:
        files = prepare(given.data / given.corpus, CORPORA[given.corpus], Path(directory))
        corpus = BitextFiles(files.source, [files.target], files.alignment)
        settings = PAPER | {"algorithm": 4, "start": "model", "templates": FEATURES["all"]}
        settings |= {"shards": n_shards, "workers": workers, "lm_folds": 0}
        config = parse_config(settings | {"iterations": 1, "sentences": given.sentences}, RankingConfig, "settings")
        decoder = Decoder(with_features(Decoder.load(given.model).model, given.model, Path(directory), config))
        decoder = Decoder(decoder.model, config.search)
        decoder.searcher.rank_by(decoder.model.weights)
        rates, examples = rates_of(decoder.features, config), examples_of([*training_pairs(corpus, config)], config)
        objective = list_objective(decoder, examples, rates, config)
        start = with_many(start_weights(decoder, rates, config), n_features)
        for example in range(20):  # compiles kernels
            objective.outcome(example, objective.snapshot(decoder.model.weights, start.sparse), 1)
        shards = shards_of(len(examples), config)
        training = ranking_training(objective, rates, shards, None, config, Path(directory) / "work")  # type: ignore[arg-type]
        training.scorer = lambda name, weights, sparse: (DevelopmentScore(0.0, []), start.dense)
        begin = time.perf_counter()
        progress = training.finish("speed", start)
        seconds = time.perf_counter() - begin
        size = progress.iterations[1].features
        speed = given.sentences / seconds if n_features else progress.iterations[1].speed * workers
    return {"features": size, "speed": speed, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def with_many(learned: LearnedWeights, n: int) -> LearnedWeights:
    """The weights with `n` more small random sparse weights."""
    if not n:
        return learned
    rng, sparse = np.random.default_rng(1), new_sparse_weights(n)
    add_weights(sparse, rng.integers(1, 2**63, n).astype(np.uint64), rng.normal(0, 1e-6, n))
    return LearnedWeights(learned.dense, sparse, group=np.full(sparse.keys.size, GROUPS.index("rule_id"), np.uint8))


if __name__ == "__main__":
    main()
