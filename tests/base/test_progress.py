"""What stages and volume leave in the log."""

import logging
import time

import pytest

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.progress import (
    compilation_bar,
    hide_progress,
    log,
    set_volume,
    show_progress,
    stage,
    start_command,
)


@pytest.fixture
def command():
    start_command()
    yield
    hide_progress()


@pytest.mark.parametrize(
    ("quiet", "verbose", "level"),
    [(False, False, logging.INFO), (True, False, logging.WARNING), (False, True, logging.DEBUG)],
)
def test_levels(command, quiet, verbose, level):
    assert log.level == logging.WARNING
    set_volume(quiet, verbose)
    show_progress()
    assert log.level == level


def test_both_is_refused(command):
    set_volume(True, False)
    with pytest.raises(ConfigError, match="exclude each other"):
        set_volume(False, True)


def test_a_stage_says_what_it_did(command, capsys):
    show_progress()
    with stage("decode", 3, "sentences") as advance:
        advance(1)
        advance(2)
    with stage("writing"):
        pass
    with stage("counting", 4) as advance:
        advance(4)
    assert capsys.readouterr().err == "decode: 3 sentences, 0.0 s\nwriting: 0.0 s\ncounting: 0.0 s\n"


def test_a_stage_says_how_long_it_compiled(command, capsys):
    show_progress()
    with stage("translating", 3, "sentences"), stage("searching"), compilation_bar("compiling", 0, 0.0):
        time.sleep(0.2)
    with stage("again"):
        pass
    searching, translating, again = capsys.readouterr().err.splitlines()[-3:]
    assert searching.endswith(" s, 0.2 s of it for compiling kernels")
    assert translating.startswith("translating: 0 sentences, 0.")
    assert translating.endswith(" s, 0.2 s of it for compiling kernels")
    assert again == "again: 0.0 s"
