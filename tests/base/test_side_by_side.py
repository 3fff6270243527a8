"""Pieces of work in forked processes and in threads: results in order, steps, errors, workers that are killed."""

import os
import signal
import sys
import time

import pytest

from phrasebeam.base.errors import SmtError
from phrasebeam.base.side_by_side import run_side_by_side


def doubled(piece, advance):
    for _ in range(piece):
        advance(1)
    return 2 * piece, os.getpid()


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_are_in_order(workers):
    steps = []
    results = run_side_by_side(doubled, range(6), workers, steps.append)
    assert [value for value, _ in results] == [0, 2, 4, 6, 8, 10]
    assert sum(steps) == 15
    if sys.platform == "linux":
        assert ({pid for _, pid in results} == {os.getpid()}) == (workers == 1)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_stops_all(workers):
    def work(piece, advance):
        if piece == 0:
            raise ValueError("no such piece")
        for _ in range(1000):
            time.sleep(0.01)
            advance(1)

    begin = time.monotonic()
    with pytest.raises(ValueError, match="no such piece"):
        run_side_by_side(work, range(3), workers, lambda n: None)
    assert time.monotonic() - begin < 5


@pytest.mark.skipif(sys.platform != "linux", reason="does not fork there")
def test_a_worker_that_is_killed_is_an_error():
    def work(piece, advance):
        if piece == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(SmtError, match=r"a worker was killed; [12] pieces are left"):
        run_side_by_side(work, range(2), 2, lambda n: None)
