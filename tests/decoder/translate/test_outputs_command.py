"""Where `translate` writes n-best lists and lattices, and how it decides by minimum Bayes risk."""

import errno
import os
import subprocess
import sys
from contextlib import nullcontext

import pytest

from phrasebeam.api import translate as translating
from phrasebeam.cli import main
from phrasebeam.decoder.output.lattice_rendering import render_dot, render_search_graph
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.output.rendering import render_nbest
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.outputs import write_outputs
from phrasebeam.decoder.translate.pipeline import LineOutput
from phrasebeam.decoder.translate.translator import Decoder
from tests import ROOT
from tests.decoder.models import random_toy

LINES = ["a b c x", "", "b d a a", "x", "  c   b ", "a b d s"]
TEXT = "\n".join(LINES).encode()
STACK = "--stack", "20"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory


@pytest.fixture(scope="module")
def decoder(model):
    return Decoder.load(model, SearchSettings(stack=20))


@pytest.fixture
def run(model, tmp_path, monkeypatch, capsysbinary):
    def run(*options, status=0, lines=TEXT):
        """(standard output, standard error) of translating `lines`."""
        source = tmp_path / "source"
        source.write_bytes(lines)
        with open(source) as file:
            monkeypatch.setattr(sys, "stdin", file)
            assert main(["translate", "--model", str(model), *STACK, *options]) == status
        output, errors = capsysbinary.readouterr()
        return output.decode(), errors.decode()

    return run


def nbest_of(decoder):
    lists = enumerate(decoder.nbest(line, 5) for line in LINES)
    return "".join(render_nbest(number, translations, False, False) for number, translations in lists)


def lattices_of(decoder, render, beam):
    return "".join(render(number, decoder.lattice(line, beam)) for number, line in enumerate(LINES))


@pytest.mark.parametrize("threads", ["1", "2"])
def test_everything_at_once(run, decoder, tmp_path, threads):
    paths = tmp_path / "nbest", tmp_path / "osg"
    options = "--nbest", "5", "--nbest-output", str(paths[0]), "--lattice-output", str(paths[1]), "--threads", threads
    output, _ = run(*options, "--mbr", "--mbr-scale", "0.5", "--mbr-size", "7")
    assert output.splitlines() == [decoder.mbr(line, MbrSettings(size=7, scale=0.5)).text for line in LINES]
    assert output != run()[0]  # the risk decides otherwise somewhere
    assert paths[0].read_text() == nbest_of(decoder)
    assert paths[1].read_text() == lattices_of(decoder, render_search_graph, float("inf"))


def test_standard_output_in_place_of_translations(run, decoder, tmp_path):
    assert run("--nbest", "5", "--nbest-output", "-", "--threads", "2") == (nbest_of(decoder), "")
    options = "--lattice-output", "-", "--lattice-format", "dot", "--lattice-beam", "0.3"
    assert run(*options) == (lattices_of(decoder, render_dot, 0.3), "")


@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_standard_output_by_another_name(model, decoder, tmp_path, kind):
    command = [sys.executable, "-m", "phrasebeam", "translate", "--model", str(model), *STACK, "--nbest", "5"]
    with open(tmp_path / "output", "wb") as file:
        done = subprocess.run(
            [*command, "--nbest-output", "/dev/stdout"],
            cwd=ROOT,
            input=TEXT,
            stdout=file if kind == "file" else subprocess.PIPE,
            check=True,
            timeout=120,
        )
    output = (tmp_path / "output").read_bytes() if kind == "file" else done.stdout
    assert output.decode() == nbest_of(decoder)


def test_settings_of_the_risk_in_a_file(run, decoder, tmp_path):
    config = tmp_path / "decode.yaml"
    config.write_text("mbr: {size: 7, scale: 3}\n")
    for options, scale in (((), 3), (("--mbr-scale", "0.5"), 0.5)):
        output, _ = run("--config", str(config), *options)
        assert output.splitlines() == [decoder.mbr(line, MbrSettings(size=7, scale=scale)).text for line in LINES]


def test_nothing_half_written(run, tmp_path):
    _, errors = run("--lattice-output", str(tmp_path / "osg"), status=2, lines=b"a b\n\na \xff")
    assert "standard input:3: byte 0xff" in errors
    assert sorted(os.listdir(tmp_path)) == ["source"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--lattice-format", "dot"), "--lattice-format and --lattice-beam need --lattice-output"),
        (("--lattice-beam", "1"), "--lattice-format and --lattice-beam need --lattice-output"),
        (("--lattice-output", "o", "--lattice-format", "svg"), "'--lattice-format'"),
        (("--lattice-output", "o", "--lattice-beam", "-1"), "lattice_beam is "),
        (("--lattice-output", "o", "--lattice-beam", "nan"), "lattice_beam is "),
        (("--nbest", "1", "--nbest-output", "o", "--lattice-output", "o"), "o: two outputs have this name"),
        (("--nbest", "1", "--nbest-output", "-", "--lattice-output", "/dev/stdout"), "/dev/stdout: two outputs"),
        (("--mbr-gain", "chrf++"), "--mbr-size, --mbr-scale and --mbr-gain need --mbr"),
        (("--mbr", "--mbr-size", "0"), "options of --mbr: size: Input should be greater than or equal to 1, found 0"),
        (("--mbr", "--mbr-scale", "-1"), "options of --mbr: scale: "),
        (("--mbr", "--mbr-scale", "inf"), "options of --mbr: scale: "),
    ],
)
def test_mistakes(run, monkeypatch, tmp_path, options, complaint):
    monkeypatch.chdir(tmp_path)
    output, errors = run(*options, status=2)
    assert (output, errors.count("\n")) == ("", 1)
    assert complaint in errors
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("has_file", [False, True])
def test_files_are_written_to_the_end_where_the_reader_of_standard_output_goes(tmp_path, monkeypatch, has_file):
    outputs = [LineOutput(f"{i}\n", f"{i} ||| x\n", "") for i in range(5)]
    reader, writer = os.pipe()
    os.close(reader)
    nbest = tmp_path / "nbest" if has_file else None
    with open(writer, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        with nullcontext() if has_file else pytest.raises(BrokenPipeError):
            write_outputs(outputs, nbest, None)
        os.dup2(os.open(os.devnull, os.O_WRONLY), closed.fileno())
    assert not has_file or nbest.read_text() == "".join(output.nbest for output in outputs)


def test_a_hint_where_most_words_are_unknown(run):
    assert "phrasebeam: the model does not know 3 of 4 words: is the input in its" in run(lines=b"x y a z\n")[1]
    assert run(lines=b"x y a b c\n")[1] == ""


def test_searches_end_where_nothing_more_can_be_written(run, monkeypatch):
    def fail(outputs, *_):
        given.append(outputs)
        next(outputs)
        raise OSError(errno.ENOSPC, "No space left on device", "output")

    given = []
    monkeypatch.setattr(translating, "write_outputs", fail)
    assert run("--threads", "2", status=2) == ("", "phrasebeam: output: No space left on device\n")
    assert given[0].gi_frame is None  # closed: not left to the garbage collector
