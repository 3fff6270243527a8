"""Lines of text that programs stumble over, as input of every command that reads text line by line."""

import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.decoder.models import random_toy
from tests.robustness.cases import judge
from tests.robustness.isolated import run_here, run_isolated
from tests.robustness.nasty_text import nasty_lines
from tests.robustness.operations import command_in

SEARCH = "translate --model toy --nbest 3 --nbest-output out/nbest --lattice-output out/lattice --scores --alignment"
TRAIN = "train-model --output out/model"
OPERATIONS = {
    "source": f"{SEARCH} --segmentation < nasty",
    "cube": f"{SEARCH} --algorithm cube --mbr < nasty",
    "drop": f"{SEARCH} --oov drop < nasty",
    "mark": f"{SEARCH} --oov mark < nasty",
    **{markup: f"{SEARCH} --markup {markup} < nasty" for markup in ("exclusive", "inclusive", "constraint")},
    "prefix": "translate --model toy --prefix nasty --partial-word < source",
    "training source": f"{TRAIN} --source nasty --target reference --alignment alignment",
    "training target": f"{TRAIN} --source source --target nasty --alignment alignment",
    "alignment": f"{TRAIN} --source source --target reference --alignment nasty",
    "forced": "forced-decode --model toy --source nasty --reference reference --output out/forced",
    "forced reference": "forced-decode --model toy --source source --reference nasty --output out/forced",
    "evaluate": "evaluate --hypothesis nasty --reference reference --metric bleu chrf ter wer cer accuracy",
    "evaluate by": "evaluate --hypothesis reference --reference nasty --tokenize intl",
    "evaluate page": "evaluate --hypothesis nasty reference --reference reference --trials 2 --page out/page",
    "align": "align --source nasty --target reference --aligner fast_align --scores out/scores --output out/links",
    "gold": "align --model toy --source source --target reference --gold nasty --output out/links",
    "build-lm": "build-lm --text nasty --order 2 --output out/lm.arpa",
    "cluster": "cluster --text nasty --classes 2 --output out/paths",
    "rerank": "rerank --weights weights --nbest nasty",
    "weights": "rerank --weights nasty --nbest nbest",
}
SOURCE, REFERENCE, ALIGNMENT = "a b c\nd\n", "s t u\nv\n", "0-0 1-1\n0-0\n"
SECONDS = 30
SHOWN = 1500  # characters of errors


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A model, text, and the kernels of all operations in this process."""
    path = tmp_path_factory.mktemp("nasty")
    random_toy(path / "toy", 3)
    files = {"source": SOURCE, "reference": REFERENCE, "alignment": ALIGNMENT, "nasty": SOURCE}
    files |= {"weights": "a= 1\n", "nbest": "0 ||| x y ||| a= 1 ||| 1\n0 ||| x ||| a= 2 ||| 2\n"}
    for name, text in files.items():
        (path / name).write_text(text)
    for line in OPERATIONS.values():
        (path / "out").mkdir(exist_ok=True)
        run_here([command_in(line)], path)
    return path


@pytest.mark.needs_jit
@settings(max_examples=60)
@given(lines=st.lists(nasty_lines, min_size=1, max_size=4), name=st.sampled_from(sorted(OPERATIONS)))
def test_nasty_lines_do_no_harm(directory, lines, name):
    (directory / "nasty").write_bytes(b"".join(piece * times + b"\n" for piece, times in lines))
    shutil.rmtree(directory / "out", ignore_errors=True)
    (directory / "out").mkdir()
    command = command_in(OPERATIONS[name])
    end = run_isolated([command], directory, SECONDS)
    assert judge(end) in ("same", "clean"), f"{end.status}: {end.errors[-SHOWN:]}"
    if command.stdin == "nasty" and end.status == 0:
        assert end.output.count(b"\n") == len(lines)
