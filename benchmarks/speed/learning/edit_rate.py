"""TER of a text by our kernel and by sacrebleu's own code: processor seconds, medians of several runs in turn.

    python -m benchmarks.speed.learning.edit_rate HYPOTHESIS REFERENCE [--runs 5]

The program ends with an error if the scores differ. The kernel is compiled before it is measured.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

from sacrebleu.metrics import TER

from benchmarks.measure import table
from phrasebeam.base.files import read_lines
from phrasebeam.training.metrics.ter import EditRate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hypothesis", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    texts, reference = ([line.rstrip() for line in read_lines(path)] for path in (given.hypothesis, given.reference))
    EditRate().corpus_score(["a b"], [["b a"]])
    seconds: dict[type[TER], list[float]] = {EditRate: [], TER: []}
    scores = set()
    for _ in range(given.runs):
        for metric in seconds:
            begin = time.process_time()
            scores.add(metric().corpus_score(texts, [reference]).score)
            seconds[metric].append(time.process_time() - begin)
    if len(scores) > 1:
        sys.exit(f"scores differ: {sorted(scores)}")
    medians = {metric: statistics.median(values) for metric, values in seconds.items()}
    rows = [["", "processor seconds", "ratio"]]
    for name, metric in ("kernel", EditRate), ("sacrebleu", TER):
        rows.append([name, f"{medians[metric]:.2f}", f"{medians[metric] / medians[EditRate]:.0f}"])
    print(table(rows))


if __name__ == "__main__":
    main()
