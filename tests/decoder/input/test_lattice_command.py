"""`translate --input-format` as people run it."""

import subprocess
import sys

import pytest

from phrasebeam.cli import main
from phrasebeam.decoder.input.lattice_formats import read_plf
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.output.rendering import render
from phrasebeam.decoder.translate.translator import Decoder
from tests import ROOT
from tests.decoder.models import random_toy

PLF = "((('a',0.5,2),('x',0.5,1),),(('b',1.0,1),),(('*EPS*',0.5,1),('c',0.25,1),),)"
COLUMNS = "a 0.5 x 0.5\nb 1.0\n*EPS* 0.5 c 0.25\n\n\nd 1.0"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory


def run(model, text, *options):
    """(exit status, lines of standard output, standard error)"""
    command = [sys.executable, "-m", "phrasebeam", "translate", "--model", str(model), *options]
    done = subprocess.run(command, cwd=ROOT, input=text.encode(), capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode().split("\n")[:-1], done.stderr.decode()


@pytest.fixture(scope="module")
def decoder(model):
    opened = open_model(model)
    return Decoder(opened, weights=opened.weights.model_copy(update={"input_score": [0.5]}))


def test_the_command_translates_lattices_with_all_outputs(model, decoder, tmp_path):
    nbest, lattice = tmp_path / "nbest", tmp_path / "lattice"
    lists = "--nbest", "3", "--nbest-output", str(nbest), "--lattice-output", str(lattice)
    options = "--input-format", "plf", "--input-weight", "0.5", "--alignment", "--segmentation", "--scores"
    status, lines, errors = run(model, f"{PLF}\n\n", *options, *lists)
    best = decoder.translate(read_plf(PLF))
    assert (status, errors) == (0, "")
    assert lines[0] == render(best, alignment=True, segmentation=True, scores=True)
    assert "input_score= -" in lines[0]
    assert nbest.read_text().startswith(f"0 ||| {best.text} ||| ")
    spans = [line.split()[0].split("-") for line in lattice.read_text().split("covered=")[1:]]
    assert max(int(end) for _, end in spans) == 2
    assert lines[1].startswith(" ||| ")


def test_the_command_translates_confusion_networks(model):
    status, lines, errors = run(model, COLUMNS, "--input-format", "confusion", "--input-weight", "0.5", "--mbr")
    assert (status, len(lines), lines[1], errors) == (0, 3, "", "")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("--input-format xml", "'--input-format'"),
        ("--input-format plf", "the model has no weight for the scores of lattices"),
        ("--input-format confusion --input-weight 1", "standard input:1: the sentence that ends here: column 0"),
        ("--input-format plf --markup ignore", "lattices and confusion networks have no markup"),
        ("--input-format plf --prefix PREFIX", "raw text, prefixes and references are only for text input"),
        ("--input-format plf --input-weight nan", "--input-weight nan: expected a finite number"),
    ],
)
def test_mistakes(model, tmp_path, options, complaint):
    (tmp_path / "prefix").write_text("a\n")
    options = options.replace("PREFIX", str(tmp_path / "prefix")).split()
    status, lines, errors = run(model, PLF, *options)
    assert (status, lines, errors.count("\n")) == (2, [], 1)
    assert complaint in errors


def test_the_number_of_paths_has_bounds(model, tmp_path, capsys):
    config = tmp_path / "input.yaml"
    config.write_text("input: {lattice_paths: 0}")
    assert main(["translate", "--model", str(model), "--config", str(config)]) == 2
    assert "input.lattice_paths: Input should be greater than or equal to 1" in capsys.readouterr().err
