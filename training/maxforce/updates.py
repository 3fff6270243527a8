"""Four strategies that choose the bin and the derivations of a sentence's update (Yu et al. 2013, section 3).

Bin i holds the partial derivations that cover i source words. The update is the features of a better derivation minus
those of the best y-bad hypothesis of a bin; it is invalid if the better derivation already has the higher score.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from phrasebeam.plugins.declarations import extended, plugins


class Bins(NamedTuple):
    """Scores from search and forced decoding for bins 0..n; -inf if there is no such derivation.

    With a margin, which the paper does not have, it is added to the scores of y-bad hypotheses.
    """

    good: np.ndarray  # float64[n + 1], best y-good derivation of the gold lattice
    bad: np.ndarray  # float64[n + 1], best y-bad hypothesis in the beam
    violation: np.ndarray  # float64[n + 1], score of the y-bad one minus that of the y-good one; -inf if one is missing
    has_good: np.ndarray  # bool[n + 1], whether a y-good hypothesis is in the beam
    is_solved: bool  # whether the best hypothesis of the last bin is y-good, and leads by the margin
    closest: (
        float  # score of the hypothesis of the last bin most like the reference; -inf if that is the best y-bad one
    )


class Update(NamedTuple):
    """An update away from the best y-bad hypothesis of bin `bin`, towards the best y-good derivation of this bin.

    If `closest`, it is instead towards the hypothesis that is most like the reference.
    """

    bin: int
    closest: bool = False


def early(bins: Bins, phrase_limit: int) -> Update | None:
    """Update at the first of `phrase_limit` successive bins without y-good hypotheses: none can follow after these.

    Fewer bins are enough if they reach to the last one. The bin is the first of them that has both derivations. If
    there are no such bins, the update is the standard one (Collins & Roark 2004, Huang et al. 2012).
    """
    n_bins, first = bins.good.size, 1
    for i in range(1, n_bins):
        if bins.has_good[i]:
            first = i + 1
        elif i - first + 1 == phrase_limit:
            break
    if first == n_bins:
        return standard(bins, phrase_limit)
    return next((Update(i) for i in range(first, n_bins) if _has_both(bins, i)), None)


def max_violation(bins: Bins, phrase_limit: int) -> Update | None:
    """Update at the bin with the largest violation; none if no bin has a violation (equations 6 and 7).

    The violation may include future cost, but bins whose update would be invalid by scores alone are excluded.
    """
    valid = np.where(bins.bad >= bins.good, bins.violation, -np.inf)
    worst = int(np.argmax(valid))
    return Update(worst) if valid[worst] >= 0 else None


def standard(bins: Bins, phrase_limit: int) -> Update | None:
    """Update at the last bin, even if that is invalid; none if its best hypothesis is y-good (equation 8)."""
    last = bins.good.size - 1
    return Update(last) if not bins.is_solved and _has_both(bins, last) else None


def local(bins: Bins, phrase_limit: int) -> Update | None:
    """Update at the last bin, towards the hypothesis that is most similar to the reference (equations 9 and 10)."""
    return Update(bins.good.size - 1, closest=True) if not bins.is_solved and np.isfinite(bins.closest) else None


def lead(bins: Bins, update: Update) -> float:
    """Score of the better derivation of an update minus that of the worse one; above 0 the update is invalid."""
    better = bins.closest if update.closest else bins.good[update.bin]
    return float(better - bins.bad[update.bin])


def _has_both(bins: Bins, i: int) -> bool:
    return bool(np.isfinite(bins.good[i]) and np.isfinite(bins.bad[i]))


UPDATES: dict[str, Callable[[Bins, int], Update | None]] = extended(
    {"early": early, "max_violation": max_violation, "standard": standard, "local": local},
    plugins().update_strategies,
)
if TYPE_CHECKING:
    Strategy = str
else:
    Strategy = Literal[tuple(UPDATES)]
