"""Each long command on small data, called with the options of an engine, and what it wrote.

    python -m tests.engine.compared_commands [COMMAND ...]

runs each with two workers of this process and with 1, 2, 4 and 8 of Ray, and says whether all wrote the same bytes.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import phrasebeam
from phrasebeam.cli import main as phrasebeam_command
from tests.engine.small_cluster import small_cluster
from tests.training.joint_selection.ranking_toy import RANKING
from tests.training.maxforce.maxforce_toy import QUICK, make_data

Options = dict[str, Any]
Command = Callable[
    [Path, Path, Options], object
]  # of the directory of make_compared_data, an output, an engine's options

TELL_OF_TIME = ".npz", ".csv", ".png", ".md"
NAMES = "model", "train.source", "train.target", "dev.source", "dev.target"
LISTS = {"iterations": 2, "lm_folds": 2, "nbest": 10, "calibrate": False, "tune": None}


def make_compared_data(directory: Path) -> None:
    """The toy data of train-maxforce, with a model that has operation sequences."""
    make_data(directory, operations={"order": 3})


def contents(directory: Path) -> dict[str, bytes]:
    """The bytes of all files but those that tell of seconds."""
    found = {}
    for path in sorted(directory.rglob("*")):
        if (
            path.is_file()
            and path.suffix not in TELL_OF_TIME
            and path.name not in ("model.yaml", "run.yaml", "work.yaml")
        ):
            found[str(path.relative_to(directory))] = path.read_bytes()
    return found


def _train_model(smoothing: str) -> Command:
    config = {"phrases": {"smoothing": smoothing}, "operations": {"order": 3}}

    def run(data: Path, output: Path, options: Options) -> None:
        pair = data / "train.source", data / "train.target"
        phrasebeam.train_model(*pair, output, config=config, alignment=data / "train.alignment", **options)

    return run


def _translate(data: Path, output: Path, options: Options) -> None:
    output.mkdir()
    arguments = ["translate", "--model", f"{data / 'model'}", "--input", f"{data / 'train.source'}", "--nbest", "5"]
    for option, name in {"output": "text", "nbest-output": "nbest", "lattice-output": "lattice"}.items():
        arguments += [f"--{option}", f"{output / name}"]
    for option, value in options.items():
        arguments += [f"--{option if 'engine' in options else 'threads'}", str(value)]
    assert phrasebeam_command(arguments) == 0


def _forced_decode(data: Path, output: Path, options: Options) -> None:
    output.mkdir()
    pairs = data / "model", data / "train.source", data / "train.target"
    more = {"alignment": data / "train.alignment", "leave_one_out": "drop", "lattice": output / "lattices"}
    reached = phrasebeam.forced_decode(*pairs, output / "found", **more, **options)
    (output / "reached").write_text(reached.text())


def _tune(data: Path, output: Path, options: Options) -> None:
    files = data / "model", data / "dev.source", data / "dev.target"
    phrasebeam.tune(*files, output, config={"iterations": 2, "nbest": 10}, **options)


def _trainer(name: str, config: dict[str, Any]) -> Command:
    def run(data: Path, output: Path, options: Options) -> None:
        files, alignment = [data / file for file in NAMES], data / "train.alignment"
        getattr(phrasebeam, name)(*files, output, alignment=alignment, config=config, **options)

    return run


COMMANDS: dict[str, Command] = {
    "train-model": _train_model("none"),
    "train-model, smoothed": _train_model("kneser-ney"),
    "translate": _translate,
    "forced-decode": _forced_decode,
    "tune": _tune,
    "train-maxforce": _trainer("train_maxforce", QUICK),
    "train-expected-bleu": _trainer("train_expected_bleu", LISTS),
    "train-ranking, algorithm 2": _trainer("train_ranking", RANKING | {"algorithm": 2}),
    "train-ranking, algorithm 4": _trainer("train_ranking", RANKING),
}


def written(name: str, data: Path, output: Path, options: Options) -> dict[str, bytes]:
    """What a command writes to `output`, by the names of its files."""
    COMMANDS[name](data, output, options)
    return contents(output)


def main(names: list[str]) -> int:
    """Compare; 1 where anything differs."""
    engines: list[Options] = [{"workers": 2}, *({"engine": "ray", "workers": n} for n in (1, 2, 4, 8))]
    is_wrong = False
    with small_cluster(), TemporaryDirectory() as place:
        data = Path(place) / "data"
        data.mkdir()
        make_compared_data(data)
        for name in names:
            begin = time.perf_counter()
            made = [written(name, data, Path(place) / f"{name}-{i}", options) for i, options in enumerate(engines)]
            differing = [str(engines[i]) for i, one in enumerate(made) if one != made[0]]
            is_wrong |= bool(differing)
            result = f"other bytes with {', '.join(differing)}" if differing else f"{len(engines)} times the same bytes"
            print(f"{name}: {result}, {len(made[0])} files, {time.perf_counter() - begin:.0f} s", flush=True)
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [*COMMANDS]))
