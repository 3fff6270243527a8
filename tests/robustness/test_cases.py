"""The campaign itself: mutations take any content, the same seed gives the same damage, ends are told apart."""

import io
import signal
from pathlib import Path
from random import Random

import numpy as np
import pytest

from phrasebeam.decoder.model.description import accept_files, open_description
from phrasebeam.decoder.model.digests import file_digest
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.table_check import contradictions
from tests.decoder.models import random_toy
from tests.robustness.archive_mutations import ARCHIVES
from tests.robustness.array_mutations import ARRAYS, ORDERS, shift_values
from tests.robustness.byte_mutations import BYTES
from tests.robustness.cases import LONGEST_MESSAGE, MEMORY, judge, renew_digest
from tests.robustness.isolated import Command, End, run_isolated
from tests.robustness.lm_mutations import CONTRADICTORY, LM_TABLES
from tests.robustness.targets import contradicts
from tests.robustness.text_mutations import TEXT
from tests.robustness.yaml_mutations import YAML

SEEDS = range(20)
LANGUAGE_MODEL = Path(__file__).parent.parent / "lm" / "toy.probing.bin"
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
        (BYTES, TEXTS),
        (TEXT, TEXTS),
        (YAML, DOCUMENTS),
        (ARRAYS, [*NUMBERS, b"", b"x"]),
        (ARCHIVES, [archive(), b"", b"x"]),
        (LM_TABLES, [LANGUAGE_MODEL.read_bytes(), b"", b"x"]),
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


def test_digests_made_anew_are_right_and_the_others_as_they_were(tmp_path):
    model = random_toy(tmp_path / "toy", 7).directory
    accept_files(model)
    before = open_model(model).description.files
    with open(model / "source.vocab", "ab") as file:
        file.write(b"x\n")
    with open(model / "target.vocab", "ab") as file:
        file.write(b"x\n")
    renew_digest(model, "source.vocab")
    changed = open_description(model).files
    assert {name for name, value in changed.items() if before[name] != value} == {"source.vocab"}
    assert changed["source.vocab"] == file_digest(model / "source.vocab")


@pytest.mark.parametrize("mutation", CONTRADICTORY)
def test_contradictory_language_models_are_found(tmp_path, mutation):
    sound = LANGUAGE_MODEL.read_bytes()
    for seed in SEEDS:
        (tmp_path / "lm.bin").write_bytes(damaged := mutation(Random(seed), sound))
        assert damaged == sound or [*contradictions(LanguageModel.load(tmp_path / "lm.bin"))]


def test_what_contradicts_other_tables():
    assert all(contradicts("plain/phrases/slots.npy", mutation) for mutation in ORDERS)
    assert not contradicts("plain/phrases/ln_scores.npy", ORDERS[0])
    assert not contradicts("plain/phrases/slots.npy", shift_values)
