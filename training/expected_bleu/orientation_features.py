"""Features of phrase pairs in an orientation, set (d) of Wuebker et al. (2015, section 5.3), and their scores.

There is one feature for each pair, direction and orientation that the model's lexicalized reordering distinguishes. Its
number is pair * C + column, where C is the number of columns of the reordering table. The features become C more
columns of this table: C models, with one weight each.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from phrasebeam.decoder.features.reordering import ABSENT, Orientations
from phrasebeam.training.expected_bleu.list_store import Events
from phrasebeam.training.expected_bleu.objective import Design

PAIRS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class OrientationFeatures:
    """The F orientation features of the events in n-best lists."""

    numbers: np.ndarray  # int64[F], sorted
    design: Design  # features are numbered from `n_before` on, see find_orientation_features
    n_pairs: int  # P of the table
    n_columns: int  # C

    @property
    def size(self) -> int:
        """Number of features, F."""
        return self.numbers.size

    def scores(self, weights: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the scores of all pairs by `weights` (float64[F]), in pieces of PAIRS_AT_ONCE pairs (float32[K, C]).

        The score of a feature that does not occur in the lists is 0.
        """
        n_columns = self.n_columns
        for begin in range(0, self.n_pairs, PAIRS_AT_ONCE):
            end = min(begin + PAIRS_AT_ONCE, self.n_pairs)
            first, last = np.searchsorted(self.numbers, [begin * n_columns, end * n_columns])
            scores = np.zeros((end - begin) * n_columns, np.float32)
            scores[self.numbers[first:last] - begin * n_columns] = weights[first:last]
            yield scores.reshape(-1, n_columns)


def find_orientation_features(model: Orientations, events: Events, n_pairs: int, n_before: int) -> OrientationFeatures:
    """The orientation features of events, numbered from `n_before` on; an event fires at most one in each direction."""
    n_columns = model.ln_default.size
    # The appended last element is the column of UNSEEN, which is -1.
    by_direction = [np.append(columns, ABSENT)[events.orientations[:, i]] for i, columns in enumerate(model.columns)]
    columns = np.stack(by_direction, axis=1)
    fires = columns != ABSENT
    numbers = (events.pair[:, None] * n_columns + columns)[fires]
    fired, feature_index = np.unique(numbers, return_inverse=True)
    first = np.append(0, np.cumsum(fires.sum(axis=1)))
    return OrientationFeatures(fired, Design(first, (feature_index + n_before).astype(np.int32)), n_pairs, n_columns)
