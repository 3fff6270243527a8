"""warm-up: compiles the kernels of all commands, so that no command has to wait for that later."""

import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from phrasebeam.api.build_lm import build_lm
from phrasebeam.api.evaluate import evaluate
from phrasebeam.api.forced_decode import forced_decode
from phrasebeam.api.moses import export_moses, import_moses
from phrasebeam.api.trainers.train import train
from phrasebeam.api.trainers.train_expected_bleu import train_expected_bleu
from phrasebeam.api.trainers.train_maxforce import train_maxforce
from phrasebeam.api.trainers.train_model import train_model
from phrasebeam.api.trainers.train_ranking import train_ranking
from phrasebeam.api.trainers.tune import tune
from phrasebeam.api.translate import translate
from phrasebeam.base.errors import SmtError
from phrasebeam.base.options import described
from phrasebeam.base.ordered_map import map_ordered
from phrasebeam.base.progress import stage
from phrasebeam.process.children import module_command, start
from phrasebeam.training.demo.demo_corpus import write_pairs

SENTENCES = 200  # pairs; a model of them has arrays of all kinds
HELD_OUT = 10
FEW = {"iterations": 1, "nbest": 5}


@described()
def warm_up() -> None:
    """Compile all kernels that the first runs of commands would compile, with one process per processor.

    Raises SmtError or OSError.

    >>> warm_up()
    """
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        first, *others = range(len(command_runs(directory)))
        with stage("compiling the kernels of commands", 1 + len(others)) as advance:
            _in_process(directory, first)  # its kernels include most of those of the others
            advance(1)
            for _ in map_ordered(partial(_in_process, directory), others, os.cpu_count() or 1):
                advance(1)


def command_runs(directory: Path) -> list[Callable[[], Any]]:
    """Runs of commands that together need all kernels; their files are in `directory`. The first makes the model."""
    model, source, target = (directory / name for name in ("model", "dev.de", "dev.en"))
    text, pairs = (directory / "train.de", directory / "train.en"), directory / "pairs.tsv"

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

    def model_and_translation() -> None:
        write_pairs(directory / "train", SENTENCES, 1, 0.0)
        write_pairs(directory / "dev", HELD_OUT, 2, 0.0)
        train_model(*text, model)
        words = sorted(set(text[1].read_text().split()))
        pairs.write_text("".join(f"{word[::-1]}\t{word}\n" for word in words))
        translate(model, input=source, output=new("stack"))

    return [
        model_and_translation,
        lambda: tune(model, source, [target], new("tuned"), iterations=1, nbest=10),
        all_outputs,
        lambda: train_maxforce(model, *text, source, [target], output=new("maxforce"), iterations=1),
        lambda: train_ranking(model, *text, source, [target], output=new("ranking"), iterations=1),
        lambda: train_expected_bleu(model, *text, source, [target], output=new("expected"), config=FEW),
        lambda: train(None, None, None, None, new("normalizer"), recipe="normalize", pairs=pairs),
        lambda: forced_decode(model, *text, new("forced")),
        moses,
        scores,
    ]


def _in_process(directory: Path, number: int) -> None:
    """Run one of the commands in a process of its own. Raises SmtError, which has the status, if that fails."""
    process = start(*module_command(__name__))
    process.communicate(pickle.dumps((directory, number)))
    if process.returncode:
        raise SmtError(f"a command that compiles kernels ended with status {process.returncode}")


if __name__ == "__main__":
    given, which = pickle.load(sys.stdin.buffer)
    command_runs(given)[which]()
