"""Coverage of the kernels after their tests ran uncompiled: python tests/kernel_coverage.py lists what is missing.

Of Python's own code such a run tells little, since most tests of it run compiled only: see `make coverage`.
"""

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import coverage

ROOT = Path(__file__).resolve().parent.parent
MACHINE_CODE = "phrasebeam.kernels.compiled_calls"
LEAST = 0.98  # of the lines of all kernels
Lines = Callable[[str], tuple[set[int], set[int]]]  # of a file: all statements, those that did not run


class Kernel(NamedTuple):
    """A kernel and its lines."""

    path: Path
    name: str
    lines: int
    missing: list[int]


def kernels_of(path: Path, lines: Lines) -> Iterator[Kernel]:
    """The kernels in a file, unless they call machine code, which there is none of where kernels are Python."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if any(isinstance(one, ast.ImportFrom) and one.module == MACHINE_CODE for one in ast.walk(tree)):
        return
    found = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and is_kernel(one)]
    statements, missing = lines(str(path)) if found else (set(), set())
    for one in found:
        inside = statements & {*range(one.body[0].lineno, (one.end_lineno or 0) + 1)}
        yield Kernel(path, one.name, len(inside), sorted(inside & missing))


def is_kernel(function: ast.FunctionDef) -> bool:
    """Whether it has one of the decorators of phrasebeam/kernels/jit.py."""
    return any(ast.unparse(one).split(".")[-1].endswith("kernel") for one in function.decorator_list)


def recorded_lines() -> Lines:
    """The lines of files as coverage recorded them."""
    recorded = coverage.Coverage(config_file=str(ROOT / "pyproject.toml"))
    recorded.load()

    def lines(path: str) -> tuple[set[int], set[int]]:
        _, statements, _, missing, _ = recorded.analysis2(path)
        return set(statements), set(missing)

    return lines


def main() -> int:
    """Print which lines of kernels did not run, and the share of those that did; 1 where that is less than LEAST."""
    rooms = [ROOT / name for name in ("phrasebeam/kernels", "lm", "decoder", "training")]
    paths = sorted(path for room in rooms for path in room.rglob("*.py"))
    lines = recorded_lines()
    kernels = [kernel for path in paths for kernel in kernels_of(path, lines)]
    for kernel in kernels:
        if kernel.missing:
            print(f"{kernel.path.relative_to(ROOT)}: {kernel.name}: {', '.join(map(str, kernel.missing))}")
    total, missing = sum(one.lines for one in kernels), sum(len(one.missing) for one in kernels)
    share = 1 - missing / max(total, 1)
    print(f"{len(kernels)} kernels, {total} lines, {100 * share:.1f} % of them run uncompiled in tests")
    return int(not kernels or share < LEAST)


if __name__ == "__main__":
    sys.exit(main())
