"""Arrays that workers follow, against whole copies of them."""

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.sparse.sparse_weights import add_weights, fill_weights, new_sparse_weights
from phrasebeam.engine.followed_arrays import FollowingArrays, LeadingArrays

KEYS = np.arange(1, 9, dtype=np.uint64)
STEPS = st.lists(st.dictionaries(st.sampled_from(range(8)), st.sampled_from([-1.0, 0.5, 1.0])), min_size=1, max_size=8)


@given(STEPS, st.data())
def test_weights_in_any_order_are_those_of_their_time(steps, data):
    table, times = new_sparse_weights(8), []
    leading, following, n_copies = None, None, 0
    for step in steps:
        add_weights(table, KEYS[[*step]], np.array([*step.values()]))
        now = table.keys, table.values
        changes = leading.changes(now) if leading else None
        if changes is None:
            leading, n_copies = LeadingArrays(now), n_copies + 1
            following = FollowingArrays(pickle.loads(pickle.dumps(leading.copies)))
            changes = leading.no_changes()
        times.append((following, changes, weights_of(table)))
    for following, changes, expected in data.draw(st.permutations(times)):
        following.follow(changes)
        assert weights_of(table._replace(keys=following.arrays[0], values=following.arrays[1])) == expected
    assert n_copies <= 1 + sum(map(len, steps))


def weights_of(table):
    values = np.empty(KEYS.size)
    fill_weights(table, KEYS, values)
    return values.tolist()


def test_a_table_that_has_moved_is_copied_again():
    table, larger = new_sparse_weights(8), new_sparse_weights(16)
    leading = LeadingArrays((table.keys, table.values))
    assert leading.changes((table.keys, table.values)).places.size == 0
    assert leading.changes((larger.keys, larger.values)) is None


def test_changes_that_add_up_to_the_arrays_are_sent_as_a_copy():
    values = np.zeros(300)
    leading = LeadingArrays((values,))
    sizes = []
    for i in range(20):
        values[: 10 * i] += 1.0
        changes = leading.changes((values,))
        if changes is None:
            break
        sizes.append(changes.size)
    assert changes is None
    assert sum(sizes) <= values.nbytes < sum(sizes) + 16 * 10 * i
