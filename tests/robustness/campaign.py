"""The campaign: many cases side by side, in processes forked from one that has all kernels; what came of them."""

import gc
import json
import multiprocessing
import re
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.robustness.cases import FAILURES, KINDS, Sound, Verdict, digest, lay_out, operation_of, run_case
from tests.robustness.isolated import run_here
from tests.robustness.materials import make_materials
from tests.robustness.targets import all_targets

WORKERS = 2
AT_ONCE = 50  # cases between two looks at the clock
MANY = 2  # times as many cases as operations take nearly all of these


class Campaign(NamedTuple):
    """What all cases of a campaign share."""

    sound: Sound
    seed: int
    limit: int  # seconds of processor time that an operation may take
    kept: Path | None  # directory for the files of cases that fail


@contextmanager
def sound_materials(seed: int, numbers: Sequence[int]) -> Iterator[Sound]:
    """Materials in a temporary directory, with the results of the operations of these cases on them.

    After that this process has the kernels of the operations.
    """
    with tempfile.TemporaryDirectory(prefix="robustness.") as name:
        directory, copy = Path(name) / "sound", Path(name) / "copy"
        directory.mkdir()
        make_materials(directory)
        targets, results = all_targets(directory), {}
        n_operations = sum(len(target.operations) for target in targets)
        several = numbers if len(numbers) < MANY * n_operations else ()
        operations = [operation_of(targets, seed, number)[-1] for number in several]
        for operation in operations or [one for target in targets for one in target.operations]:
            if operation not in results:
                lay_out(directory, copy, operation)
                end = run_here(operation.commands, copy)
                if end.status:
                    raise RuntimeError(f"{operation.name} fails on sound files: {end.errors}")
                results[operation] = digest(end.output, copy)
                shutil.rmtree(copy)
        yield Sound(directory, targets, results)


def run_cases(campaign: Campaign, numbers: Sequence[int], seconds: float) -> Iterator[Verdict]:
    """Verdicts of the cases with these numbers, as many as are begun within so many seconds."""
    start = time.monotonic()
    gc.collect()
    gc.freeze()  # processes share what the collector does not touch
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(WORKERS, context, initializer=_begin, initargs=(campaign,)) as pool:
        for first in range(0, len(numbers), AT_ONCE):
            if time.monotonic() - start < seconds:
                yield from pool.map(_run_number, numbers[first : first + AT_ONCE])


def _begin(campaign):
    global _campaign
    _campaign = campaign  # of this worker


def _run_number(number):
    sound, seed, limit, kept = _campaign
    directory = sound.directory.parent / f"case-{number}"
    verdict = run_case(sound, seed, number, limit, directory)
    if verdict.kind in FAILURES and kept:
        _keep(verdict, directory, kept / verdict.kind / f"{seed}-{number}")
    shutil.rmtree(directory, ignore_errors=True)
    return verdict


def _keep(verdict, directory, kept):
    """Copy the damaged file to the directory `kept`, with the verdict."""
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    (kept / "verdict.json").write_text(json.dumps(verdict._asdict(), indent=1) + "\n")
    damaged = directory / verdict.path
    if damaged.is_file() and not damaged.is_symlink():
        shutil.copy(damaged, kept)


def table(verdicts: Sequence[Verdict]) -> str:
    """A row for each file, a column for each kind."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in verdicts:
        counts[verdict.path][verdict.kind] += 1
        counts["all"][verdict.kind] += 1
    counts["all"] = counts.pop("all", Counter())  # last
    width = max(map(len, counts))
    rows = [f"{'file':<{width}}" + "".join(f"{title:>10}" for title in ("cases", *KINDS))]
    for path, found in counts.items():
        numbers = (found.total(), *(found[kind] for kind in KINDS))
        rows.append(f"{path:<{width}}" + "".join(f"{number or '':>10}" for number in numbers))
    return "\n".join(rows)


def causes(verdicts: Sequence[Verdict]) -> str:
    """Failures with the same last line but for numbers: how many there are, and the number of the first case."""
    found: dict[str, list[int]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.kind in FAILURES:
            detail = re.sub(r"\d+", "N", verdict.detail) if verdict.kind != "unnoticed" else verdict.path
            found[f"{verdict.kind}: {detail}"].append(verdict.number)
    return "\n".join(f"{len(numbers):>5}  {cause} (case {numbers[0]})" for cause, numbers in sorted(found.items()))


def report(verdict: Verdict, seed: int) -> str:
    """A case that failed, and the command that runs it again."""
    return (
        f"{verdict.kind}: {verdict.path}, {verdict.mutation}\n  {verdict.operation}: {verdict.detail}\n"
        f"  python -m tests.robustness --seed {seed} --case {verdict.number}"
    )
