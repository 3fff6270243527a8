"""The expected gain of a list, and its gradient against differences of the expected gain by definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.training.ranking.expected_gain import ExpectedGain, ListLossSettings, expected_ranking, loss_of
from phrasebeam.training.ranking.list_objective import SampledLogistic
from phrasebeam.training.ranking.pair_losses import direction
from tests.naive import online as naive
from tests.training.ranking.test_pair_losses import by_feature, cases

pytestmark = pytest.mark.kernels
STEP = 1e-5
SCALES = st.sampled_from([0.1, 1.0, 3.0])


@given(cases(), st.data(), SCALES)
def test_the_gradient_is_that_of_the_expected_gain(case, data, scale):
    n = len(case.vectors)
    gains = data.draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=n, max_size=n))
    found = expected_ranking(case.scores(), np.array(gains), scale)
    weights = case.weights()
    assert found.loss == pytest.approx(max(gains) - naive.expected_gain(case.vectors, weights, gains, scale), abs=1e-12)
    moved = by_feature(direction(case.features, found))
    for name, weight in weights.items():
        up, down = (
            naive.expected_gain(case.vectors, weights | {name: weight + step}, gains, scale) for step in (STEP, -STEP)
        )
        assert moved.get(name, 0.0) == pytest.approx((up - down) / (2 * STEP), abs=1e-6)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(0, 1)), min_size=1, max_size=6), SCALES)
def test_scores_of_any_size(list_of, scale):
    scores, gains = np.array(list_of).T
    found = expected_ranking(scores, gains, scale)
    assert np.isfinite(found.coefficients).all() and found.coefficients.sum() == pytest.approx(0.0, abs=1e-9)
    assert -1e-12 <= found.loss <= 1.0
    assert found.n_wrong == (gains[np.argmax(scores)] < gains.max())
    assert found.n_updates == found.coefficients.any()


def test_the_settings_name_the_loss():
    pairs = SampledLogistic(10, 5, 0.0)
    assert loss_of(ListLossSettings(), pairs) is pairs
    assert loss_of(ListLossSettings(loss="expected", loss_scale=3.0), pairs) == ExpectedGain(3.0)
