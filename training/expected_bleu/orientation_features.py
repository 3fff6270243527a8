"""Features of phrase pairs in an orientation, set (d) of Wuebker et al. (2015, section 5.3), and their scores.

One feature for each pair, direction and orientation that the model's lexicalized reordering tells apart, by number:
pair * C + column, C being the columns of its table. They become as many columns more: C models of one weight each.
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

    @property
    def size(self) -> int:
        """Number of features, F."""
        return self.numbers.size


def find_orientation_features(model: Orientations, events: Events, n_before: int) -> OrientationFeatures:
    """The features of events; an event fires none or one in each direction. Other features are the first `n_before`."""
    n_columns, numbers = model.ln_default.size, np.full(events.orientations.shape, ABSENT, np.int64)
    for direction, columns in enumerate(model.columns):
        # The last element is that of UNSEEN, which is -1.
        column = np.append(columns, ABSENT)[events.orientations[:, direction]]
        numbers[:, direction] = np.where(column == ABSENT, ABSENT, events.pair * n_columns + column)
    fires = numbers != ABSENT
    fired, feature_index = np.unique(numbers[fires], return_inverse=True)
    first = np.append(0, np.cumsum(fires.sum(axis=1)))
    return OrientationFeatures(fired, Design(first, (feature_index + n_before).astype(np.int32)))


def condensed_orientations(
    features: OrientationFeatures, weights: np.ndarray, n_pairs: int, n_columns: int
) -> Iterator[np.ndarray]:
    """float32[K, C] scores of all pairs of a table, in pieces, by `weights` (float64[F]); others are 0."""
    for begin in range(0, n_pairs, PAIRS_AT_ONCE):
        end = min(begin + PAIRS_AT_ONCE, n_pairs)
        first, last = np.searchsorted(features.numbers, [begin * n_columns, end * n_columns])
        scores = np.zeros((end - begin) * n_columns, np.float32)
        scores[features.numbers[first:last] - begin * n_columns] = weights[first:last]
        yield scores.reshape(-1, n_columns)
