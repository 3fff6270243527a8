"""Tables that commands print: drawn by rich on a terminal, elsewhere plain columns with each row on a single line."""

import re
import sys
from collections.abc import Sequence
from itertools import zip_longest

NUMBER = re.compile(r"[-+±]?\d[\d.,]*(e[-+]\d+)?\s?(%|s)?|")

Rows = Sequence[Sequence[str]]  # of cells, header first; rows may have fewer cells than the header


def print_table(rows: Rows, plain: str = "", underlined: bool = False) -> None:
    """Print rows as a table. If standard output is not a terminal, print `plain` instead, by default the text_table."""
    if sys.stdout.isatty():
        _draw(rows)
    else:
        print(plain or text_table(rows, underlined))


def text_table(rows: Rows, underlined: bool = False) -> str:
    """Rows of cells in columns as wide as needed; the header may be `underlined`."""
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    if underlined:
        rows = [rows[0], ["-" * width for width in widths], *rows[1:]]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _draw(rows: Rows) -> None:
    """Draw the table with numbers aligned to the right, and the best iteration's row, marked by a star, in bold."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    header, *body = rows
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, cells in zip_longest(header, zip_longest(*body, fillvalue=""), fillvalue=""):
        is_number = all(NUMBER.fullmatch(cell.rstrip("*")) for cell in cells)
        table.add_column(Text(str(name)), justify="right" if is_number else "left", overflow="fold")
    for row in body:
        table.add_row(*map(Text, row), style="bold" if row[0].endswith("*") else "")
    Console().print(table)
