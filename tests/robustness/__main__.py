"""python -m tests.robustness: damage files, run what reads them, and show what is not refused as it should be."""

import argparse
import math
import os
import sys
import time
from pathlib import Path

from tests.robustness.campaign import Campaign, causes, report, run_cases, sound_materials, table
from tests.robustness.cases import FAILURES, run_case

LIMIT = 20  # seconds of processor time of an operation, which takes some 50 ms


def main() -> int:
    """Exit status 1 if a case fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.robustness", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=10**6, help="how many, at most")
    parser.add_argument("--seconds", type=float, default=math.inf, help="how long, at most")
    parser.add_argument("--case", type=int, nargs="+", help="these alone; their files stay in directories here")
    parser.add_argument("--keep", type=Path, help="directory for the files of cases that fail")
    parser.add_argument("--limit", type=int, default=LIMIT, help="seconds of processor time that an operation may take")
    options = parser.parse_args()
    start = time.monotonic()
    numbers = options.case or range(options.cases)
    with sound_materials(options.seed, numbers) as sound:
        counts = f"{len(sound.targets)} files, {len(sound.results)} operations"
        print(f"{counts}, made in {time.monotonic() - start:.0f} s", flush=True)
        campaign = Campaign(sound, options.seed, options.limit, options.keep)
        if options.case:
            failed = [number for number in options.case if _run_alone(campaign, number)]
            return len(failed) > 0
        return _run(campaign, numbers, options.seconds)


def _run_alone(campaign, number):
    """Run a case whose files stay, show what came of it, and return whether it fails."""
    directory = Path(f"robustness-{campaign.seed}-{number}").resolve()
    verdict = run_case(campaign.sound, campaign.seed, number, campaign.limit, directory)
    print(f"{report(verdict, campaign.seed)}\n  files: {directory}", flush=True)
    return verdict.kind in FAILURES


def _run(campaign, numbers, seconds):
    """Run the cases, and show each that fails as it comes, then tables."""
    start, verdicts = time.monotonic(), []
    for verdict in run_cases(campaign, numbers, seconds):
        verdicts.append(verdict)
        if verdict.kind in FAILURES:
            print(report(verdict, campaign.seed), flush=True)
    print(f"\n{table(verdicts)}\n{causes(verdicts)}")
    failed = sum(verdict.kind in FAILURES for verdict in verdicts)
    bounds = " with bounds checks" if os.environ.get("NUMBA_BOUNDSCHECK") == "1" else ""
    print(f"{len(verdicts)} cases of seed {campaign.seed}{bounds} in {time.monotonic() - start:.0f} s: {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
