"""Kernels compiled by a second process into the cache from which the first one loads them."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.needs_jit

SCRIPT = """
import numpy as np
from phrasebeam.kernels import second_compiler
from phrasebeam.kernels.hashing import mix, murmur
from phrasebeam.kernels.second_compiler import call_of

second_compiler.processors = lambda: {processors}
{change}
data = np.arange(20, dtype=np.uint8)
with second_compiler.second_compiler([call_of(murmur, data, 0, 20)]):
    mixed = mix(np.uint64(1))
print(mixed, murmur(data, 0, 20), murmur.n_loaded)
"""
FAILS = "second_compiler.module_command = lambda name: real('phrasebeam.no_such_module')"
DIES = "second_compiler.module_command = lambda name: (['/bin/true'], {})"
REAL = "real = second_compiler.module_command\n"


def run(cache, processors, change=""):
    script = SCRIPT.format(processors=processors, change=change)
    environment = os.environ | {"PHRASEBEAM_CACHE": str(cache), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *values, hits = done.stdout.split()
    return values, int(hits), done.stderr


def test_two_processes_find_what_one_finds(tmp_path):
    alone, hits, _ = run(tmp_path / "one", 1)
    assert hits == 0
    assert run(tmp_path / "two", 2) == (alone, 1, "")
    assert run(tmp_path / "two", 2) == (alone, 1, "")  # where nothing is missing


@pytest.mark.parametrize("change", [REAL + FAILS, DIES], ids=["fails", "ends at once"])
def test_what_the_second_did_not_compile_is_compiled_by_the_first(tmp_path, change):
    values, hits, _ = run(tmp_path, 2, change)
    assert (values, hits) == (run(tmp_path / "alone", 1)[0], 0)


def test_without_a_cache_there_is_no_second_process(tmp_path):
    (tmp_path / "file").touch()
    assert run(tmp_path / "file" / "cache", 2)[1] == 0
