"""The campaign: many cases side by side in processes forked from one that has all kernels; a table of what came of them."""

import gc
import json
import multiprocessing
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.robustness.cases import FAILURES, Sound, Verdict, digest, lay_out, run_case
from tests.robustness.isolated import run_here
from tests.robustness.materials import make_materials
from tests.robustness.targets import all_targets

AT_ONCE = 100  # cases between two looks at the clock
KINDS = ("clean", "same", "changed", *FAILURES)


@contextmanager
def sound_materials() -> Iterator[Sound]:
    """Materials in a temporary directory, with the results of all operations on them; this process has all kernels."""
    with tempfile.TemporaryDirectory(prefix="robustness.") as name:
        directory = Path(name) / "sound"
        directory.mkdir()
        make_materials(directory)
        targets, results = all_targets(directory), {}
        for operation in [operation for target in targets for operation in target.operations]:
            if operation not in results:
                copy = Path(name) / "copy"
                lay_out(directory, copy)
                end = run_here(operation.commands, copy)
                if end.status:
                    raise RuntimeError(f"{operation.name} fails on sound files: {end.errors}")
                results[operation] = digest(end.output, copy)
                shutil.rmtree(copy)
        yield Sound(directory, targets, results)


def run_cases(
    sound: Sound, seed: int, numbers: Sequence[int], seconds: float, limit: int, kept: Path | None
) -> Iterator[Verdict]:
    """Verdicts of the cases with these numbers, until `seconds` have passed; what fails is kept in the directory `kept`.

    limit: seconds that one operation may take.
    """
    start = time.monotonic()
    gc.collect()
    gc.freeze()  # processes share what the collector does not touch
    global _run
    _run = lambda number: _run_and_remove(sound, seed, number, limit, kept)
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        for first in range(0, len(numbers), AT_ONCE):
            if time.monotonic() - start < seconds:
                yield from pool.map(_run_number, numbers[first : first + AT_ONCE])


def _run_number(number):
    return _run(number)


def _run_and_remove(sound, seed, number, limit, kept):
    directory = sound.directory.parent / f"case-{number}"
    verdict = run_case(sound, seed, number, limit, directory)
    if verdict.kind in FAILURES and kept:
        folder = kept / verdict.kind / f"{seed}-{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "verdict.json").write_text(json.dumps(verdict._asdict(), indent=1))
        damaged = directory / verdict.path
        if damaged.is_file() and not damaged.is_symlink():
            shutil.copy(damaged, folder)
    shutil.rmtree(directory, ignore_errors=True)
    return verdict


def table(verdicts: Sequence[Verdict]) -> str:
    """Rows of files, columns of kinds."""
    counts: dict[str, Counter[str]] = {}
    for verdict in verdicts:
        counts.setdefault(verdict.path, Counter())[verdict.kind] += 1
    counts["all"] = sum(counts.values(), Counter())
    width = max(map(len, counts))
    rows = [f"{'file':<{width}} " + "".join(f"{kind:>10}" for kind in ("cases", *KINDS))]
    for path, found in counts.items():
        rows.append(f"{path:<{width}} " + "".join(f"{number or '':>10}" for number in (found.total(), *(found[kind] for kind in KINDS))))
    return "\n".join(rows)


def listing(verdicts: Sequence[Verdict], seed: int) -> str:
    """A paragraph for each case that failed, with the command that runs it again."""
    return "\n".join(
        f"{one.kind}: {one.path}, {one.mutation}\n  {one.operation}: {one.detail}\n"
        f"  python -m tests.robustness --seed {seed} --case {one.number}"
        for one in verdicts
        if one.kind in FAILURES
    )
