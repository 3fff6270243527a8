"""Arguments of the scripts whose runs are kept in a directory, and are not made again."""

import argparse
from collections.abc import Iterable
from pathlib import Path


def parser_of(description: str | None, **choices: Iterable[str]) -> argparse.ArgumentParser:
    """DATA, --output, --tables, and an option for each of `choices`, all of which are meant without it."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    for name, values in choices.items():
        parser.add_argument(f"--{name}", nargs="+", choices=list(values), default=list(values))
    parser.add_argument("--tables", action="store_true", help="only print what is there")
    return parser
