"""What a command leaves behind: its exit status and at most one line on standard error."""

import os
import subprocess
import sys
from typing import Annotated

import pytest
import typer

from phrasebeam.base.errors import ConfigError, FormatError, ModelError
from phrasebeam.commands.command_group import Command, repeat_options
from phrasebeam.commands.command_line import run
from phrasebeam.process.hints import hint
from tests import ROOT


def call(function, *arguments, cls=None):
    app = typer.Typer()
    app.command(cls=cls)(function)
    return run(app, "tool", list(arguments))


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (ConfigError("stack: too low"), 2, "tool: stack: too low"),
        (ModelError("no model"), 2, "tool: no model"),
        (FormatError("text", "not UTF-8", 3), 2, "tool: text:3: not UTF-8"),
        (FileNotFoundError(2, "No such file or directory", "text"), 2, "tool: text: No such file or directory"),
        (ConfigError("two\nlines, \x1b[2J"), 2, r"tool: two\nlines, \x1b[2J"),
        (ConfigError("x" * 10**6), 2, "tool: " + "x" * 2000 + "..."),
        (OSError("out of luck"), 2, "tool: out of luck"),
        (OSError(28, "No space left on device"), 2, "tool: No space left on device"),
        (OSError(28, "No space left on device", "copied", None, "full"), 2, "tool: full: No space left on device"),
    ],
)
def test_errors_become_a_line(capsys, error, status, line):
    def command():
        raise error

    assert call(command) == status
    assert capsys.readouterr() == ("", line + "\n")


def test_interrupted(capsys):
    def command():
        raise KeyboardInterrupt

    assert call(command) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_our_own_mistakes_are_not_hidden():
    def command():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        call(command)


def test_success(capsys):
    assert call(lambda: print("done")) == 0
    assert capsys.readouterr() == ("done\n", "")


@pytest.mark.parametrize("fails", [False, True])
def test_hints_follow_the_work_each_once_and_an_error_stands_alone(capsys, fails):
    def command():
        hint("wrong way?")
        print("done")
        hint("too long?")
        hint("wrong way?")
        if fails:
            raise ConfigError("no")

    assert call(command) == (2 if fails else 0)
    errors = "tool: no\n" if fails else "tool: wrong way?\ntool: too long?\n"
    assert capsys.readouterr() == ("done\n", errors)
    hint("outside of commands")
    assert call(lambda: None) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("arguments", [["--unknown"], ["extra"], ["--number", "x"], ["--number"]])
def test_misuse_is_a_line(capsys, arguments):
    def command(number: int = 3):
        raise AssertionError

    assert call(command, *arguments) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.startswith("tool: ")
    assert errors.endswith("(see tool --help)\n")
    assert errors.count("\n") == 1


def test_a_bare_file_is_told_that_it_needs_an_option(capsys):
    def build(output: Annotated[str, typer.Option()], number: int = 3):
        raise AssertionError

    def translate(output: Annotated[str, typer.Option()], input: str = ""):
        raise AssertionError

    def count(n: int = 3):
        raise AssertionError

    required = ["--output", "x"]
    for command, given, option in ((build, required, "--output"), (translate, required, "--input"), (count, [], "--n")):
        assert call(command, *given, "file") == 2
        expected = f"(file); files and numbers are given by options, such as {option} (see tool --help)\n"
        assert capsys.readouterr().err.endswith(expected)


def test_no_command_shows_the_help(capfd):
    app = typer.Typer(no_args_is_help=True, help="What it is for.")
    app.command("one")(lambda: None)
    app.callback()(lambda: None)
    assert run(app, "tool", []) == 2
    output, errors = capfd.readouterr()
    assert "What it is for." in output + errors
    assert "tool: " not in errors


@pytest.mark.parametrize("flush", [True, False])
def test_a_reader_that_goes_is_no_error(flush):
    script = f"""
import sys, typer
from phrasebeam.commands.command_line import run
app = typer.Typer()
@app.command()
def talk():
    sys.stdin.read()
    for _ in range(10):
        print("hello", flush={flush})
sys.exit(run(app, "tool"))
"""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, env=os.environ, **pipes) as process:
        process.stdout.close()
        process.stdin.close()
        assert (process.wait(60), process.stderr.read()) == (0, b"")


@pytest.mark.parametrize(
    ("arguments", "repeated"),
    [
        ("--ref a b --out c d", "--ref a --ref b --out c d"),
        ("--ref=a b", "--ref=a --ref b"),
        ("x --ref a", "x --ref a"),
        ("--ref a - b", "--ref a --ref - --ref b"),
        ("--ref a -- b", "--ref a -- b"),
        ("--ref --out a b", "--ref --out a b"),
        ("--ref a --ref b c", "--ref a --ref b --ref c"),
        ("", ""),
    ],
)
def test_repeated_options(arguments, repeated):
    assert repeat_options(arguments.split(), {"--ref"}) == repeated.split()


def test_many_values(capsys):
    def command(ref: Annotated[list[str], typer.Option()], out: str = ""):
        print(ref, out)

    assert call(command, "--ref", "a", "b", "--out", "c", cls=Command) == 0
    assert capsys.readouterr().out == "['a', 'b'] c\n"
