"""Functions for scripts whose runs are kept in a directory, and not made again."""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from phrasebeam.base.files import atomic_file


def parser_of(description: str | None, **choices: Iterable[str]) -> argparse.ArgumentParser:
    """A parser for DATA, --output, --tables, and an option for each of `choices`; by default it means all values."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    for name, values in choices.items():
        parser.add_argument(f"--{name}", nargs="+", choices=list(values), default=list(values))
    parser.add_argument("--tables", action="store_true", help="only print what is there")
    return parser


def write(path: Path, found: dict[str, Any]) -> None:
    """Write the numbers of a run, atomically."""
    with atomic_file(path) as file:
        file.write(json.dumps(found, indent=1).encode())
