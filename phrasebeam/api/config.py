"""config: the configuration files that come with phrasebeam."""

import re
from itertools import takewhile
from pathlib import Path
from typing import Annotated, overload

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.options import Option, described
from phrasebeam.process.places import folder_of

CONFIGS = folder_of("configs")
OF_COMMANDS = {  # the configuration of a command, if it has another name
    "train-model": "default",
    "train-maxforce": "yu2013-maxforce",
    "train-ranking": "simianer2012-joint-selection",
    "train-expected-bleu": "wuebker2015-rprop",
    "train": "recipe-standard",
    "rerank": "tune",
    "forced-decode": "translate",
}


@overload
def config(name: None = None) -> dict[str, str]: ...
@overload
def config(name: str) -> str: ...
@described()
def config(
    name: Annotated[
        str | None, Option("Name of a configuration, or of a command.", unset="list all", is_bare=True)
    ] = None,
) -> str | dict[str, str]:
    """List the included configurations, or print one of them as YAML, for the option --config of other commands.

    Returns the text of the file; without a name, a dictionary from names to purposes. Raises ConfigError for an
    unknown name.

    >>> config()["tune"]
    'All settings of tune (and of rerank, which ignores those of decoding) with their defaults'
    >>> "method: mira-corpus" in config("tune")
    True
    """
    files = {path.stem: path for path in sorted(CONFIGS.glob("*.yaml"))}
    if name is None:
        return {stem: _title(path) for stem, path in files.items()}
    if path := files.get(OF_COMMANDS.get(name, name.removesuffix(".yaml"))):
        return path.read_text(encoding="utf-8")
    raise ConfigError(f"{name}: no settings of that name; there are {', '.join(files)}")


def _title(path: Path) -> str:
    """The sentence at the beginning of a file, which is a comment."""
    comment = takewhile(lambda line: line.startswith("#"), path.read_text(encoding="utf-8").splitlines())
    return re.split(r"\. (?=[A-Z])", " ".join(line.lstrip("# ") for line in comment))[0].removesuffix(".")
