"""python -m tests.robustness: damage files, run what reads them, and show what is not refused as it should be."""

import argparse
import os
import sys
import time
from pathlib import Path

from tests.robustness.campaign import listing, run_cases, sound_materials, table
from tests.robustness.cases import FAILURES, run_case

LIMIT = 20  # seconds of an operation


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.robustness", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=10**9, help="how many, at most")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="how long, at most")
    parser.add_argument("--case", type=int, help="this one alone: keeps its files, shows its errors")
    parser.add_argument("--limit", type=int, default=LIMIT, help="seconds that an operation may take")
    parser.add_argument("--keep", type=Path, help="directory for the files of cases that fail")
    arguments = parser.parse_args()
    start = time.monotonic()
    with sound_materials() as sound:
        print(f"{len(sound.targets)} files, {len(sound.results)} operations, {time.monotonic() - start:.0f} s", flush=True)
        if arguments.case is not None:
            directory = Path(f"robustness-{arguments.seed}-{arguments.case}")
            verdict = run_case(sound, arguments.seed, arguments.case, arguments.limit, directory)
            print(verdict)
            return verdict.kind in FAILURES
        verdicts, begun = [], time.monotonic()
        numbers = range(arguments.cases)
        for verdict in run_cases(sound, arguments.seed, numbers, arguments.seconds, arguments.limit, arguments.keep):
            verdicts.append(verdict)
            if verdict.kind in FAILURES:
                print(listing([verdict], arguments.seed), flush=True)
    print(table(verdicts))
    failed = sum(verdict.kind in FAILURES for verdict in verdicts)
    bounds = " with bounds checks" if os.environ.get("NUMBA_BOUNDSCHECK") == "1" else ""
    print(f"{len(verdicts)} cases of seed {arguments.seed}{bounds} in {time.monotonic() - begun:.0f} s: {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
