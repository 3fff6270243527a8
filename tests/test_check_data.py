"""The check of a folder of corpora: what is wrong with it, and exit status 1 for that."""

import subprocess
import sys

import pytest

from phrasebeam import check_data
from phrasebeam.check_data import CORPORA
from tests import ROOT

TEXT = "das ist gut .\n", "this is good .\n"
FILES = {"train": 3, "dev": 2}


@pytest.fixture
def tanaka(tmp_path, monkeypatch):
    monkeypatch.setattr(check_data, "PAIRS", {"tanaka": (3, 2, 0)})
    for part, n in FILES.items():
        for language, text in zip(("ja", "en"), TEXT):
            (tmp_path / f"{part}.{language}").write_text(n * text)
    (tmp_path / "train.align.ja-en").write_text(3 * "0-0 1-1 2-2 3-3\n")
    return tmp_path


def found(folder):
    return "; ".join(check_data.problems(folder, "tanaka", CORPORA["tanaka"]))


def test_what_is_wrong_is_told(tanaka):
    assert found(tanaka) == ""
    (tanaka / "dev.en").write_text("This is good.\n" * 2)
    assert found(tanaka) == (
        "dev.en has no space before the last sign in 2 of 2 lines: tokenize it; "
        "dev.en has capital letters in 2 of 2 lines: lower-case it"
    )
    (tanaka / "dev.en").write_text(TEXT[1])
    (tanaka / "train.align.ja-en").write_text("0-0\n")
    assert found(tanaka) == "dev.ja has 2 lines, dev.en 1; train.align.ja-en has 1 lines, train.ja 3"
    (tanaka / "train.align.ja-en").unlink()
    (tanaka / "dev.ja").unlink()
    assert found(tanaka) == "no dev.ja; no train.align.ja-en"


def test_the_command(tanaka):
    command = [sys.executable, "-m", "phrasebeam.check_data", tanaka.parent, "--corpus", "tanaka"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and "no train.ja and no train.en" in done.stdout
