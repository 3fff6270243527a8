"""The command `forced-decode`: what it writes and prints, for any number of threads, and what it refuses."""

import json
import math
import sys

import pytest
from matplotlib.figure import Figure

from phrasebeam.cli import main
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder, ForcedResult
from phrasebeam.decoder.forced.forced_settings import ForcedDecodingSettings
from phrasebeam.decoder.forced.reachability import Reachability
from phrasebeam.decoder.output.lattice_rendering import render_lattice
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.held_out.test_leave_one_out import LINES, trained
from tests.decoder.models import random_toy
from tests.naive.forced import is_consistent

SOURCES = ["a b c x", "", "b d a a b", "x", "a b d", "b b b b b b b"]
STATUSES = ["reachable", "unreachable", "prefix", "reachable", "unreachable", "too large"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model, sentences and references of which each status occurs."""
    directory = tmp_path_factory.mktemp("toy")
    toy = random_toy(directory, 7, most=3)
    decoder = Decoder.load(toy.directory, SearchSettings(table_limit=0, distortion_limit=-1))
    texts = [decoder.translate(line).text for line in SOURCES]
    texts[2] = " ".join([*decoder.translate(SOURCES[2][:-2]).text.split(), "nowhere"])
    texts[4] = "nowhere"
    for name, lines in (("source", SOURCES), ("reference", texts)):
        (directory / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return directory, texts


def run(files, tmp_path, *more):
    directory, _ = files
    paths = [f"--{name}={directory / name}" for name in ("source", "reference")]
    options = "--distortion-limit=-1", "--max-states=60", "--least-prefix=2", f"--output={tmp_path / 'out'}"
    return main(["forced-decode", f"--model={directory}", *paths, *options, *more])


def test_writes_what_the_python_api_finds(files, tmp_path, capsys):
    directory, texts = files
    assert run(files, tmp_path, f"--lattice={tmp_path / 'lattice'}", "--threads=2") == 0
    table = capsys.readouterr().out
    found = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [one["status"] for one in found] == STATUSES
    search, forcing = (
        SearchSettings(table_limit=0, distortion_limit=-1),
        ForcedDecodingSettings(max_states=60, least_prefix=2),
    )
    decoder = ForcedDecoder(Decoder.load(directory, search), forcing, keeps_graphs=True)
    lattices = ""
    for number, (line, text, one) in enumerate(zip(SOURCES, texts, found)):
        assert (one["line"], one["source"], one["reference"]) == (number + 1, line, text)
        expected = decoder.force(line, text)
        assert (one["status"], one["ln_derivations"]) == (expected.status, expected.ln_derivations)
        assert (one["source_prefix"], one["target_prefix"]) == (expected.source_prefix, expected.target_prefix)
        lattices += render_lattice(number, expected.graph, "osg")
        if expected.best:
            best = expected.best
            assert (one["score"], one["features"]) == (best.score, best.features)
            assert one["alignment"] == [list(point) for point in best.alignment]
            spans = [[list(phrase.source_span), list(phrase.target_span)] for phrase in best.phrases]
            assert one["segmentation"] == spans
        else:
            assert (one["score"], one["features"], one["alignment"], one["segmentation"]) == (None, None, [], [])
    assert (tmp_path / "lattice").read_text() == lattices
    header = "length sentences % reachable % with prefixes too large words % reachable % with prefixes derivations"
    assert table.splitlines()[0].split() == header.split()
    words, prefix = sum(len(line.split()) for line in SOURCES), found[2]["source_prefix"]
    shares = f"{100 * 5 / words:.1f}", f"{100 * (5 + prefix) / words:.1f}"
    total = sum(math.exp(one["ln_derivations"]) for one in found if one["status"] == "reachable")
    row = ["all", "6", "33.3", "50.0", "1", str(words), *shares, f"{total / 2:.1f}"]
    assert table.splitlines()[-1].split() == row


def test_same_bytes_for_any_number_of_threads(files, tmp_path, capsys):
    outputs = []
    for threads in "1", "2", "3":
        assert run(files, tmp_path, "--threads", threads, "--prefixes=all") == 0
        outputs.append(((tmp_path / "out").read_bytes(), capsys.readouterr().out))
    assert outputs[0] == outputs[1] == outputs[2]


@pytest.fixture(scope="module")
def training_data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("trained")
    trained(directory, LINES)
    return directory


def leave_out(directory, command, mode, *more):
    files = [f"--reference={directory / 'target'}", f"--model={directory / 'model'}", f"--leave-one-out={mode}"]
    return main([command, *files, *more])


def test_leaves_sentence_pairs_out(training_data, tmp_path, capsys, monkeypatch):
    files = f"--source={training_data / 'source'}", f"--output={tmp_path / 'out'}"
    alignment, statuses = training_data / "alignment", {}
    for mode in "drop", "penalty", "singletons":
        assert leave_out(training_data, "forced-decode", mode, *files, f"--alignment={alignment}") == 0
        statuses[mode] = [json.loads(line)["status"] for line in (tmp_path / "out").read_text().splitlines()]
    assert statuses["penalty"] == ["reachable"] * len(LINES)
    assert (
        statuses["drop"]
        == statuses["singletons"]
        == ["reachable", "reachable", "unreachable", "unreachable", "reachable"]
    )
    assert leave_out(training_data, "forced-decode", "penalty", *files, f"--alignment={alignment}", "--aligned") == 0
    found = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [one["status"] for one in found] == statuses["penalty"]
    for one, line in zip(found, alignment.read_text().splitlines()):
        links = [tuple(map(int, point.split("-"))) for point in line.split()]
        assert all(is_consistent(links, range(*source), range(*target)) for source, target in one["segmentation"])
    capsys.readouterr()
    with open(training_data / "source") as text:
        monkeypatch.setattr(sys, "stdin", text)
        more = f"--word-alignment={alignment}", "--distortion-limit=0"
        assert leave_out(training_data, "translate", "drop", *more) == 0
    translations = capsys.readouterr().out.splitlines()
    assert translations[3] == "the buch is small"
    assert translations[1] == "the house"


@pytest.mark.parametrize(
    ("name", "n_lines", "another", "message"),
    [
        ("target", 4, None, "target: ends after line 4, and there are more sentences"),
        ("target", 5, "more", "target:6: more lines than there are sentences"),
        ("alignment", 4, None, "alignment: ends after line 4, and there are more sentence pairs"),
        ("alignment", 5, "0-0", "alignment:6: more lines than there are sentence pairs"),
        ("alignment", 0, "0-9", "alignment:1: point 0-9 lies outside the sentence pair of 4 source and 4 target"),
        ("alignment", 1, "0-0 x", "alignment:2: 'x' is not an alignment point"),
        ("alignment", 1, "0-0", "'das haus': leave-one-out: 2 phrase pairs of the sentence pair are not in the model"),
    ],
)
def test_files_that_do_not_fit_are_named(training_data, tmp_path, capsys, name, n_lines, another, message):
    files = {one: training_data / one for one in ("source", "target", "alignment")}
    lines = [*files[name].read_text(encoding="utf-8").splitlines()[:n_lines], *([another] if another else [])]
    files[name] = tmp_path / name
    files[name].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    model = f"--model={training_data / 'model'}"
    paths = [f"--source={files['source']}", f"--reference={files['target']}", f"--output={tmp_path / 'out'}"]
    more = [f"--alignment={files['alignment']}", "--leave-one-out=drop"]
    assert main(["forced-decode", model, *paths, *more]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_options_that_do_not_go_together(files, tmp_path, capsys):
    for more, message in (
        (["--leave-one-out=drop"], "--leave-one-out and --alignment need each other"),
        (["--aligned"], "--aligned needs --alignment and --leave-one-out"),
        (["--prefixes=closed"], "--prefixes closed needs --alignment and --leave-one-out"),
        (["--lattice=x", "--prefixes=all"], "--lattice writes lattices with one end"),
        (["--max-states=0"], "max_states"),
    ):
        assert run(files, tmp_path, *more) == 2
        assert message in capsys.readouterr().err
    assert main(["translate", f"--model={files[0]}", "--leave-one-out=drop"]) == 2
    assert "--leave-one-out, --reference and --word-alignment need each other" in capsys.readouterr().err


def some_forced():
    return [
        ForcedResult("reachable", 3, 3, 3, ln_derivations=math.log(7)),
        ForcedResult("reachable", 5, 5, 9, ln_derivations=math.log(2000)),
        ForcedResult("prefix", 12, 6, 5, ln_derivations=math.log(50)),
        ForcedResult("too large", 12),
        ForcedResult("unreachable", 0),
    ]


def test_the_table_by_length():
    reached = Reachability()
    for found in some_forced():
        reached.add(found)
    assert [line.split() for line in reached.text().splitlines()[1:]] == [
        ["1-5", "2", "100.0", "100.0", "0", "8", "100.0", "100.0", "1,003.5"],
        ["11-15", "2", "0.0", "50.0", "1", "24", "0.0", "25.0"],
        ["all", "5", "40.0", "60.0", "1", "32", "25.0", "43.8", "1,003.5"],
    ]
    assert Reachability().text().splitlines()[1].split() == ["all", "0", "0.0", "0.0", "0", "0", "0.0", "0.0"]


def test_means_of_numbers_of_derivations_that_no_float_holds():
    reached = Reachability()
    for ln_derivations in (math.log(4), 1000.0, 1000.0):
        reached.add(ForcedResult("reachable", 3, 3, 3, ln_derivations=ln_derivations))
    assert reached.all.ln_mean_derivations == pytest.approx(1000 + math.log(2 / 3))
    assert reached.text().split()[-1] == "1.3e+434"


def test_the_plot(tmp_path):
    reached = Reachability()
    for found in some_forced():
        reached.add(found)
    reached.plot(tmp_path / "new" / "plot.png")
    assert (tmp_path / "new" / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_rows_without_sentences_are_gaps():
    reached = Reachability()
    for status, n_words in (("reachable", 3), ("unreachable", 3), ("reachable", 23)):
        reached.add(ForcedResult(status, n_words))
    figure = Figure()
    reached._draw(figure)
    for axes in figure.axes[:2]:
        for bars, heights in zip(axes.containers, ([50.0, 100.0], [0.0, 0.0], [50.0, 0.0]), strict=True):
            assert [bar.get_x() + bar.get_width() / 2 for bar in bars] == pytest.approx([3.0, 23.0])
            assert [bar.get_height() for bar in bars] == pytest.approx(heights)
        assert axes.get_xlim() == (0.5, 25.5)
        assert axes.get_xticks().tolist() == [3.0, 8.0, 13.0, 18.0, 23.0]
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1-5", "6-10", "11-15", "16-20", "21-25"]
    reached.add(ForcedResult("reachable", 61, ln_derivations=math.log(100)))
    reached._draw(figure := Figure())
    assert figure.axes[2].lines[0].get_xydata().tolist() == [[63.0, pytest.approx(2.0)]]
    assert reached._ticks() == ([3.0, 18.0, 33.0, 48.0, 63.0], ["1-5", "16-20", "31-35", "46-50", "61-65"])
    Reachability()._draw(Figure())


def test_a_plot_of_no_known_format(files, tmp_path, capsys):
    assert run(files, tmp_path, f"--plot={tmp_path / 'plot.words'}") == 2
    assert (
        "plot.words: not a file format for plots; expected a file name that ends in one of " in capsys.readouterr().err
    )
    assert not (tmp_path / "out").exists()


def test_without_matplotlib_it_is_said_how_to_get_it(files, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run(files, tmp_path, f"--plot={tmp_path / 'plot.png'}") == 2
    assert "install it with pip install 'phrasebeam[plots]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
