"""The command `config`: the files of settings that come with phrasebeam."""

import sys
from typing import Annotated

import typer

from phrasebeam.api import config as settings
from phrasebeam.console.tables import print_table


def config(
    name: Annotated[
        str | None, typer.Argument(help="Settings to print, or a command; without it, all are listed.")
    ] = None,
) -> None:
    """List the settings that come with phrasebeam, or print those of a name as YAML, for the option --config.

    Example: phrasebeam config tune > my-tune.yaml, edit it, and give --config my-tune.yaml to tune.
    """
    if name is None:
        print_table([["name", "settings"], *map(list, settings.config().items())])
    else:
        sys.stdout.write(settings.config(name))
