"""The campaign itself: mutations take any content, the same seed gives the same damage, ends are told apart."""

import io
import signal
from random import Random

import numpy as np
import pytest

from tests.robustness.archive_mutations import ARCHIVES
from tests.robustness.array_mutations import ARRAYS
from tests.robustness.byte_mutations import BYTES
from tests.robustness.cases import LONGEST_MESSAGE, MEMORY, judge
from tests.robustness.isolated import Command, End, run_isolated
from tests.robustness.text_mutations import TEXT
from tests.robustness.yaml_mutations import YAML

SEEDS = range(20)
DOCUMENTS = [b"a: 1\nb: [x, 2.5]\nc:\n- d: true\n", b"a:\n", b""]
TEXTS = [b"ein haus\nzwei 0.5 \xc3\xa4\n", b"\n", b"x", b""]


def saved(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


NUMBERS = [
    saved(array) for array in (np.arange(6.0).reshape(3, 2), np.arange(4, dtype=np.int32), np.zeros(0, np.uint8))
]


def archive():
    file = io.BytesIO()
    np.savez(file, a=np.arange(3.0), b=np.arange(4, dtype=np.int32))
    return file.getvalue()


@pytest.mark.parametrize(
    ("mutations", "contents"),
    [
        *((BYTES, TEXTS), (TEXT, TEXTS), (YAML, DOCUMENTS), (ARRAYS, [*NUMBERS, b"", b"x"])),
        (ARCHIVES, [archive(), b"", b"x"]),
    ],
)
def test_mutations_take_any_content_and_depend_on_the_seed_alone(mutations, contents):
    for mutation in mutations:
        changed = 0
        for seed in SEEDS:
            for content in contents:
                damaged = mutation(Random(seed), content)
                assert damaged == mutation(Random(seed), content)
                changed += damaged != content
        assert changed, mutation.__name__


TRACE = "Traceback (most recent call last):\n"


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        (End(0, b"x\n", "", 0), "same"),
        (End(0, b"x\n", "a.py:1: RuntimeWarning: overflow\n", 0), "message"),
        (End(2, b"", "phrasebeam: x.npy: damaged\n", 0), "clean"),
        (End(2, b"", "phrasebeam: x\ny\n", 0), "message"),
        (End(2, b"", f"phrasebeam: {'x' * LONGEST_MESSAGE}\n", 0), "message"),
        (End(2, b"", "phrasebeam: \x1b[31m\n", 0), "message"),
        (End(1, b"", f"{TRACE}  File x\nValueError: y\n", 0), "traceback"),
        (End(0, b"", f"Exception in thread x\n{TRACE}ValueError: y\n", 0), "traceback"),
        (End(1, b"", f"{TRACE}  File x\nMemoryError\n", 0), "memory"),
        (End(0, b"", "", MEMORY + 1), "memory"),
        (End(-11, b"", "Fatal Python error: Segmentation fault\n", 0), "signal"),
        (End(1, b"", "Timeout (0:00:20)!\nThread 0x1 (most recent call first):\n", 0), "hang"),
        (End(-signal.SIGALRM, b"", "", 0), "hang"),
        (End(-signal.SIGXCPU, b"", "Current thread 0x1 (most recent call first):\n", 0), "hang"),
    ],
)
def test_ends_are_told_apart(end, kind):
    assert judge(end) == kind


def test_a_command_ends_in_a_process_of_its_own(tmp_path):
    end = run_isolated([Command(("evaluate", "--hypothesis", "x", "--reference", "y"))], tmp_path, 60)
    assert judge(end) == "clean" and "No such file" in end.errors
