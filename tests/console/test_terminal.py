"""What commands show on a terminal: something at once, a bar while they work, what was done, one line at Ctrl-C."""

import gzip
import re
import shlex
import sys

import pytest

from tests.console.screen import drawn, files_of, on_terminal
from tests.decoder.models import random_toy

COMPILING = "compiling kernels (first run only)"
WORDS = ["a", "b", "c", "a", "b", ".", "a", "c", "b", "c", "b", "a", ".", "b", "a", "c", ".", "c", "c", "a", "b", "."]
FIRST_SECONDS = 1.0
CODE, COLOUR = re.compile(r"\x1b\[[0-9;]*m"), re.compile(r"(?<![0-9])(?:[349][0-7]|10[0-7]|[34]8)(?![0-9])")
SHELL = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1], shell=True))"


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text"
    path.write_text("".join(f"{' '.join(WORDS[i:])}\n" for i in range(12)))
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    random_toy(folder, 3)  # knows all of WORDS but the stop
    return folder


def test_the_screen_of_these_tests():
    assert drawn("one\r\ntwo\rTHREE\r\n\x1b[31mx\x1b[0m\r\x1b[2Ky") == ["one", "THREE", "y"]
    assert drawn("a\r\nb\x1b[1A\r\x1b[2Kc\x1b[?25h") == ["c", "b"]


@pytest.mark.parametrize("command", ["translate", "train-model", "tune", "import-moses"])
def test_a_first_run_says_within_a_second_that_it_compiles(command, tmp_path):
    for attempt in range(3):  # other tests keep processors busy
        screen = on_terminal([command], interrupt_at=COMPILING, PHRASEBEAM_CACHE=str(tmp_path / f"cache-{attempt}"))
        if screen.seconds_until(f"{COMPILING}: 0") < FIRST_SECONDS:
            break
    assert screen.seconds_until(f"{COMPILING}: 0") < FIRST_SECONDS
    assert screen.status == 130
    assert screen.lines[-2:] == ["phrasebeam: interrupted; nothing was written", ""]


def test_further_runs_say_that_they_start(tmp_path):
    seconds = []  # until it is said; the least counts, since other tests keep processors busy
    for _ in range(4):
        screen = on_terminal(["config", "demo"], PHRASEBEAM_CACHE=str(tmp_path / "cache"))
        seconds.append(screen.seconds_until("config: starting"))
        assert "starting" not in "".join(screen.lines)
        assert screen.lines[0].startswith("# A small model")
    assert min(seconds) < FIRST_SECONDS


def test_stages_have_a_bar_and_then_a_line(text, tmp_path):
    arguments = ["cluster", "--text", text, "--output", tmp_path / "classes", "--classes", "2"]
    assert on_terminal(arguments).status == 0
    screen = on_terminal(arguments)
    assert "cluster: starting" in screen.raw
    assert COMPILING not in screen.raw
    counting, clustering, result = [line for line in screen.lines if line]
    assert counting.startswith("counting: ")
    assert clustering.startswith("clustering 4 words into 2 classes: 4 words, ")
    assert result.startswith(f"{tmp_path / 'classes'}: 2 classes")
    assert "━" in screen.raw
    assert "0/?" not in screen.raw


def test_a_dumb_terminal_has_lines_alone(text, tmp_path):
    arguments = ["cluster", "--text", text, "--output", tmp_path / "classes", "--classes", "2"]
    screen = on_terminal(arguments, TERM="dumb")
    assert screen.status == 0
    assert "\x1b" not in screen.raw and "\r" not in screen.raw.replace("\r\n", "\n")
    assert [line.partition(":")[0] for line in screen.lines[-4:-1]] == [
        "counting",
        "clustering 4 words into 2 classes",
        str(tmp_path / "classes"),
    ]
    assert screen.lines[-1] == "" and "" not in screen.lines[:-1]


def test_a_quiet_command_tells_nothing_of_what_it_made(text, tmp_path):
    arguments = ["cluster", "--text", text, "--output", tmp_path / "classes", "--classes", "2"]
    assert (on_terminal(["-q", *arguments]).lines, on_terminal([*arguments, "-q"]).lines) == ([""], [""])
    assert (tmp_path / "classes").read_text().count("\n") == 4


def test_translate_has_a_bar_for_a_file(model, text, tmp_path):
    screen = on_terminal(["translate", "--model", model], text, tmp_path / "out")
    assert screen.status == 0
    assert "/12" in screen.raw
    assert [line.partition(",")[0] for line in screen.lines if line] == ["translating: 12 sentences"]
    assert (tmp_path / "out").read_text().count("\n") == 12


