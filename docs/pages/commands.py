"""The page of all commands, from their own help, and the file of their options."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import typer

from docs.pages.markdown_table import markdown_table
from phrasebeam.cli import COMMANDS, GROUPS, HELP, NAME
from phrasebeam.commands.bare_words import shown_words
from phrasebeam.commands.command_group import command_group
from phrasebeam.commands.derived_command import command_help, command_options
from phrasebeam.commands.option_file import file_content

HEAD = """# Commands

`docs/pages/commands.py` generates this page from the help of the commands, which `phrasebeam COMMAND -h` shows.

All commands have the options `--quiet` (`-q`: show only warnings, errors and results), `--verbose` (`-v`: show all
stages, time and memory on standard error) and `--help` (`-h`). Common options have short names: `-m` for `--model`,
`-i` for `--input`, `-o` for `--output`, `-s` for `--source`, `-t` for `--target`, `-r` for `--reference`, `-c` for
`--config`. The line below the name of a command shows which options can be given without their names, as in `phrasebeam
translate MODEL INPUT`. If an option takes several values, give them one after the other: `--reference a b`. Settings
without an option are given in a YAML file with `--config`; [the settings](settings.md) have their own page. If a
command fails, it prints one line on standard error, and its exit status is 2.

{commands}
"""
OF_ALL = {"quiet", "verbose", "help"}
OPTIONS = "Options"  # the heading of those that have no other


def page() -> str:
    """The whole text."""
    group: Any = typer.main.get_command(command_group(GROUPS, NAME, HELP))
    return HEAD.format(commands="\n\n".join(_sections(group)))


def options() -> str:
    """The file of options."""
    names = COMMANDS.items()
    return file_content({name: (command_help(name, module), command_options(name, module)) for name, module in names})


def _sections(group: Any) -> Iterator[str]:
    for heading, places in GROUPS.items():
        yield f"## {heading}"
        for name in places:
            yield from _command(name, group.commands[name])


def _command(name: str, command: Any) -> Iterator[str]:
    """Heading, help and tables of options of a command."""
    context = typer.Context(command, info_name=name)
    params = [one for one in command.get_params(context) if one.name not in OF_ALL]
    yield f"### {name}"
    if words := shown_words(name, command.params):
        yield f"`phrasebeam {name} {' '.join(words)} ...`"
    yield command.help
    params.sort(key=lambda one: _panel(one) != OPTIONS)
    for panel, options in groupby(params, _panel):
        rows = [_row(one, context) for one in options]
        yield markdown_table((panel, "Value", "Default", "Meaning"), rows)


def _panel(param: Any) -> str:
    return getattr(param, "rich_help_panel", None) or OPTIONS


def _row(param: Any, context: Any) -> tuple[str, str, str, str]:
    """An option, what it takes, what it is without being given, and what its help says."""
    is_option = param.opts[0].startswith("-")
    name = ", ".join(f"`{one}`" for one in param.opts) if is_option else f"`{param.opts[0].upper()}`"
    record = param.get_help_record(context)
    text, _, more = (record[1] if record else param.help or "").partition("  [")
    default = more.removesuffix("]").removeprefix("default: ").removeprefix("(").removesuffix(")")
    return name, _value(param.display_type_rich(context)), _escaped(default), _escaped(text)


def _value(kind: str) -> str:
    """What an option takes: words of which it is one, or a type."""
    more = " ..." if kind.endswith("...") else ""
    inner = kind.removesuffix("...").strip().strip("<>")
    return (", ".join(f"`{one}`" for one in inner.split("|")) if "|" in inner else inner) + more


def _escaped(text: str) -> str:
    return text.replace("<=", "≤").replace("<", "&lt;").replace("*", r"\*")
