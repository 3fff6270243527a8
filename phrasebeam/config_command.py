"""The command `config`: the files of settings that come with phrasebeam."""

import re
import sys
from itertools import takewhile
from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.base.errors import ConfigError
from phrasebeam.console.tables import print_table

CONFIGS = Path(__file__).parent / "configs"
OF_COMMANDS = {  # of those whose settings have another name
    "train-model": "default",
    "train-maxforce": "yu2013-maxforce",
    "train-ranking": "simianer2012-joint-selection",
    "train-expected-bleu": "wuebker2015-rprop",
    "train": "recipe-standard",
    "rerank": "tune",
    "forced-decode": "translate",
}


def config(
    name: Annotated[
        str | None, typer.Argument(help="Settings to print, or a command; without it, all are listed.")
    ] = None,
) -> None:
    """List the settings that come with phrasebeam, or print those of a name as YAML, for the option --config.

    Example: phrasebeam config tune > my-tune.yaml, edit it, and give --config my-tune.yaml to tune.
    """
    paths = {path.stem: path for path in sorted(CONFIGS.glob("*.yaml"))}
    if name is None:
        print_table([["name", "settings"], *([stem, _title(path)] for stem, path in paths.items())])
    elif path := paths.get(OF_COMMANDS.get(name, name.removesuffix(".yaml"))):
        sys.stdout.write(path.read_text(encoding="utf-8"))
    else:
        raise ConfigError(f"{name}: no settings of that name; there are {', '.join(paths)}")


def _title(path: Path) -> str:
    """The sentence with which a file begins, as a comment."""
    comment = takewhile(lambda line: line.startswith("#"), path.read_text(encoding="utf-8").splitlines())
    return re.split(r"\. (?=[A-Z])", " ".join(line.lstrip("# ") for line in comment))[0].removesuffix(".")
