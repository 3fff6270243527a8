"""Figures drawn by matplotlib, an optional dependency, and written to files."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file

INSTALL = "pip install 'phrasebeam[plots]'"
# Colours that people with any kind of colour vision can tell apart (Okabe & Ito 2008): blue first, yellow left out.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY, LIGHT_GREY = "#666666", "#DDDDDD"
# Legible where a figure is shown at half its size.
STYLE = {
    "font.size": 15,
    "axes.titlesize": 16,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.alpha": 0.4,
    "legend.frameon": False,
    "lines.linewidth": 2.5,
    "lines.markersize": 7,
    "svg.hashsalt": "phrasebeam",  # otherwise names in the file would be random
}
WITHOUT_TIME = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "ps": {"CreationDate": None}}  # by format


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def check_figure_file(path: Path) -> None:
    """Raise ConfigError if matplotlib is missing or does not know the format that the suffix of `path` names."""
    if not can_draw():
        raise ConfigError(f"plots need matplotlib; install it with {INSTALL}")
    from matplotlib.figure import Figure

    formats = sorted(Figure().canvas.get_supported_filetypes())
    if _format(path) not in formats:
        expected = ", ".join(f".{name}" for name in formats)
        raise ConfigError(f"{path}: not a file format for plots; expected a file name that ends in one of {expected}")


def write_figure(path: Path, width: float, height: float, draw: Callable[[Any], None]) -> None:
    """Let `draw` fill an empty figure of `width` by `height` inches; write it in the format of the suffix of `path`."""
    from cycler import cycler
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE | {"axes.prop_cycle": cycler(color=PALETTE)}):
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        with atomic_file(path) as file:
            figure.savefig(file, format=_format(path), metadata=WITHOUT_TIME.get(_format(path)))


def _format(path: Path) -> str:
    return path.suffix.removeprefix(".").lower()