def test_translations_on_the_terminal_have_no_bar_among_them(model, text):
    screen = on_terminal(["translate", "--model", model], text)
    assert len([line for line in screen.lines if line]) == 12
    assert "━" not in screen.raw


def test_quiet_means_nothing_on_the_screen(model, text, tmp_path):
    output = tmp_path / "out.gz"
    screen = on_terminal(["translate", "--model", model, "-q", "--input", text, "--output", output])
    assert (screen.status, screen.lines) == (0, [""])  # numba resets colours
    assert gzip.decompress(output.read_bytes()).count(b"\n") == 12


def test_a_completion_leaves_the_line_of_the_shell_alone():
    given = {"_PHRASEBEAM_COMPLETE": "complete_bash", "COMP_WORDS": "phrasebeam tun", "COMP_CWORD": "1"}
    screen = on_terminal([], **given)
    assert (screen.status, screen.raw) == (0, "tune\r\n")


def test_help_is_shown_in_any_locale():
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    screen = on_terminal(["-h"], **locale)
    assert screen.status == 0 and "Traceback" not in screen.raw
    assert any("forced-decode" in line for line in screen.lines)


def test_where_no_colours_are_wanted_there_are_none(model, text):
    evaluation = ["evaluate", text, "--reference", text]
    for arguments in (["-h"], evaluation, ["translate", model, text], ["tune", "--unknown"]):
        assert not any(map(COLOUR.search, CODE.findall(on_terminal(arguments, NO_COLOR="1").raw)))
    assert any(map(COLOUR.search, CODE.findall(on_terminal(["-h"]).raw)))


def test_lines_that_a_pipe_brings_to_the_terminal_have_no_bar_among_them(model, text):
    program = [sys.executable, "-m", "phrasebeam", "translate", "--model", str(model), "--input", str(text)]
    screen = on_terminal([f"{shlex.join(program)} | cat"], python=("-c", SHELL))
    assert len([line for line in screen.lines if line]) == 12
    assert "━" not in screen.raw


def test_an_interrupted_command_leaves_no_output(model, text, tmp_path):
    (tmp_path / "source").write_text(text.read_text() * 20_000)
    given = ["translate", "--model", model, "--input", tmp_path / "source", "--output", tmp_path / "out"]
    screen = on_terminal(given, interrupt_at="/240000")
    assert screen.status == 130
    assert [line for line in screen.lines if line][-1] == "phrasebeam: interrupted; nothing was written"
    assert files_of(tmp_path) == ["source"]


def test_bars_within_each_other_are_removed_by_ctrl_c():
    script = """
import time
from phrasebeam.base.progress import log, show_progress, stage, start_command
from phrasebeam.process.interruption import end_by_signals
end_by_signals("tool")
start_command()
show_progress()
log.info("begun")
with stage("outer", 3), stage("inner", 5, "steps") as advance:
    advance(1)
    time.sleep(60)
"""
    screen = on_terminal([], python=("-c", script), interrupt_at="1/5")
    assert screen.lines == ["begun", "tool: interrupted; nothing was written", ""]


def test_what_stands_beside_bars_is_removed_by_ctrl_c():
    script = """
import time
from phrasebeam.base.progress import board, log, show_progress, stage, start_command
from phrasebeam.process.interruption import end_by_signals
class Screen:
    def __rich__(self):
        return "\\n".join(["first line", "second line", "third line"])
end_by_signals("tool")
start_command()
show_progress()
log.info("begun")
with board(Screen()), stage("outer", 3), stage("inner", 5, "steps") as advance:
    advance(1)
    time.sleep(60)
"""
    screen = on_terminal([], python=("-c", script), interrupt_at="1/5")
    assert "third line" in screen.raw
    assert [line for line in screen.lines if line] == ["begun", "tool: interrupted; nothing was written"]


def test_nothing_is_drawn_over_what_ctrl_c_says():
    script = """
import os
import time
from phrasebeam.base.progress import show_progress, stage, start_command
from phrasebeam.process.interruption import end_by_signals
end = os._exit
os._exit = lambda status: (time.sleep(0.5), end(status))  # as on a machine with much to do
end_by_signals("tool")
start_command()
show_progress()
with stage("outer", 3) as advance:
    advance(1)
    time.sleep(60)
"""
    screen = on_terminal([], python=("-c", script), interrupt_at="1/3")
    assert [line for line in screen.lines if line] == ["tool: interrupted; nothing was written"]


def test_tables_are_drawn(tmp_path):
    screen = on_terminal(["config"])
    assert "──" in "".join(screen.lines)
    assert max(map(len, screen.lines)) <= 100
