"""Tables in the pages of measurements, made from files of results.

    python -m benchmarks.tables           prints all of them
    python -m benchmarks.tables --check   names tables that differ from those in the pages, and fails if there are any
    python -m benchmarks.tables --write   writes them into the pages

A page asks for a table by `<!-- table FILE.csv OPTION ... -->` in the line before it; FILE is relative to the page.

    COLUMN=A|B      only rows with one of these values; the column is not shown if there is only one value
    columns=A|B     only these columns
    mean_over=seed  means over the rows that differ only in numbers and in this column, standard deviations in brackets;
                    the column then has the number of rows; rows of one mean must have different values in the column

Options with spaces are in quotes.
"""

import argparse
import csv
import re
import shlex
import statistics
import sys
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import ROOT

MARK = re.compile(r"^<!-- table (.+) -->$")
NUMBER = re.compile(r"-?\d+(\.\d+)?")
SHOWN_NUMBER = re.compile(r"[-+]?[\d,]+(\.\d+)?%?( \([\d.]+\))?")
DEVIATION = " deviation"  # suffix of a column that is shown in brackets after the column of the same name without it
Row = dict[str, str]


class PageTable(NamedTuple):
    """A table that a page asks for."""

    page: Path
    line: int  # line number of the mark, from 0
    shown: list[str]  # the lines of the table in the page
    made: list[str]  # the lines made from the file of results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    tables = [table for page in pages() for table in tables_of(page)]
    if given.write:
        write(tables)
    elif given.check:
        differing = [
            f"{table.page.relative_to(ROOT)}:{table.line + 1}" for table in tables if table.shown != table.made
        ]
        sys.exit("\n".join(f"{place}: not the table of the results" for place in differing) or 0)
    else:
        print("\n\n".join("\n".join(table.made) for table in tables))


def pages() -> list[Path]:
    """The pages of measurements."""
    experiments = sorted((ROOT / "docs" / "experiments").glob("*.md"))
    others = [ROOT / "benchmarks" / "README.md", ROOT / "docs" / "transliteration.md", ROOT / "docs" / "when-to-use.md"]
    return [*others, *experiments]


def tables_of(page: Path) -> Iterator[PageTable]:
    """All tables that a page asks for, in order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for i, line in enumerate(lines):
        mark = MARK.match(line)
        if mark:
            end = next((k for k in range(i + 1, len(lines)) if not lines[k].startswith("|")), len(lines))
            yield PageTable(page, i, lines[i + 1 : end], made(page.parent, mark[1]))


def write(tables: list[PageTable]) -> None:
    """Replace the tables in their pages, the last ones first, so that line numbers of earlier tables stay right."""
    for table in reversed(tables):
        lines = table.page.read_text(encoding="utf-8").splitlines()
        begin = table.line + 1
        lines[begin : begin + len(table.shown)] = table.made
        table.page.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def made(folder: Path, request: str) -> list[str]:
    """The table for a mark in a page of `folder`, as lines of Markdown."""
    name, *options = shlex.split(request)
    wanted = {column: values.split("|") for column, _, values in (option.partition("=") for option in options)}
    columns, over = wanted.pop("columns", None), wanted.pop("mean_over", [""])[0]
    with open(folder / name, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if all(row[one] in values for one, values in wanted.items())]
    if not rows:
        raise ValueError(f"{folder / name}: no rows for {request}")
    constant = {column for column, values in wanted.items() if len(values) == 1}
    columns = columns or [column for column in rows[0] if column not in constant]
    rows = [{column: row[column] for column in columns} for row in rows]
    return markdown(with_brackets(means(rows, over) if over else rows))


def means(rows: list[Row], over: str) -> list[Row]:
    """Means of the rows that differ only in numbers and in the column `over`, which then has the number of rows."""
    numbers = [name for name in rows[0] if name != over and all(NUMBER.fullmatch(row[name]) for row in rows)]
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in row if name not in numbers and name != over), []).append(row)
    found = []
    for key, group in groups.items():
        values = [row[over] for row in group]
        if len(set(values)) < len(values):  # rows of several experiments, which only a hidden column tells apart
            raise ValueError(f"the mean of {' '.join(key)} has rows with the same {over}: {', '.join(sorted(values))}")
        mean = dict(group[0]) | {over: str(len(group))}
        for name in numbers:
            mean |= mean_and_deviation(name, [Decimal(row[name]) for row in group])
        found.append({over.rstrip("s") + "s" if name == over else name: cell for name, cell in mean.items()})
    return found


def mean_and_deviation(name: str, values: list[Decimal]) -> Row:
    """The cells of a column's mean and deviation, with as many decimals as the values have."""
    cells = [statistics.mean(values), statistics.stdev(values) if len(values) > 1 else None]
    rounded = ["" if one is None else str(one.quantize(values[0], ROUND_HALF_UP)) for one in cells]
    return dict(zip((name, name + DEVIATION), rounded))


def with_brackets(rows: list[Row]) -> list[list[str]]:
    """The heading and the cells; deviations are in brackets after the values to which they belong."""
    columns = [name for name in rows[0] if not name.endswith(DEVIATION)]
    cells = [[shown(row[name], row.get(name + DEVIATION, "")) for name in columns] for row in rows]
    return [columns, *cells]


def shown(cell: str, deviation: str) -> str:
    """A cell, with its deviation if there is one, and with separators in large whole numbers."""
    text = f"{int(cell):,}" if re.fullmatch(r"-?\d{4,}", cell) else cell
    return f"{text} ({deviation})" if deviation else text


def markdown(rows: list[list[str]]) -> list[str]:
    """An aligned Markdown table; columns of numbers are aligned to the right."""
    columns = list(zip(*rows))
    widths = [max(3, *map(len, column)) for column in columns]
    right = [all(SHOWN_NUMBER.fullmatch(cell) for cell in column[1:] if cell) for column in columns]
    rule = ["-" * (width - 1) + ":" if is_right else "-" * width for width, is_right in zip(widths, right)]
    lines = []
    for row in [rows[0], rule, *rows[1:]]:
        cells = [
            cell.rjust(width) if is_right else cell.ljust(width) for cell, width, is_right in zip(row, widths, right)
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    main()
