"""Who types a switch of Moses' decoder is told what it is here."""

import re

import pytest

from phrasebeam.cli import main
from phrasebeam.commands.moses_switches import SWITCHES
from phrasebeam.commands.option_file import told_command
from tests import ROOT

OPTION = re.compile(r"(?<!\S)--[a-z-]+")


def options_of(command):
    return {f"--{name.replace('_', '-')}" for name in told_command(command).__annotations__}


def test_all_that_it_names_exist():
    for text in SWITCHES.values():
        for command in ("import-moses", "forced-decode"):
            text, parts = re.sub(rf"`phrasebeam {command} [^`]*`", "", text), re.findall(rf"{command} ([^`]*)`", text)
            assert all({*OPTION.findall(part)} <= options_of(command) for part in parts), text
        assert {*OPTION.findall(text)} <= options_of("translate"), text


def test_switches_of_the_page_are_known():
    page = (ROOT / "docs" / "moses.md").read_text(encoding="utf-8")
    table = page.partition("## The decoder's switches")[2].partition("## Sections")[0]
    named = {name for line in table.splitlines() for name in re.findall(r"`-([a-z-]+)", line.split(" | ")[0])}
    assert len(named) > 50
    assert {name for name in named if name not in SWITCHES and f"--{name}" not in options_of("translate")} == set()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("-f moses.ini", "Moses' -f is here `phrasebeam import-moses moses.ini --output DIR`, then --model DIR"),
        ("--model m -stack 200", "Moses' -stack is here --stack"),
        ("--model m -inputtype 2", "Moses' -inputtype is here --input-format"),
        ("--model m --xml-input=exclusive", "Moses' --xml-input is here --markup exclusive"),
        ("--model m --modle x", "No such option: --modle"),
    ],
)
def test_the_line(capsys, arguments, said):
    assert main(["translate", *arguments.split()]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_other_commands_have_other_switches(capsys):
    assert main(["evaluate", "-f", "x"]) == 2
    assert "Moses" not in capsys.readouterr().err
