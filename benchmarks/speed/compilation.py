"""The kernels that a first run compiles: processor seconds for each, and what numba spends them on.

    python -m benchmarks.speed.compilation [--model MODEL] [--sentence "..."] [--algorithm cube] [--largest 10]
    python -m benchmarks.speed.compilation --commands [--csv FILE]

It measures one translation with an empty kernel cache, in a separate process, on one processor; without --model it uses
the demo's model. With --commands it measures the commands that `phrasebeam warm-up` runs, one after another. --csv
writes the seconds of each kernel for `make check`, which refuses slow kernels without a reason. Seconds are those of
the kernel alone, without the kernels that it calls, which are compiled first. The parts are: type inference and
lowering to LLVM's language; optimizing each function; optimizing the kernel together with everything it calls; writing
machine code. The last two are for kernels that Python calls; inner kernels are optimized and written as parts of these.
"""

import argparse
import csv
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import PHRASEBEAM, run, table

SENTENCES = 300
SENTENCE = "der hund schläft im garten ."  # a sentence of the demo's grammar
PARTS = ("type inference, lowering", "optimizing functions", "optimizing with callees", "machine code", "other")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, help="model directory; default: one of the demo's corpus")
    parser.add_argument("--sentence", default=SENTENCE)
    parser.add_argument("--largest", type=int, help="kernels to list; default: all")
    parser.add_argument("--algorithm", choices=("stack", "cube"), default="stack")
    parser.add_argument("--commands", action="store_true", help="all that warm-up compiles")
    parser.add_argument("--csv", type=Path, help="file for the seconds of each kernel")
    parser.add_argument("--record", help=argparse.SUPPRESS)  # for the process that is measured
    arguments = parser.parse_args()
    if arguments.record:
        print(json.dumps(record(arguments)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        model = directory if arguments.commands else arguments.model or demo_model(directory)
        command = [sys.executable, "-m", "benchmarks.speed.compilation", "--record", str(model)]
        command += ["--sentence", arguments.sentence, "--algorithm", arguments.algorithm]
        command += ["--commands"] if arguments.commands else []
        done = run(command, None, {"PHRASEBEAM_CACHE": f"{directory / 'cache'}"})
    compiled = json.loads(done.output.splitlines()[-1])
    show(compiled, arguments.largest)
    if arguments.csv:
        write_seconds(compiled, arguments.csv)
    print(f"\n{done.seconds:.1f} s in all, {done.processor_seconds:.1f} s of processors.")


def demo_model(directory: Path) -> Path:
    corpus = [*PHRASEBEAM, "demo-corpus", "--sentences", f"{SENTENCES}", "--output", f"{directory}/train"]
    run([*corpus, "--noise", "0"])
    sides = ["--source", f"{directory}/train.de", "--target", f"{directory}/train.en"]
    run([*PHRASEBEAM, "train-model", *sides, "--output", f"{directory}/model"])
    return directory / "model"


def record(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Compile, and return for each kernel its name, the length of its types, and the seconds of each part."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # with two processors, a second process would compile, too
    clock = Clock()
    if arguments.commands:
        from phrasebeam.api.trainers.warm_up import command_runs

        for one in command_runs(Path(arguments.record)):
            one()
        return clock.compiled
    from phrasebeam.decoder.search.search_settings import SearchSettings
    from phrasebeam.decoder.translate.translator import Decoder

    settings = SearchSettings.model_validate({"algorithm": arguments.algorithm})
    Decoder.load(arguments.record, settings).translate(arguments.sentence)
    return clock.compiled


class Clock:
    """Listens to numba, and assigns processor seconds to the innermost kernel and part that is being compiled."""

    def __init__(self) -> None:
        from numba.core import codegen, event, typed_passes

        from phrasebeam.kernels.compilation import libraries

        self.compiled: list[dict[str, Any]] = []
        self.open: list[Counter[str]] = []
        self.parts: list[str] = []
        self.since = time.thread_time()
        for owner, method, part in (
            (typed_passes.BaseTypeInference, "run_pass", 0),
            (typed_passes.BaseNativeLowering, "run_pass", 0),
            (codegen.CPUCodeLibrary, "_optimize_functions", 1),
            (libraries.KernelLibrary, "_optimize_final_module", 2),
            (codegen.CPUCodeLibrary, "_finalize_final_module", 3),
        ):
            setattr(owner, method, self.timed(getattr(owner, method), PARTS[part]))
        clock = self

        class Listener(event.Listener):
            def on_start(self, _: event.Event) -> None:
                clock.switch()
                clock.open.append(Counter())
                clock.parts.append(PARTS[-1])

            def on_end(self, found: event.Event) -> None:
                clock.switch()
                clock.parts.pop()
                function, types = found.data["dispatcher"].py_func, found.data["args"]
                name = f"{function.__module__}.{function.__qualname__}"
                clock.compiled.append({"name": name, "types": len(str(types)), "seconds": clock.open.pop()})

        event.register("numba:compile", Listener())

    def timed(self, function: Callable[..., Any], part: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.switch()
            self.parts.append(part)
            try:
                return function(*arguments)
            finally:
                self.switch()
                self.parts.pop()

        return call

    def switch(self) -> None:
        """Assign the time since the last switch to the innermost kernel and part."""
        now = time.thread_time()
        if self.open:
            self.open[-1][self.parts[-1]] += now - self.since
        self.since = now


def show(compiled: list[dict[str, Any]], n_largest: int | None) -> None:
    """Print the kernels that take longest, the sums over all kernels, and kernels compiled for several types."""
    rows = [["kernel", "seconds", *PARTS, "characters of types"]]
    compiled.sort(key=lambda one: -sum(one["seconds"].values()))
    total: Counter[str] = Counter()
    for one in compiled:
        total.update(one["seconds"])
    for one in compiled[:n_largest]:
        name = one["name"].removeprefix("phrasebeam.")
        rows.append([f"`{name}`", *seconds_of(one["seconds"]), str(one["types"])])
    rows.append([f"all {len(compiled)}", *seconds_of(total), ""])
    print(table(rows))
    counts = Counter(one["name"] for one in compiled)
    several = [f"{name} ({count})" for name, count in counts.items() if count > 1]
    print(f"\nCompiled more than once: {', '.join(several) or 'none'}.")


def write_seconds(compiled: list[dict[str, Any]], path: Path) -> None:
    """Write the kernels, the slowest first, each with its seconds for all its types."""
    sums: Counter[str] = Counter()
    for one in compiled:
        sums[one["name"].removeprefix("phrasebeam.")] += sum(one["seconds"].values())
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("kernel", "seconds"), *((name, f"{n:.2f}") for name, n in sums.most_common())])


def seconds_of(seconds: dict[str, float]) -> list[str]:
    return [f"{value:.2f}" for value in (sum(seconds.values()), *(seconds.get(part, 0.0) for part in PARTS))]


if __name__ == "__main__":
    main()
