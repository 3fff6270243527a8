"""The option --plot of scripts; its file is checked before a script begins its work."""

import argparse
from pathlib import Path

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.figures import check_figure_file


def add_plot_option(parser: argparse.ArgumentParser, shown: str) -> None:
    """Add the option --plot FILE, for an image; `shown` says what the image shows."""
    parser.add_argument("--plot", type=_figure_file, help=f"image of {shown}; needs the extra `plots`")


def _figure_file(path: str) -> Path:
    try:
        check_figure_file(Path(path))
    except ConfigError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return Path(path)
