"""Rules of the house that linters do not know: python tests/check_house.py prints what breaks them, and fails."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("lm", "decoder", "training", "phrasebeam")  # in the order in which they may import each other
LONGEST_FILE = 400
FORBIDDEN_FILES = ("utils.py", "core.py")
MAY_COMPILE = "lm/jit.py", "tests/lm/test_indices.py"  # the latter compares with what numba does without us
COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "jitclass", "prange"}


def breaches(path: Path, source: str) -> Iterator[tuple[int, str]]:
    """Line and complaint for everything in a file at `path`, relative to the root, that breaks a rule."""
    n_lines = source.count("\n")
    if n_lines > LONGEST_FILE:
        yield n_lines, f"{n_lines} lines; split files at {LONGEST_FILE}"
    if path.name in FORBIDDEN_FILES:
        yield 1, "name a file for what it holds"
    package = path.parts[0].removesuffix(".py")
    speaks = "command" in path.name or package not in PACKAGES[:-1]
    for node in ast.walk(ast.parse(source)):
        complaint = _anywhere(node, path)
        if not complaint and package in PACKAGES:
            complaint = _import(node, package) or _in_packages(node, speaks)
        if complaint:
            yield getattr(node, "lineno", 1), complaint


def _anywhere(node: ast.AST, path: Path) -> str:
    name = _name(node)
    if name.rpartition(".")[2] in COMPILERS and path.as_posix() not in MAY_COMPILE:
        return f"{name}: kernels are made by the decorators of lm.jit alone"
    if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and getattr(node.value, "value", None) is True:
        return "allow_pickle=True: nothing is pickled"
    if isinstance(node, ast.Call) and _name(node.func) == "yaml.load":
        return "yaml.load: use yaml.safe_load"
    return ""


def _in_packages(node: ast.AST, speaks: bool) -> str:
    if isinstance(node, ast.Assert):
        return "assert: raise one of the errors of lm/errors.py"
    if isinstance(node, ast.Call) and not speaks and _name(node.func) in ("print", "sys.exit"):
        return f"{_name(node.func)}: only command modules do that; log, return or raise"
    return ""


def _import(node: ast.AST, package: str) -> str:
    if isinstance(node, ast.ImportFrom):
        modules = [node.module or ""]
    elif isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    else:
        return ""
    allowed = PACKAGES[: PACKAGES.index(package) + 1]
    for module in modules:
        top = module.partition(".")[0]
        if top == "tests" or (top in PACKAGES and top not in allowed):
            return f"{package} imports {module}; imports go one way: {' <- '.join(PACKAGES)}"
    return ""


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return ""


def main() -> int:
    """The number of breaches, each printed as a line."""
    count = 0
    for folder in (*PACKAGES[:-1], "tests", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            count += report(path)
    return count + report(ROOT / "phrasebeam.py")


def report(path: Path) -> int:
    """Print the breaches of one file."""
    found = sorted(breaches(path.relative_to(ROOT), path.read_text(encoding="utf-8")))
    for line, complaint in found:
        print(f"{path.relative_to(ROOT)}:{line}: {complaint}")
    return len(found)


if __name__ == "__main__":
    sys.exit(main() > 0)
