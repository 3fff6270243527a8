"""A threaded map against a list comprehension."""

import itertools
import threading
import time

import pytest

from phrasebeam.base.ordered_map import AHEAD, map_ordered


class Trouble(Exception):
    """Raised on purpose."""


def slow_square(number):
    time.sleep(0.002 * (number % 3))
    return number * number


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 100])
def test_results_come_in_order(threads, n):
    assert list(map_ordered(slow_square, range(n), threads)) == [i * i for i in range(n)]


@pytest.mark.parametrize("threads", [1, 3])
def test_little_is_read_ahead(threads):
    read = []
    items = (read.append(i) or i for i in itertools.count())
    results = map_ordered(lambda item: item, items, threads)
    for taken in range(5):
        assert next(results) == taken
        time.sleep(0.02)
        assert len(read) <= taken + 1 + AHEAD * threads + 1  # one more waits for room
    results.close()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_result_does_not_wait_for_the_next_item(threads):
    asked = threading.Event()

    def items():
        yield 1
        assert asked.wait(10)
        yield 2

    results = map_ordered(lambda item: item, items(), threads)
    assert next(results) == 1
    asked.set()
    assert list(results) == [2]


@pytest.mark.parametrize("threads", [1, 2])
def test_items_that_cannot_be_read_follow_the_results_before(threads):
    def items():
        yield from range(20)
        raise Trouble("line 21")

    results, taken = map_ordered(slow_square, items(), threads), []
    with pytest.raises(Trouble, match="line 21"):
        for result in results:
            taken.append(result)
    assert taken == [i * i for i in range(20)]


@pytest.mark.parametrize("threads", [1, 2])
def test_what_the_function_raises_follows_the_results_before(threads):
    def function(item):
        if item == 7:
            raise Trouble("item 7")
        return item

    results, taken = map_ordered(function, itertools.count(), threads), []
    with pytest.raises(Trouble, match="item 7"):
        for result in results:
            taken.append(result)
    assert taken == list(range(7))


def test_whoever_stops_early_waits_only_for_work_begun():
    begun = []

    def function(item):
        begun.append(item)
        time.sleep(0.05)

    results = map_ordered(function, itertools.count(), 1)
    next(results)
    results.close()
    n_begun = len(begun)
    assert n_begun <= 3
    time.sleep(0.1)
    assert len(begun) == n_begun


def test_one_of_its_threads_may_be_the_one_that_closes_it():  # as the garbage collector does, which runs in any
    is_taken, is_closed = threading.Event(), threading.Event()

    def function(item):
        if item == 1 and is_taken.wait(10):
            results.close()
            is_closed.set()
        return item

    results = map_ordered(function, range(5), 1)
    assert next(results) == 0
    is_taken.set()
    assert is_closed.wait(10)
