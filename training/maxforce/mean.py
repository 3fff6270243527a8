"""The mean of the weights that were learned with several seeds: what one order of sentences alone taught counts less.

It is not in Yu et al. (2013), who average over the steps of one training. Where weights are tuned, each training has
its own dense weights and scales of groups, and their means are where tuning of the mean begins.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from phrasebeam.base.progress import log
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.training.common.checkpoint import SignedProgress, load_progress, save_progress
from phrasebeam.training.maxforce.best_weights import BestWeights, best_of, load_best, mean
from phrasebeam.training.maxforce.development import DevelopmentScorer
from phrasebeam.training.maxforce.state import MaxforceProgress, directory_of

FILE = "mean.npz"


class Mean(SignedProgress):
    """What the mean of several trainings came to."""

    format: Literal["phrasebeam maxforce mean 1"] = "phrasebeam maxforce mean 1"
    best: dict[int, int]  # by seed: the iteration whose weights were taken
    score: float
    development_words: int


def finish_mean(work: Path, trainings: Mapping[int, MaxforceProgress], development: DevelopmentScorer) -> Mean:
    """Average, tune and score the best weights of the trainings of several seeds in `work`, unless that was done."""
    best = {seed: progress.best for seed, progress in trainings.items()}
    path, signature = work / FILE, development.signature
    if path.exists():
        found = load_progress(path, Mean, signature)[0]
        if found.best == best:
            return found
    weights = mean((load_best(directory_of(work, seed) / "best.npz") for seed in best), len(best))
    named = Weights.model_validate(development.decoder.features.by_group(weights.dense))
    name = "mean-" + "-".join(f"{seed}.{iteration}" for seed, iteration in best.items())
    scored = development.score_tuned(name, named, weights.table())
    found = Mean(signature=signature, best=best, score=scored.score, development_words=scored.n_words)
    save_progress(path, found, weights._replace(dense=scored.dense)._asdict())
    log.info(f"mean of seeds {', '.join(map(str, best))}; score {scored.score:.2f}, {scored.n_words} words")
    return found


def load_mean(work: Path, signature: str) -> BestWeights:
    """What `finish_mean` kept."""
    return best_of(load_progress(work / FILE, Mean, signature)[1])
