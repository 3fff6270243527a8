"""What scripts share whose runs are kept in a directory, and are not made again."""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from phrasebeam.base.files import atomic_file


def parser_of(description: str | None, **choices: Iterable[str]) -> argparse.ArgumentParser:
    """DATA, --output, --tables, and an option for each of `choices`, all of which are meant without it."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    for name, values in choices.items():
        parser.add_argument(f"--{name}", nargs="+", choices=list(values), default=list(values))
    parser.add_argument("--tables", action="store_true", help="only print what is there")
    return parser


def write(path: Path, found: dict[str, Any]) -> None:
    """The numbers of a run, whole or not at all."""
    with atomic_file(path) as file:
        file.write(json.dumps(found, indent=1).encode())
