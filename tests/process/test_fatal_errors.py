"""A mapped file that is cut short while it is read, and C++ without memory: one line, and status 2."""

import ctypes
import os
import subprocess
import sys

import pytest

from phrasebeam.process.fatal_errors import NO_PAGE
from phrasebeam.process.system_errors import NO_MEMORY
from tests import ROOT
from tests.decoder.models import random_toy

MAPPED = """
import sys, threading
import numpy as np
from phrasebeam.base.errors import SmtError
from phrasebeam.base.side_by_side import run_side_by_side
from phrasebeam.engine.forked_map import map_by_processes
from phrasebeam.process.fatal_errors import end_by_fatal_errors
end_by_fatal_errors("tool")
np.ones(1 << 20, np.uint8).tofile(sys.argv[1])
array = np.memmap(sys.argv[1], np.uint8, "c")
open(sys.argv[1], "w").close()
def read(piece, advance=None):
    return int(array.sum())
"""
FORKED = "\ntry:\n    print([*{}])\nexcept SmtError as error:\n    sys.exit(f'tool: {{error}}')\n"
WAYS = {  # with the status, which workers leave to the process that forked them
    "read(0)": 2,
    "[threading.Thread(target=read, args=(i,)).start() for i in range(8)]": 2,
    FORKED.format("run_side_by_side(read, range(4), 2, print)"): 1,
    FORKED.format("map_by_processes(read, range(4), 2, 1)"): 1,
}


def end_of(script, *arguments):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("way", WAYS)
def test_one_line_from_threads_and_workers(tmp_path, way):
    assert end_of(MAPPED + way, tmp_path / "array") == (WAYS[way], "", f"tool: {NO_PAGE}\n")


@pytest.mark.needs_jit
@pytest.mark.parametrize("victim", ["phrases/target_words.npy", "lm.bin"])
def test_a_model_that_is_cut_short_while_translate_reads_it(tmp_path, victim):
    random_toy(tmp_path, 1)
    command = [sys.executable, "-m", "phrasebeam", "translate", "--model", str(tmp_path)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, cwd=ROOT, text=True, bufsize=1, **pipes) as process:
        process.stdin.write("a b c d\n")
        assert process.stdout.readline()
        os.truncate(tmp_path / victim, 0)
        _, errors = process.communicate("d c b a\n")
    assert (process.returncode, errors) == (2, f"phrasebeam: {NO_PAGE}\n")


def test_no_memory_of_cpp():
    try:
        ctypes.CDLL("libstdc++.so.6")
    except OSError:
        pytest.skip("no C++ library of GNU's")
    script = (
        "import ctypes; from phrasebeam.process.fatal_errors import end_by_fatal_errors; end_by_fatal_errors('tool')"
    )
    terminate = "ctypes.CDLL('libstdc++.so.6')._ZSt9terminatev()"
    assert end_of(f"{script}; {terminate}") == (2, "", f"tool: {NO_MEMORY}\n")
