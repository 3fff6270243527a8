"""Four strategies that choose the bin and the derivations of a sentence's update (Yu et al. 2013, section 3).

Bin i holds the partial derivations that cover i source words. The update is the features of a better derivation minus
those of the best y-bad hypothesis of a bin; it is invalid if the better one has the higher score as it is.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from phrasebeam.plugins.declarations import extended, plugins


class Bins(NamedTuple):
    """Scores from search and forced decoding for bins 0..n; -inf if there is no such derivation.

    With a margin (a departure from the paper, whose margin is 0) the scores of y-bad ones are higher by it.
    """

    good: np.ndarray  # float64[n + 1], best y-good derivation of the gold lattice
    bad: np.ndarray  # float64[n + 1], best y-bad hypothesis in the beam
    violation: np.ndarray  # float64[n + 1], by how much the y-bad one is better; -inf where one is missing
    has_good: np.ndarray  # bool[n + 1], whether a y-good hypothesis is in the beam
    is_solved: bool  # whether the best hypothesis of the last bin is y-good, and leads by the margin
    closest: (
        float  # score of the hypothesis of the last bin most like the reference; -inf if that is the best y-bad one
    )


class Update(NamedTuple):
    """From the best y-bad hypothesis of `bin` to its best y-good derivation, or to the `closest` hypothesis."""

    bin: int
    closest: bool = False


def early(bins: Bins, phrase_limit: int) -> Update | None:
    """The first of `phrase_limit` bins in a row without y-good hypotheses: no y-good hypothesis can follow.

    A row that reaches the last bin counts as well. In a row the first bin is taken that has both derivations. Where
    there is no such row, the update is the standard one (Collins & Roark 2004, Huang et al. 2012).
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
    """The bin where the y-bad hypothesis is better by most; none if it is better nowhere (equations 6 and 7).

    The violation may include future cost, but bins whose update would be invalid by scores alone are excluded.
    """
    valid = np.where(bins.bad >= bins.good, bins.violation, -np.inf)
    worst = int(np.argmax(valid))
    return Update(worst) if valid[worst] >= 0 else None


def standard(bins: Bins, phrase_limit: int) -> Update | None:
    """The last bin, unless its best hypothesis is y-good (equation 8), even if that is invalid."""
    last = bins.good.size - 1
    return Update(last) if not bins.is_solved and _has_both(bins, last) else None


def local(bins: Bins, phrase_limit: int) -> Update | None:
    """The last bin; the better hypothesis is the one most similar to the reference (equations 9 and 10)."""
    return Update(bins.good.size - 1, closest=True) if not bins.is_solved and np.isfinite(bins.closest) else None


def lead(bins: Bins, update: Update) -> float:
    """The score of the better derivation of an update less that of the worse; above 0 the update is invalid."""
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
