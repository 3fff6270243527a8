"""A stream mapped by forked processes: order, errors in their place, what is read ahead, processes that are killed."""

import multiprocessing
import os
import signal
import sys
import time

import pytest

from phrasebeam.base.errors import ModelError, SmtError
from phrasebeam.engine.current_engine import LOCAL
from phrasebeam.engine.forked_map import AHEAD, map_by_processes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="does not fork there")


@pytest.mark.parametrize("n", [0, 1, 16, 50])
@pytest.mark.parametrize("processes", [1, 3])
def test_results_are_in_order(n, processes):
    assert list(map_by_processes(lambda i: i * i, range(n), processes, 4)) == [i * i for i in range(n)]


def test_results_larger_than_a_pipe_and_slow_first_items():
    def work(i):
        time.sleep(0.2 if i == 0 else 0)
        return bytes(300_000), i

    assert [i for _, i in map_by_processes(work, range(60), 2, 1)] == list(range(60))


def test_the_engine_forks_for_pythons_work_alone():
    def run(threads, is_python):
        return set(LOCAL.map(lambda _: os.getpid(), range(64), threads, 1, is_python))

    assert run(2, False) == run(1, True) == {os.getpid()}
    assert os.getpid() not in run(2, True)


@pytest.mark.parametrize("processes", [1, 2])
def test_errors_come_after_the_results_of_items_before(processes):
    def fail_at_7(i):
        if i == 7:
            raise ModelError("of item 7")
        return i

    def broken():
        yield from range(6)
        raise OSError("cannot read on")

    found = []
    with pytest.raises(ModelError, match="of item 7"):
        found.extend(map_by_processes(fail_at_7, range(30), processes, 4))
    assert found == list(range(7))
    found = []
    with pytest.raises(OSError, match="cannot read on"):
        found.extend(map_by_processes(fail_at_7, broken(), processes, 4))
    assert found == list(range(6))


def test_who_stops_early_leaves_no_process_and_has_read_little():
    n_read = 0

    def endless():
        nonlocal n_read
        while True:
            yield n_read
            n_read += 1

    results = map_by_processes(lambda i: i, endless(), 2, 3)
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    assert n_read <= 3 * (AHEAD * 2 + 4)
    results.close()
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("when", ["at work", "idle"])
def test_a_process_that_is_killed_is_an_error(when):
    def work(i):
        if when == "at work" and i == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return os.getpid()

    def items():
        yield from range(4)
        if when == "idle":
            for child in multiprocessing.active_children():
                child.kill()
                child.join()
        yield from range(4, 40)

    with pytest.raises(SmtError, match="a worker was killed; start again"):
        list(map_by_processes(work, items(), 2, 2))
