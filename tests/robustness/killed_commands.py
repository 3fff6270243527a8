"""The long commands on a small generated corpus: how each is called, and what it leaves when it was not disturbed."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from phrasebeam.cli import main
from phrasebeam.training.demo.demo_corpus import write_pairs

OUTPUT = "out"  # in the directory where a command runs
SEARCH = {"algorithm": "cube", "pop_limit": 50, "stack": 50}
TEMPLATES = {"rule_id": True, "source_bigrams": True}
TUNING = {"iterations": 2, "nbest": 20, "search": SEARCH, "threads": 2}
TRAINING = {"leave_one_out": "drop", "search": SEARCH, "iterations": 2, "threads": 2, "lm_folds": 0, "tune": None}
INNER = {"tune": {"iterations": 2, "nbest": 10, "search": SEARCH}}  # whose work is removed when it is done
MAXFORCE_STAGE = {
    "kind": "train-maxforce",
    "settings": TRAINING | {"templates": TEMPLATES, "search": {"stack": 20}},
}


def recipe(*stages: dict[str, Any]) -> dict[str, Any]:
    """A recipe with these stages between the tuned model and minimum Bayes risk."""
    tuned = [{"kind": "train-model"}, {"kind": "tune", "settings": TUNING}]
    return {"held_out": 0.5, "stages": [*tuned, *stages, {"kind": "mbr", "sizes": [20], "scales": [1.0]}]}


CONFIGS = {
    "model": {"phrases": {"max_length": 3}, "language_model": {"order": 2}, "threads": 2},
    "smoothed": {"phrases": {"max_length": 3, "smoothing": "kneser-ney"}, "language_model": {"order": 2}, "threads": 2},
    "tune": TUNING,
    "plf": TUNING | {"source_format": "plf"},
    "online": TUNING | {"method": "online", "online": {"templates": TEMPLATES, "checkpoint": 3}},
    "maxforce": TRAINING | INNER | {"templates": TEMPLATES, "checkpoint": 2, "lm_folds": 2, "search": {"stack": 20}},
    "ranking": TRAINING
    | INNER
    | {"templates": TEMPLATES, "checkpoint": 10, "algorithm": 4, "shards": 2, "workers": 2, "nbest": 20},
    "recipe": recipe(MAXFORCE_STAGE),
    "every-stage": recipe(
        {
            "kind": "train-model",
            "name": "agreed",
            "settings": {
                "more_alignments": [{"aligner": "fast_align"}],
                "phrases": {"agreement": 2},
                "operations": {"order": 3},
            },
        },
        {"kind": "tune", "name": "tuned-agreed", "start": "agreed", "settings": TUNING},
        {"kind": "choose", "searches": [{"distortion_limit": 4}, {"early_distortion": True}], "settings": TUNING},
        {"kind": "train-expected-bleu", "settings": TRAINING | {"nbest": 20, "features": ["a"], "score_every": 2}},
        MAXFORCE_STAGE | {"start": "tune"},
        {"kind": "train-ranking", "settings": TRAINING | {"templates": TEMPLATES, "nbest": 20}, "start": "tune"},
        {"kind": "join-features", "start": "train-expected-bleu", "features": "train-maxforce", "settings": TUNING},
    ),
    "expected-bleu": TRAINING
    | INNER
    | {"leave_one_out": "penalty", "nbest": 20, "features": ["a", "b"], "score_every": 2},
}
BITEXT = "--source {data}/train.de --target {data}/train.en"
DEV = "--dev-source {data}/dev.de --dev-reference {data}/dev.en"
TRAIN = f"--model {{data}}/model {BITEXT} --alignment {{data}}/model/alignment {DEV} --output out"
TUNE = "tune --model {data}/model --source {data}/dev.de --reference {data}/dev.en --output out"
# These tell how long it took.
NOT_COMPARED = ("curve.csv", "curve.png", "run.yaml", "work.yaml", "report.md", "report.html")


class KilledCommand(NamedTuple):
    """A command that is to be killed."""

    arguments: str  # {data}: the directory of make_data
    is_resumed: bool = False  # whether it goes on where it was killed
    input: str = ""  # file that it reads from standard input


COMMANDS = {
    "train-model": KilledCommand("train-model " + BITEXT + " --output out --config {data}/model.yaml"),
    "train-model, smoothed": KilledCommand(
        "train-model " + BITEXT + " --output out --config {data}/smoothed.yaml --alignment {data}/model/alignment "
        "--lm-classes {data}/classes"
    ),
    "train-model --raw": KilledCommand(
        "train-model --raw --source-language de --target-language en "
        "--source {data}/raw.de --target {data}/raw.en --output out --config {data}/model.yaml"
    ),
    "train": KilledCommand(f"train {BITEXT} {DEV} --output out --recipe {{data}}/recipe.yaml", is_resumed=True),
    "train, every stage": KilledCommand(
        f"train {BITEXT} {DEV} --output out --recipe {{data}}/every-stage.yaml", is_resumed=True
    ),
    "build-lm": KilledCommand("build-lm --text {data}/train.en --output out/lm.arpa --output out/lm.bin --order 3"),
    "cluster": KilledCommand("cluster --text {data}/train.en --output out/classes --classes 40"),
    "select": KilledCommand(
        "select " + BITEXT + " --in-domain {data}/dev.de --sentences 100 --output-source out/de --output-target out/en"
    ),
    "translate": KilledCommand(
        "translate --model {data}/model --nbest 20 --nbest-output out/nbest --threads 2", input="train.de"
    ),
    "translate lattices": KilledCommand(
        "translate --model {data}/model --input-format plf --input-weight 0.5 --nbest 20 --nbest-output out/nbest "
        "--lattice-output out/lattices --threads 2",
        input="train.plf",
    ),
    "translate --adapt": KilledCommand(
        "translate --model {data}/model --adapt {data}/train.en --adapt-journal out/journal", input="train.de"
    ),
    "align": KilledCommand("align --model {data}/model " + BITEXT + " --output out/aligned"),
    "preprocess": KilledCommand("preprocess --model {data}/raw --side source --output out/text", input="raw.de"),
    "forced-decode": KilledCommand(
        "forced-decode --model {data}/model --source {data}/train.de --reference {data}/train.en --output out/forced "
        "--lattice out/lattice --leave-one-out drop --threads 2 --alignment {data}/model/alignment"
    ),
    "export-moses": KilledCommand("export-moses --model {data}/model --output out"),
    "import-moses": KilledCommand("import-moses {data}/moses/moses.ini --output out"),
    "import-moses, two tables": KilledCommand("import-moses {data}/moses/two.ini --output out"),
    "rerank": KilledCommand(
        "rerank --weights out/weights --train {data}/nbest --reference {data}/dev.en --method mert --threads 2"
    ),
    "join-features": KilledCommand("join-features --model {data}/model --features {data}/featured --output out"),
    **{
        f"tune {method}": KilledCommand(f"{TUNE} --config {{data}}/tune.yaml --method {method}", True)
        for method in ("mert", "mira-batch", "mira-corpus", "pro")
    },
    "tune online": KilledCommand(TUNE + " --config {data}/online.yaml", True),
    "tune on lattices": KilledCommand(
        TUNE.replace("dev.de", "dev.plf").replace("/model", "/weighted") + " --config {data}/plf.yaml", True
    ),
    **{
        f"train-{name}": KilledCommand(f"train-{name} {TRAIN} --config {{data}}/{name}.yaml", True)
        for name in ("maxforce", "ranking", "expected-bleu")
    },
}


def make_data(data: Path, n_pairs: int = 200) -> None:
    """The corpus, its model, settings, and what else commands read, in the directory `data`."""
    write_pairs(data / "train", n_pairs, 1, 0.0)
    write_pairs(data / "dev", 20, 2, 0.0)
    for language in ("de", "en"):
        (data / f"raw.{language}").write_text((data / f"train.{language}").read_text() * 12)  # several batches of lines
    for name, settings in CONFIGS.items():
        (data / f"{name}.yaml").write_text(yaml.safe_dump(settings))
    run(data, COMMANDS["train-model"].arguments.replace("--output out", "--output {data}/model"))


NEED_MORE_DATA = {
    "train-model, smoothed",
    "translate lattices",
    "preprocess",
    "import-moses",
    "import-moses, two tables",
    "rerank",
    "join-features",
    "tune on lattices",
}


def make_more_data(data: Path) -> None:
    """What some commands read besides: a model with sparse features, one of Moses, n-best lists."""
    run(data, f"{TUNE} --config {{data}}/online.yaml".replace("--output out", "--output {data}/featured"))
    run(data, "export-moses --model {data}/model --output {data}/moses")
    run(data, "cluster --text {data}/train.en --output {data}/classes --classes 20")
    raw = COMMANDS["train-model --raw"].arguments.replace("/raw.", "/train.")  # fewer lines
    run(data, raw.replace("--output out", "--output {data}/raw"))
    make_lattices(data)
    make_two_tables(data / "moses")
    shutil.rmtree(data / "featured" / "tuning")
    lists = f"translate --model {data}/model --nbest 20 --nbest-output {data}/nbest".split()
    with open(data / "dev.de", encoding="utf-8") as source:
        subprocess.run(
            [sys.executable, "-m", "phrasebeam", *lists], stdin=source, stdout=subprocess.DEVNULL, check=True
        )


def make_lattices(data: Path) -> None:
    """Sentences as lattices whose words may be missing, and a model that has a weight for their scores."""
    for name in ("train", "dev"):
        lines = (data / f"{name}.de").read_text().splitlines()
        (data / f"{name}.plf").write_text("".join(f"{lattice_of(line.split())}\n" for line in lines))
    shutil.copytree(data / "model", data / "weighted")
    with open(data / "weighted" / "weights.yaml", "a", encoding="utf-8") as file:
        file.write("input_score: 0.3\n")


def lattice_of(words: list[str]) -> str:
    """Moses' format of a lattice (PLF)."""
    return str(tuple(((word, 0.9, 1), ("*EPS*", 0.1, 1)) for word in words))


