"""Work by Ray's workers: results in order, errors, kills, files that workers do not see, and refusals."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from phrasebeam.base.errors import ConfigError, FormatError, SmtError
from phrasebeam.engine import ray_engine
from phrasebeam.engine.crew import CrewScreen
from phrasebeam.engine.current_engine import EngineSettings, current_engine, using_engine
from phrasebeam.engine.worker import differing, own_versions
from tests import ROOT
from tests.engine.worker_kills import killing


def squared(item):
    return item * item


def test_results_come_in_the_order_of_the_items(engine):
    assert current_engine() is engine
    assert list(engine.map(squared, range(100), 1, at_once=7)) == [i * i for i in range(100)]
    assert list(engine.map(squared, [], 1)) == []


def test_results_do_not_wait_for_all_items(engine):
    def endless():
        i = 0
        while True:
            yield i
            i += 1

    results = engine.map(squared, endless(), 1)
    assert [next(results) for _ in range(40)] == [i * i for i in range(40)]
    results.close()
    assert list(engine.map(squared, [3], 1)) == [9]


def test_errors_of_workers_and_of_reading_are_raised_after_what_was_before(engine):
    def fail(item):
        if item == 9:
            raise FormatError("file", "damaged", 3)
        return item

    results, found = engine.map(fail, range(20), 1, at_once=3), []
    with pytest.raises(FormatError, match="file:3: damaged"):
        found.extend(results)

    def broken():
        yield 1
        raise ValueError("cannot be read")

    results = engine.map(squared, broken(), 1, at_once=1)
    assert next(results) == 1
    with pytest.raises(ValueError, match="cannot be read"):
        next(results)


def test_long_pieces_tell_of_their_steps(engine):
    def work(piece, advance):
        for _ in range(piece):
            time.sleep(0.01)
            advance(1)
        return piece

    steps = []
    assert list(engine.run(work, range(6), 1, steps.append)) == [*range(6)]
    assert sum(steps) == sum(range(6))


def test_an_error_ends_what_others_do(engine):
    def work(piece, advance):
        if piece == 1:
            raise ConfigError("piece 1")
        time.sleep(60)

    begin = time.monotonic()
    with pytest.raises(ConfigError, match="piece 1"):
        list(engine.run(work, [1, 0], 1, lambda n: None))
    assert time.monotonic() - begin < 30
    assert list(engine.map(squared, [5], 1)) == [25]


def test_calls_share_what_changes_between_them(engine):
    calls = engine.begin(lambda item, shared: (item, shared["weights"].sum()))
    weights = np.ones(1000)
    first = calls.begin([1, 2, 3], calls.share({"weights": weights}))
    weights += 1
    second = calls.begin([4], calls.share({"weights": weights}))
    assert second() == [(4, 2000.0)]
    assert first() == [(1, 1000.0), (2, 1000.0), (3, 1000.0)]


def test_workers_that_are_killed_are_replaced(engine):
    def slow(item):
        time.sleep(0.02)
        return item + 1

    results = []
    with killing(5, 1) as killed:
        while len(killed) < 5:
            results += engine.map(slow, range(60), 1, at_once=5)
    assert results and results == [i + 1 for i in range(60)] * (len(results) // 60)
    assert sum(member.n_replaced for member in engine.crew.members) > 0


def test_work_that_kills_its_workers_is_an_error(engine, monkeypatch):
    monkeypatch.setattr(ray_engine, "MOST_TRIES", 1)
    with pytest.raises(SmtError, match="2 workers died during the same task"):
        list(engine.map(lambda item: os._exit(1), [1], 1))


def test_files_that_workers_do_not_see_are_shipped_once(engine, tmp_path):
    np.save(tmp_path / "rows.npy", np.arange(1 << 16) + os.getpid() * 1000 + time.monotonic_ns() % 1000)
    with open(tmp_path / "rows.npy", "rb") as file:
        # Under this name only this process sees it.
        rows = np.asarray(np.memmap(f"/proc/self/fd/{file.fileno()}", np.int64, "c", 128))
        before = engine.bytes_shared
        assert list(engine.map(lambda i: int(rows[i]), range(64), 1)) == rows[:64].tolist()
        assert rows.nbytes < engine.bytes_shared - before < 4 * rows.nbytes


def test_the_screen_tells_of_each_worker(engine):
    list(engine.map(squared, range(50), 1))
    rows = CrewScreen(engine.crew.members, "127.0.0.1:8265", lambda: 3).rows()
    assert [row[0] for row in rows] == ["0", "1"]
    assert sum(int(row[2]) for row in rows) == 50
    assert CrewScreen(engine.crew.members, "127.0.0.1:8265", lambda: 3).caption().endswith("http://127.0.0.1:8265")


def test_other_versions_are_refused(cluster, monkeypatch):
    ours = own_versions()
    assert differing(ours, ours) == ""
    monkeypatch.setattr("phrasebeam.engine.ray_cluster.own_versions", lambda: ours._replace(python="2.7"))
    with (
        pytest.raises(ConfigError, match=r"python 3.*, here 2.7; install the same"),
        using_engine(EngineSettings(engine="ray", workers=1)),
    ):
        pass


def test_impossible_options_are_refused():
    with pytest.raises(ConfigError, match="give --engine ray"), using_engine(EngineSettings(address="auto")):
        pass


def test_without_ray_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match="phrasebeam\\[ray\\]"), using_engine(EngineSettings(engine="ray")):
        pass


def test_the_local_engine_imports_no_ray():
    script = (
        "import sys, phrasebeam\nfrom phrasebeam.cli import COMMANDS\nfrom importlib import import_module\n"
        "[import_module(f'phrasebeam.commands.{module}') for module in COMMANDS.values()]\n"
        "from phrasebeam.engine.current_engine import *\n"
        "with using_engine(EngineSettings(workers=2)) as engine: assert list(engine.map(abs, [-1], 1)) == [1]\n"
        "assert 'ray' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
