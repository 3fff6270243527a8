"""warm-up: the kernels of all commands, compiled before they are waited for."""

import os
import pickle
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

from phrasebeam.api.build_lm import build_lm
from phrasebeam.api.evaluate import evaluate
from phrasebeam.api.forced_decode import forced_decode
from phrasebeam.api.moses import export_moses, import_moses
from phrasebeam.api.trainers.train_maxforce import train_maxforce
from phrasebeam.api.trainers.train_model import train_model
from phrasebeam.api.trainers.train_ranking import train_ranking
from phrasebeam.api.trainers.tune import tune
from phrasebeam.api.translate import translate
from phrasebeam.base.errors import SmtError
from phrasebeam.base.options import described
from phrasebeam.base.ordered_map import map_ordered
from phrasebeam.base.progress import stage
from phrasebeam.kernels.compile_seconds import compile_seconds
from phrasebeam.process.children import module_command, start
from phrasebeam.training.demo.demo_corpus import write_pairs

SENTENCES = 200  # pairs, of which a model has all kinds of arrays
HELD_OUT = 10


@described()
def warm_up() -> dict[str, float]:
    """Compile the kernels of all commands that are not compiled, as first runs do; a process for each processor.

    Returns the processor seconds of each that was compiled, the longest first. Raises SmtError or OSError.

    >>> warm_up(), warm_up()
    (..., {})
    """
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        found = [_seconds_of(lambda: _make_model(directory))]
        numbers = range(len(_runs(directory)))
        with stage("compiling the kernels of commands", len(numbers)) as advance:
            for one in map_ordered(partial(_in_process, directory), numbers, os.cpu_count() or 1):
                found.append(one)
                advance(1)
    seconds = defaultdict[str, float](float)
    for name, value in (item for one in found for item in one.items()):
        seconds[name] += value
    return dict(sorted(seconds.items(), key=lambda item: -item[1]))


def _make_model(directory: Path) -> None:
    train = write_pairs(directory / "train", SENTENCES, 1, 0.0)
    write_pairs(directory / "dev", HELD_OUT, 2, 0.0)
    train_model(*train, directory / "model")


def _runs(directory: Path) -> list[Callable[[], Any]]:
    """Runs of commands, which begin with those whose kernels take longest."""
    model, source, target = (directory / name for name in ("model", "dev.de", "dev.en"))
    train = directory / "train.de", directory / "train.en"

    def new(name: str) -> Path:
        return directory / name

    def all_outputs() -> None:
        lists, lattices = new("nbest"), new("lattices")
        translate(model, output=new("cube"), input=source, algorithm="cube", nbest=5, nbest_output=lists)
        translate(model, output=new("mbr"), input=source, mbr=True, lattice_output=lattices)

    def moses() -> None:
        export_moses(model, new("moses"))
        import_moses(new("moses") / "moses.ini", output=new("imported"))

    def scores() -> None:
        evaluate([source], [target], metric=["bleu", "chrf", "ter", "wer"], paired=None)
        build_lm(target, new("lm.arpa"))

    return [
        lambda: translate(model, input=source, output=new("stack")),
        lambda: tune(model, source, [target], new("tuned"), iterations=1, nbest=10),
        all_outputs,
        lambda: train_maxforce(model, *train, source, [target], output=new("maxforce"), iterations=1),
        lambda: train_ranking(model, *train, source, [target], output=new("ranking"), iterations=1),
        lambda: forced_decode(model, *train, new("forced")),
        moses,
        scores,
    ]


def _in_process(directory: Path, number: int) -> dict[str, float]:
    """The seconds of one of the runs, in a process of its own. Raises SmtError if that fails, which says why."""
    process = start(*module_command(__name__))
    done, _ = process.communicate(pickle.dumps((directory, number)))
    if process.returncode:
        raise SmtError(f"a command that compiles kernels ended with status {process.returncode}")
    return cast(dict[str, float], pickle.loads(done))


def _seconds_of(work: Callable[[], Any]) -> dict[str, float]:
    """Seconds of the kernels that are compiled by some work."""
    with compile_seconds() as seconds:
        work()
    return seconds


if __name__ == "__main__":
    given, which = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(pickle.dumps(_seconds_of(_runs(given)[which])))
