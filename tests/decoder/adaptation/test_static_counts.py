"""Places of hashes in a table are those of a search in halves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.inner_kernels import place_of_hash

KEYS = st.integers(0, 2**64 - 1)

pytestmark = pytest.mark.kernels


@given(st.lists(KEYS | st.integers(2**63, 2**63 + 99), max_size=300), KEYS | st.integers(2**63, 2**63 + 99))
def test_places_of_hashes(keys, key):
    ascending = np.unique(np.array(keys, np.uint64))
    for one in (key, *keys[:3]):
        assert place_of_hash(ascending, np.uint64(one)) == np.searchsorted(ascending, np.uint64(one))
