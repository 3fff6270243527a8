"""The queue against a sorted list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.kernels.priority_queue import dequeue, enqueue

pytestmark = pytest.mark.kernels

CAPACITY = 40
COSTS = st.integers(-3, 3).map(float) | st.just(np.inf)


@given(st.lists(COSTS | st.none(), max_size=CAPACITY))
def test_items_leave_by_cost_and_of_equal_cost_the_later_first(operations):
    costs, items = np.full(CAPACITY, np.nan), np.full(CAPACITY, -7, np.int32)
    waiting, size = [], np.int64(0)
    for item, cost in enumerate(operations):
        if cost is not None:
            enqueue(costs, items, size, cost, item)
            waiting.append((cost, -item))
            size += 1
        elif waiting:
            assert dequeue(costs, items, size) == -min(waiting)[1]
            waiting.remove(min(waiting))
            size -= 1
    left = []
    while size > 0:
        left.append(dequeue(costs, items, size))
        size -= 1
    assert left == [-item for _, item in sorted(waiting)]
