"""The mean of the weights that were learned with several seeds. It depends less on the order of sentences.

Yu et al. (2013) do not have it; they average over the steps of one training. If weights are tuned, each training has
its own dense weights and scales of groups, and tuning of the mean begins with their means.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from phrasebeam.base.config import Count, Seed
from phrasebeam.base.progress import log
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.training.common.best_weights import BestWeights
from phrasebeam.training.common.checkpoint import SignedSection, save_checkpoint
from phrasebeam.training.common.development_set import DevelopmentScorer
from phrasebeam.training.maxforce.state import MaxforceIteration, directory_of
from phrasebeam.training.online.mixing import mean
from phrasebeam.training.online.progress import OnlineProgress, load_best, load_weights

FILE = "mean.npz"


class Mean(SignedSection):
    """The score of the mean weights of several trainings."""

    format: Literal["phrasebeam maxforce mean 1"] = "phrasebeam maxforce mean 1"
    best: dict[Seed, Count]  # the iteration whose weights were averaged, by seed
    score: float
    chrfpp: float | None = None
    development_words: Count


def finish_mean(
    work: Path,
    trainings: Mapping[int, OnlineProgress[MaxforceIteration]],
    development: DevelopmentScorer,
    signature: str,
) -> tuple[Mean, BestWeights]:
    """Average the best weights of several seeds in `work`, tune and score the mean; read it if that was done before."""
    best = {seed: progress.best for seed, progress in trainings.items()}
    path, features = work / FILE, development.decoder.features
    if path.exists():
        done, weights = load_weights(path, Mean, signature, features.size)
        if done.best == best:
            return done, weights
    weights = mean((load_best(directory_of(work, seed), signature, features.size) for seed in best), len(best))
    named = Weights.learned(features.by_group(weights.dense))
    name = "mean-" + "-".join(f"{seed}.{iteration}" for seed, iteration in best.items())
    scored, dense = development.score_tuned(name, named, weights.table())
    weights = weights._replace(dense=dense)
    scores = {"score": scored.score, "chrfpp": scored.chrfpp, "development_words": scored.n_words}
    result = Mean(signature=signature, best=best, **scores)
    save_checkpoint(path, result, weights._asdict().items())
    log.info(f"mean of seeds {', '.join(map(str, best))}; score {abs(scored.score):.2f}, {scored.n_words} words")
    return result, weights
