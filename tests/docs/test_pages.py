"""Pages of the documentation: those from the code are what it says, and commands on all of them can be given."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from docs.pages import settings
from docs.pages.fenced_examples import fenced
from docs.pages.written_pages import PAGES, REFERENCE
from phrasebeam.cli import COMMANDS, GROUPS, HELP, NAME
from phrasebeam.commands.command_group import command_group
from tests import ROOT

DOCS = ROOT / "docs"
MARKDOWN = sorted(DOCS.rglob("*.md"))
LINE = re.compile(r"^(?:\$ |    )((?:.*\| ?)?phrasebeam .*(?:\\\n.*)*)", re.M)
SHELL = {"|", "<", ">", "&", "&&", ";", "2>"}


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_what_the_code_says(name):
    assert (REFERENCE / name).read_text(encoding="utf-8") == PAGES[name](), "write it again: make docs"


def test_the_page_of_commands_has_all_commands():
    text = (REFERENCE / "commands.md").read_text(encoding="utf-8")
    assert re.findall(r"^### (\S+)$", text, re.M) == [*COMMANDS]


def test_each_setting_says_what_it_is():
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| .* \| (.*?) ?\|$", settings.page(), re.M)
    assert len(rows) > 200
    assert not [name for name, value, meaning in rows if not meaning and "](#" not in value]


def commands(path):
    """The words of each phrasebeam command on a page."""
    for line in LINE.findall(path.read_text(encoding="utf-8").replace("\\\n", " ")):
        words = shlex.split(line.replace("'", '"').replace('"', "'"), comments=True)
        start = words.index(NAME)
        end = next((place for place, word in enumerate(words) if place > start and word in SHELL), len(words))
        yield words[start + 1 : end]


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_commands_can_be_given(path):
    group = typer.main.get_command(command_group(GROUPS, NAME, HELP))
    for words in commands(path):
        words = [word for word in words if word not in ("[OPTIONS]", "...")]
        if words and words[0] in COMMANDS and not {"-h", "--help"} & {*words}:
            group.commands[words[0]].make_context(words[0], words[1:])


def test_commands_are_found():
    assert len([*commands(DOCS / "tutorial.md")]) > 15
    assert all(any(commands(path)) for path in MARKDOWN if re.search(r"\d{4}-", path.name))


def test_examples_of_docstrings_are_fenced():
    text = "What it does.\n\n    >>> f(1)\n    2\n    >>> g[1][2]\n\nMore."
    assert fenced(text) == "What it does.\n\n    ```pycon\n    >>> f(1)\n    2\n    >>> g[1][2]\n    ```\n\nMore."
    assert fenced("Nothing of that kind.") == "Nothing of that kind."


def test_links_of_the_pages_lead_somewhere():
    for path in MARKDOWN:
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)", path.read_text(encoding="utf-8")):
            assert (Path(path).parent / target).exists(), f"{path}: {target}"
