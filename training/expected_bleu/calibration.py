"""Calibration: a phrase penalty and a word penalty for n-best lists, fitted before features are learned.

Long phrases lose more by leave-one-out than they do in unseen text. So the best hypotheses of these lists have fewer
phrases than the hypotheses that weights tuned on other data choose. Without calibration, all features together first
learn to compensate for that, and tuning undoes it afterwards. Wuebker et al. (2015) have no such step.
"""

import numpy as np

from phrasebeam.kernels.jit import kernel
from phrasebeam.training.expected_bleu.objective import LISTS_AT_ONCE, ScoredLists

FIRST_STEP, LAST_STEP = 0.4, 0.05


@kernel
def add_best(lists: ScoredLists, begin, end, weights, total):
    """Add the BLEU of the hypothesis with the best score in each of the lists begin:end (int64) to total[0].

    `weights` (float64[E]): weight of each event; `total`: float64[1].
    """
    for n in range(begin, end):
        best, bleu = -np.inf, 0.0
        for h in range(lists.first[n], lists.first[n + 1]):
            score = np.float64(lists.score[h])
            for z in range(lists.event_first[h], lists.event_first[h + 1]):
                score += weights[lists.event[z]]
            if score > best:
                best, bleu = score, np.float64(lists.bleu[h])
        total[0] += bleu


def calibrate(lists: ScoredLists, target_words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weights of events (float64[E]), and the weights of a phrase and of a target word (float64[2]).

    target_words: int64[E], number of target words in the phrase of each event. The weights maximize the mean BLEU of
    the hypotheses with the best scores. The search makes steps along each weight, and halves the steps if none of
    them is better (Hooke & Jeeves 1961).
    """
    design = np.stack([np.ones(target_words.size), target_words], axis=1)
    point, step = np.zeros(2), FIRST_STEP
    best = mean_best(lists, design @ point)
    while step >= LAST_STEP:
        trials = [point + step * np.array(direction) for direction in ((-1, 0), (1, 0), (0, -1), (0, 1))]
        values = [mean_best(lists, design @ trial) for trial in trials]
        if max(values) > best:
            point, best = trials[int(np.argmax(values))], max(values)
        else:
            step /= 2
    return design @ point, point


def mean_best(lists: ScoredLists, weights: np.ndarray) -> float:
    """Mean BLEU of each list's best hypothesis, by model score plus the `weights` of its events (float64[E])."""
    n_lists, total = lists.first.size - 1, np.zeros(1)
    for begin in range(0, n_lists, LISTS_AT_ONCE):
        add_best(lists, begin, min(begin + LISTS_AT_ONCE, n_lists), weights, total)
    return float(total[0]) / n_lists
