"""Commands by this process and by Ray's workers: seconds, processor seconds, memory and bytes that travel.

The bitext is made up by the demo's grammar, with its noise. Processor seconds, in which other work on the machine does
not count, are those of the process, of its forks, and of Ray's workers while they work; those that a worker takes to
start, which it does once, stand beside them. Ray's own processes are left out. Each figure is of one run.

A simulation of larger work: --pairs 1000000 --sentences 200000 --shards 200 --workers 8 --ray-alone. In a --directory
the bitext, the first model and what was made stay, and the former two are not made again.
"""

import argparse
import logging
import os
import re
import shutil
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import phrasebeam
from phrasebeam.base.files import read_lines
from phrasebeam.base.progress import log
from phrasebeam.engine.current_engine import EngineSettings, using_engine
from phrasebeam.engine.ray_cluster import LOOPBACK
from phrasebeam.system.memory_use import peak_memory
from phrasebeam.training.demo.demo_corpus import write_pairs

REPORT = re.compile(
    r"workers of Ray: .*; ([\d.]+) s of processors, ([\d.]+) s for a worker to start; (\d+) MB at most in one; "
    r"([\d.]+) MB of messages, ([\d.]+) MB for all"
)
Stage = Callable[[Path, dict[str, Any]], object]  # of an output and of the options of an engine
SHORT = {"tune": None, "lm_folds": 0, "scales": [1.0], "iterations": 1}


class Reports(logging.Handler):
    """Keeps what engines log when they end."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.last: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if found := REPORT.search(record.getMessage()):
            self.last = list(found.groups())


def processor_seconds() -> float:
    return sum(os.times()[:4])


def stages(directory: Path, sentences: int, shards: int) -> dict[str, Stage]:
    """What is measured, by name."""
    model, train, dev = directory / "model", directory / "train", directory / "dev"
    pair = train.with_suffix(".de"), train.with_suffix(".en")
    data = model, *pair, dev.with_suffix(".de"), dev.with_suffix(".en")
    alignment = {"alignment": model / "alignment"}
    limited = SHORT | {"sentences": sentences}
    lists = {"tune": None, "lm_folds": 0, "iterations": 3, "nbest": 50, "sentences": sentences}

    def translate(output: Path, options: dict[str, Any]) -> None:
        decoder = phrasebeam.Decoder.load(model)
        with using_engine(EngineSettings(**options)), open(output, "w", encoding="utf-8") as file:
            for line in phrasebeam.translate_lines(decoder, read_lines(pair[0])):
                file.write(line.translation)

    return {
        "train-model": lambda out, given: phrasebeam.train_model(*pair, out, **alignment, **given),
        "translate": translate,
        "forced-decode": lambda out, given: phrasebeam.forced_decode(
            model, *pair, out, **alignment, leave_one_out="drop", **given
        ),
        "tune": lambda out, given: phrasebeam.tune(
            model, *data[3:], out, config={"iterations": 2, "nbest": 100}, **given
        ),
        "train-ranking": lambda out, given: phrasebeam.train_ranking(
            *data, out, **alignment, config=limited | {"algorithm": 4, "shards": shards}, **given
        ),
        "train-maxforce": lambda out, given: phrasebeam.train_maxforce(
            *data, out, **alignment, config=limited, **given
        ),
        "train-expected-bleu": lambda out, given: phrasebeam.train_expected_bleu(
            *data, out, **alignment, config=lists, **given
        ),
    }


def measured(run: Stage, output: Path, options: dict[str, Any]) -> list[Any]:
    """Seconds and processor seconds of a run, and megabytes that this process had at most so far."""
    if output.is_dir():
        shutil.rmtree(output)
    begin, processor = time.perf_counter(), processor_seconds()
    run(output, options)
    return [time.perf_counter() - begin, processor_seconds() - processor, peak_memory() >> 20]


def row(cells: list[Any]) -> None:
    """Print a row of the table."""
    print(
        "| " + " | ".join(f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5000, help="sentence pairs of the bitext")
    parser.add_argument("--sentences", type=int, default=500, help="that trainers learn from")
    parser.add_argument("--shards", type=int, default=16, help="of train-ranking")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--directory", type=Path, help="for files that stay; by default they are temporary")
    parser.add_argument("--stages", nargs="+", help="only these")
    parser.add_argument("--ray-alone", action="store_true", help="no local run: for a simulation of much work")
    given = parser.parse_args()
    import ray

    log.addHandler(reports := Reports())
    log.setLevel(logging.INFO)
    options = {"num_cpus": os.cpu_count(), "object_store_memory": 512 << 20, "_node_ip_address": LOOPBACK}
    ray.init("local", include_dashboard=False, log_to_driver=False, logging_level="ERROR", **options)
    with nullcontext(given.directory) if given.directory else TemporaryDirectory() as name:
        directory = Path(name)
        make_data(directory, given.pairs)
        compare(directory, given, reports)


def make_data(directory: Path, n_pairs: int) -> None:
    """The bitext and the first model, where they are not there yet."""
    directory.mkdir(exist_ok=True, parents=True)
    if not (directory / "dev.de").exists():
        write_pairs(directory / "train", n_pairs, 1, 0.1)
        write_pairs(directory / "dev", 100, 2, 0.0)
    if not (directory / "model").exists():
        spent = measured(
            lambda out, _: phrasebeam.train_model(directory / "train.de", directory / "train.en", out),
            directory / "model",
            {},
        )
        said = "The first model, with word alignment and language model"
        print(f"{said}: {spent[0]:.1f} s, {spent[1]:.1f} of processors, {spent[2]} MB", flush=True)


def compare(directory: Path, given: argparse.Namespace, reports: Reports) -> None:
    """Print the table."""
    columns = ["", "without Ray, s", "processor s", "with Ray, s", "processor s", "of which the command", "overhead"]
    columns += ["s to start", "MB of the command", "MB per worker", "MB of messages", "MB for all"]
    row(columns)
    row(["---"] * len(columns))
    for stage, run in stages(directory, given.sentences, given.shards).items():
        if given.stages and stage not in given.stages:
            continue
        ray_options, local = {"engine": "ray", "workers": given.workers}, ["", ""]
        if not given.ray_alone:
            measured(run, directory / f"{stage}-warm", ray_options)  # compiles kernels
            local = measured(run, directory / f"{stage}-local", {"workers": given.workers})[:2]
        seconds, here, megabytes = measured(run, directory / f"{stage}-ray", ray_options)
        working, starting, *sizes = reports.last
        processor = here + float(working)
        overhead = "" if given.ray_alone else f"{100 * (processor / local[1] - 1):+.0f}%"
        row([stage, *local, seconds, processor, here, overhead, starting, megabytes, *sizes])


if __name__ == "__main__":
    main()
