"""How many items a message brings."""

from phrasebeam.engine.ray_engine import MOST_ITEMS, ROUNDS, SECONDS_OF_WORK, MessageSize


def test_messages_of_short_items_grow_with_what_has_been_done():
    size = MessageSize(16, 2)
    assert size.next() == 16
    for _ in range(8):
        size.count(16, 16 * 0.001)
    assert size.next() == 16 == 8 * 16 // (ROUNDS * 2)
    size.count(672, 0.672)
    assert size.next() == 800 // (ROUNDS * 2)
    size.count(99200, 99.2)
    assert size.next() == int(SECONDS_OF_WORK / 0.001)
    size.count(10**6, 0.0)
    assert size.next() == MOST_ITEMS


def test_messages_of_long_items_stay_as_small_as_they_may_be():
    size = MessageSize(3, 1)
    size.count(10**6, 10**6)
    assert size.next() == 3
