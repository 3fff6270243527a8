"""The notebook, made of the page docs/notebook.md: its text and its blocks of Python, each a cell."""

import json
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "notebook.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
FORMAT = {"nbformat": 4, "nbformat_minor": 5}
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def page() -> str:
    """The whole notebook, JSON of Jupyter's format 4."""
    parts = BLOCK.split(PAGE.read_text(encoding="utf-8"))  # text, code, text, code, ..., text
    kinds = ["markdown", "code"] * len(parts)
    cells = [_cell(number, kind, part) for number, (kind, part) in enumerate(zip(kinds, parts)) if part.strip()]
    return json.dumps({"cells": cells, "metadata": KERNEL, **FORMAT}, ensure_ascii=False, indent=1) + "\n"


def _cell(number: int, kind: str, text: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell | {"source": text.strip().splitlines(keepends=True)}
