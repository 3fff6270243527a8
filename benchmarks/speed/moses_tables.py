"""Processor seconds of `export-moses` and `import-moses` per pair and of `rerank` per line, for one or two versions.

    python -m benchmarks.speed.moses_tables MODEL [--nbest LISTS] [--before COMMAND] [--runs 3]

MODEL is a model directory, LISTS an n-best list in Moses' format. The versions take turns, and must write the same
bytes. Figures are medians of the runs, without the start-up time, which is that of `rerank --help`.
"""

import argparse
import filecmp
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.measure import run, table
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.tables.phrase_table import open_phrase_table
from phrasebeam.training.nbest.moses_nbest import find_layout

OURS = [sys.executable, "-m", "phrasebeam"]
MICROSECONDS = 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, metavar="MODEL")
    parser.add_argument("--nbest", type=Path, metavar="LISTS")
    parser.add_argument("--before", type=shlex.split, metavar="COMMAND", help="the command of another version")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    n_pairs = len(open_phrase_table(options.model / "phrases").ln_scores)
    sizes = {"export-moses": n_pairs, "import-moses": n_pairs}
    sizes |= {"rerank": sum(1 for _ in read_lines(options.nbest))} if options.nbest else {}
    versions = {"this": OURS} | ({"before": options.before} if options.before else {})
    found = {name: {version: list[float]() for version in versions} for name in sizes}
    with tempfile.TemporaryDirectory() as scratch:
        for i in range(options.runs + 1):  # the first run compiles kernels
            outputs = [Path(scratch) / f"{version}{i}" for version in versions]
            for output, (version, command) in zip(outputs, versions.items()):
                for name, seconds in measured(command, options.model, options.nbest, output).items():
                    found[name][version] += [seconds] if i else []
            for output in outputs[1:]:
                check_same(outputs[0], output)
    rows = [["command", "lines", *(f"{version}, s" for version in versions), *(f"{v}, us a line" for v in versions)]]
    for name, size in sizes.items():
        seconds = [median(values) for values in found[name].values()]
        by_line = [f"{value / size * MICROSECONDS:.2f}" for value in seconds]
        ratio = [f"{seconds[1] / seconds[0]:.1f}"] if options.before else []
        rows.append([name, f"{size:,}", *(f"{value:.2f}" for value in seconds), *by_line, *ratio])
    rows[0] += ["ratio"] if options.before else []
    print(table(rows))


def measured(command: Sequence[str], model: Path, nbest: Path | None, output: Path) -> dict[str, float]:
    """Processor seconds of each command without its start-up; outputs go to the folder `output`."""
    output.mkdir()
    moses, imported, texts = output / "moses", output / "imported", output / "texts"
    commands = {
        "export-moses": ["--model", str(model), "--output", str(moses)],
        "import-moses": [str(moses / "moses.ini"), "--output", str(imported)],
    }
    if nbest is not None:
        names = find_layout(nbest).dense.items()
        (output / "weights").write_text("".join(f"{name}= {' '.join(['0.1'] * size)}\n" for name, size in names))
        commands["rerank"] = ["--weights", str(output / "weights"), "--nbest", str(nbest), "--output", str(texts)]
    environment = {} if command == OURS else {"PYTHONPATH": ""}  # PYTHONPATH would name this checkout
    start = run([*command, "rerank", "--help"], environment=environment).processor_seconds
    return {
        name: run([*command, name, "--quiet", *given], environment=environment).processor_seconds - start
        for name, given in commands.items()
    }


def check_same(folder: Path, other: Path) -> None:
    """End the program if files of the two folders differ."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not filecmp.cmp(path, other / path.relative_to(folder), shallow=False):
            sys.exit(f"{path.relative_to(folder)}: not the bytes of the other version")


if __name__ == "__main__":
    main()
