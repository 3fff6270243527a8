"""Pairwise ranking optimization (Hopkins & May 2011): logistic regression on differences of sampled pairs."""

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Factor, Section
from phrasebeam.kernels.jit import kernel
from phrasebeam.training.nbest.nbest_store import Lists
from phrasebeam.training.ranking.pairs import Pairs, sampled_pairs
from phrasebeam.training.tuning.methods.lbfgs import minimize
from phrasebeam.training.tuning.methods.linear import score_row
from phrasebeam.training.tuning.methods.problem import Optimum, Problem

MOST_SAMPLES = 1_000_000  # pairs of a list, which are in memory


class Sampling(Section):
    """How pairs are drawn from lists; the letters are those of Hopkins & May (2011)."""

    samples: int = Field(5000, ge=1, le=MOST_SAMPLES, description="Gamma: number of pairs sampled from each list")
    kept: int = Field(
        50, ge=1, le=MOST_SAMPLES, description="Xi: number of sampled pairs to keep, those with the largest differences"
    )
    threshold: Factor = Field(0.05, description="alpha: minimum difference of the sentence scores of a pair")


class Pro(Sampling):
    """Pairwise ranking optimization."""

    interpolation: float = Field(
        0.1, gt=0, le=1, description="Psi: share of the new weights in the interpolation with the old ones"
    )
    penalty: Factor = Field(1.0, description="factor of the sum of squared weights, relative to the loss of a pair")
    steps: int = Field(100, ge=1, le=100_000, description="maximum number of iterations of L-BFGS")


def pro(problem: Problem, settings: Pro) -> Optimum:
    """Interpolate the current weights with the weights that rank the pairs best."""
    pairs = sample(problem, settings)
    if pairs.better.size == 0:
        return Optimum(problem.start, 0)
    trained, steps = minimize(
        lambda weights: loss(problem, pairs, weights, settings.penalty), problem.start, settings.steps
    )
    weights = settings.interpolation * trained + (1 - settings.interpolation) * problem.start
    return Optimum(np.where(problem.tunable, weights, problem.start), steps)


def sample(problem: Problem, settings: Pro) -> Pairs:
    """Draw pairs from each list, and keep those with the largest differences in sentence score, above the threshold."""
    gains = problem.metric.sentence_scores(problem.lists.statistics)
    first, row = problem.lists.first, problem.lists.row
    better, worse = [], []
    for i in range(problem.n_sentences):
        rows = row[first[i] : first[i + 1]]
        pairs = sampled_pairs(gains[rows], problem.rng, settings.samples, settings.kept, settings.threshold)
        better.append(rows[pairs.better])
        worse.append(rows[pairs.worse])
    return Pairs(np.concatenate(better), np.concatenate(worse))


def loss(problem: Problem, pairs: Pairs, weights: np.ndarray, penalty: float) -> tuple[float, np.ndarray]:
    """Sum over pairs of ln(1 + exp(-lead of the better one)), plus penalty / 2 |w|^2; and its gradient (float64[F])."""
    leads = np.empty(pairs.better.size)
    fill_leads(problem.lists, weights, pairs, leads)
    share = 1.0 / (1.0 + np.exp(np.minimum(leads, 700.0)))  # factor of each pair in the gradient
    gradient = problem.feature_sum(pairs.worse, share) - problem.feature_sum(pairs.better, share)
    moved = np.where(problem.tunable, weights, 0.0)
    value = np.logaddexp(0.0, -leads).sum() + penalty / 2 * (moved @ moved)
    return float(value), gradient + penalty * moved


@kernel
def fill_leads(lists: Lists, weights, pairs: Pairs, leads):
    """Write each pair's score difference by `weights` (float64[F]), better minus worse, to `leads` (float64[P])."""
    for k in range(leads.size):
        leads[k] = score_row(lists, weights, pairs.better[k]) - score_row(lists, weights, pairs.worse[k])
