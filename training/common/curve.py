"""How training went, iteration by iteration: a table, and a picture where matplotlib is installed."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from phrasebeam.base.figures import INSTALL, can_draw, write_figure
from phrasebeam.base.files import atomic_file
from phrasebeam.base.progress import log


def write_table_and_picture(
    directory: Path, header: Sequence[str], rows: Iterable[Sequence[object]], draw: Callable[[Any], None]
) -> None:
    """Write curve.csv, and curve.png if matplotlib is there; `draw` fills the figure."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header, *rows])
    with atomic_file(directory / "curve.csv") as file:
        file.write(text.getvalue().encode("utf-8"))
    if can_draw():
        write_figure(directory / "curve.png", 8, 7, draw)
    else:
        _say_not_drawn()


@cache
def _say_not_drawn() -> None:
    """Once, since curves are written again and again."""
    log.info(f"curve.png: not drawn, matplotlib is not installed ({INSTALL})")
