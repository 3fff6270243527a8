"""What is read is never replaced by what is written."""

import os

import pytest

import phrasebeam
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import check_keeps_inputs
from phrasebeam.cli import main

CALLS = {
    "build_lm": lambda text: phrasebeam.build_lm(text, ["other.arpa", text]),
    "cluster": lambda text: phrasebeam.cluster(["other", text], text),
    "select of the source": lambda text: phrasebeam.select(text, "b", "c", text, "e", sentences=1),
    "select of the domain": lambda text: phrasebeam.select("a", "b", text, "d", "e", sentences=1, log=text),
    "align": lambda text: phrasebeam.align("a", text, model="model", output=text),
    "translate": lambda text: phrasebeam.translate("model", input=text, output=text),
    "preprocess": lambda text: phrasebeam.preprocess("model", "source", input=text, output=text),
    "forced_decode": lambda text: phrasebeam.forced_decode("model", text, "b", text),
    "forced_decode, lattice": lambda text: phrasebeam.forced_decode("model", "a", text, "c", lattice=text),
    "evaluate": lambda text: phrasebeam.evaluate(["a", text], "b", page=text),
    "rerank": lambda text: phrasebeam.rerank("weights", nbest=text, output=text),
    "rerank, weights": lambda text: phrasebeam.rerank(text, train="lists", reference=text),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_output_is_no_input(tmp_path, call):
    path = tmp_path / "text"
    path.write_text("a b c\n")
    with pytest.raises(ConfigError, match=r"text: is an input and would be replaced; give another output file"):
        call(str(path))
    assert path.read_text() == "a b c\n" and os.listdir(tmp_path) == ["text"]


@pytest.mark.parametrize("option", ["output", "nbest-output", "lattice-output"])
def test_translate(tmp_path, capsys, option):
    path, link = tmp_path / "text", tmp_path / "link"
    path.write_text("a b c\n")
    link.symlink_to(path)
    more = ["--nbest=2"] if option == "nbest-output" else []
    assert main(["translate", "--model=none", f"--input={path}", f"--{option}={link}", *more]) == 2
    assert "is an input" in capsys.readouterr().err
    assert path.read_text() == "a b c\n"


def test_what_is_no_file():
    check_keeps_inputs(["-", None, os.devnull, "a"], ["-", None, os.devnull, "b"])