def make_two_tables(moses: Path) -> None:
    """two.ini: the Moses model whose phrase table is there twice."""
    table = "PhraseDictionaryMemory name=TranslationModel0"
    ini = (moses / "moses.ini").read_text()
    (line,) = (line for line in ini.splitlines() if line.startswith(table))
    (weights,) = (line for line in ini.splitlines() if line.startswith("TranslationModel0="))
    ini = ini.replace(line, f"{line}\n{line.replace('TranslationModel0', 'T1')}").replace("0 T 0\n", "0 T 0\n1 T 1\n")
    (moses / "two.ini").write_text(f"{ini}\n[weight]\n{weights.replace('TranslationModel0', 'T1')}\n")


def run(data: Path, arguments: str) -> None:
    if main(arguments.format(data=data).split()) != 0:
        raise RuntimeError(f"{arguments} fails")


def contents(directory: Path) -> dict[str, object]:
    """For each file in `directory`, what may not depend on whether the command was killed."""
    return {
        str(path.relative_to(directory)): content_of(path)
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name not in NOT_COMPARED
    }


def content_of(path: Path) -> object:
    if path.suffix != ".npz":
        return path.read_bytes()
    with np.load(path) as arrays:  # checkpoints: progress tells how long it took
        return {name: array.tobytes() for name, array in arrays.items() if name != "progress"}
