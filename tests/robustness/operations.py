"""The operations that read files: one command or several in a row, the later ones on what the first has made."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from tests.robustness.isolated import Command

LISTS = "--nbest 5 --nbest-output out/nbest --lattice-output out/lattice"
ONE_OUT = "--reference few.en --word-alignment few.align < few.de"
FEW = "--source few.de --reference few.en"
FORCED = f"{FEW} --output out/forced --lattice out/lattice"
ALIGNED = "--source few.de --target few.en --alignment few.align"
TRAIN = f"{ALIGNED} --dev-source dev.de --dev-reference dev.en --threads 1 --leave-one-out penalty"
TUNE = f"{FEW} --nbest 5 --threads 1"
ONCE = "--iterations 1 --output out/model"
BUILD = "train-model --source train.de --target train.en --output out/model --config"
SELECT = (
    "select --source train.de --target train.en --in-domain few.de --sentences 9 "
    "--output-source out/de --output-target out/en"
)
OF_LATTICES = ("plf", "confusion")  # names of translations
CASING = "--truecaser-source truecaser.de --truecaser-target truecaser.en"
IMPORT = "--output out/model --source-language de --target-language en"
OUR_MODEL = ("translate --model out/model < dev.de", "check-model out/model")


class Operation(NamedTuple):
    """Commands that read files."""

    name: str
    commands: tuple[Command, ...]


def command_in(line: str) -> Command:
    """The command in a line: words, and perhaps '< FILE' at its end."""
    arguments, _, stdin = line.partition(" < ")
    return Command(tuple(arguments.split()), stdin or os.devnull)


def _operation(name, *lines):
    return Operation(name, tuple(map(command_in, lines)))


def reading(path: str, operations: Sequence[Operation]) -> list[Operation]:
    """The operations that read the file at `path`."""
    return [
        one for one in operations if any(path == command.stdin or path in command.arguments for command in one.commands)
    ]


def check(model: str) -> Operation:
    return _operation("check-model", f"check-model {model}")


def translations(model: str) -> list[Operation]:
    """All that searches with a model."""
    translate, forced = f"translate --model {model} --no-raw", f"forced-decode --model {model} {FORCED} --no-raw"
    return [
        _operation("translate", f"{translate} --scores --alignment --segmentation {LISTS} < dev.de"),
        _operation("cube", f"{translate} --algorithm cube --distinct --mbr {LISTS} < dev.de"),
        _operation("dot", f"{translate} {LISTS} --lattice-format dot --lattice-beam 1 < dev.de"),
        _operation("drop", f"{translate} --leave-one-out drop {LISTS} {ONE_OUT}"),
        _operation("penalty", f"{translate} --leave-one-out penalty --algorithm cube {ONE_OUT}"),
        _operation("prefix", f"{translate} --prefix dev.prefix --partial-word {LISTS} < dev.de"),
        _operation("markup", f"{translate} --markup inclusive --scores {LISTS} < dev.markup"),
        _operation("plf", f"{translate} --input-format plf --input-weight 0.5 --alignment {LISTS} < dev.plf"),
        _operation("confusion", f"{translate} --input-format confusion --input-weight 0.5 --mbr {LISTS} < dev.columns"),
        _operation("forced", f"{forced} --prefixes longest --threads 2"),
        _operation("held out", f"{forced} --alignment few.align --leave-one-out penalty --distortion-limit 2"),
    ]


def trainings(model: str) -> list[Operation]:
    """All that learns with a model, an iteration each."""
    tune = f"tune --model {model} {TUNE} {ONCE} --method"
    ranking = f"train-ranking --model {model} {TRAIN} {ONCE} --workers 1 --config ranking.yaml"
    expected = f"train-expected-bleu --model {model} {TRAIN} {ONCE} --features a,b,c,d"
    return [
        *(_operation(f"tune {method}", f"{tune} {method}") for method in ("mira-batch", "mert", "pro")),
        _operation("tune online", f"{tune} online --alignment few.align"),
        _operation("train-maxforce", f"train-maxforce --model {model} {TRAIN} {ONCE}"),
        _operation("train-ranking", ranking),
        _operation("train-expected-bleu", expected),
    ]


EXPLAIN = [
    _operation("explain", "explain --model model --top 20"),
    Operation("explain a sentence", (Command(("explain", "--model", "model", "--source", "er bringt mit .")),)),
]
JOIN = [_operation("join", "join-features --model plain --features model --output out/model", *OUR_MODEL)]
EXPORT = [_operation("export-moses", "export-moses --model plain --output out/moses")]
RAW = [
    _operation("translate --raw", "translate --model pairs --raw < raw.de"),
    _operation("translate --config", "translate --model pairs --config pairs/search.yaml < dev.de"),
    _operation("preprocess source", "preprocess --model pairs --side source < raw.de"),
    _operation("preprocess target", "preprocess --model pairs --side target < raw.en"),
]
MOSES = [_operation("import-moses", f"import-moses moses/moses.ini {IMPORT}", *OUR_MODEL)]
MOSES_PACKED = [_operation("import-moses of gzip", f"import-moses moses/packed.ini {IMPORT}", *OUR_MODEL)]
ALTERNATIVES = [
    _operation(
        "import-moses of alternatives",
        f"import-moses moses/alternatives.ini {IMPORT}",
        *OUR_MODEL,
        "export-moses --model out/model --output out/moses",
    )
]
ARPA = [_operation("import-moses of ARPA", f"import-moses moses/arpa.ini {IMPORT}", *OUR_MODEL)]
TRUECASERS = [
    _operation(
        "truecasers", f"import-moses moses/moses.ini {IMPORT} {CASING}", "translate --model out/model --raw < raw.de"
    )
]
BUILDING = [
    _operation("train-model", f"{BUILD} build.yaml --alignment train.align", *OUR_MODEL),
    _operation("train-model, smoothed", f"{BUILD} smoothed.yaml --alignment train.align", *OUR_MODEL),
    _operation("build-lm", "build-lm --text train.en --order 3 --output out/lm.bin --output out/lm.arpa.gz"),
    Operation(
        "build-lm --prune",
        (
            Command(
                ("build-lm", "--text", "train.en", "--order", "8", "--prune", "0 0 1", "--output", "out/lm.bin"),
            ),
        ),
    ),
    _operation("select", SELECT),
    _operation("cluster", "cluster --text train.de --classes 5 --output out/paths"),
]
ALIGNING = [_operation("align", f"{BUILD} build.yaml", *OUR_MODEL)]
PACKED = [
    _operation("build-lm of gzip", "build-lm --text train.en.gz --order 3 --output out/lm.bin"),
    _operation(
        "train-model of gzip",
        f"{BUILD} build.yaml --alignment train.align".replace("train.de", "train.de.gz").replace(
            "train.en", "train.en.gz"
        ),
        *OUR_MODEL,
    ),
]
TUNE_LATTICES = [
    _operation(
        "tune on lattices",
        f"tune --model classes --source dev.plf --reference dev.plf.en --nbest 5 --threads 1 {ONCE} --config plf.yaml",
    )
]
ADAPTING = [
    _operation("adapt", "translate --model plain --adapt few.en --adapt-journal out/journal < few.de"),
    _operation("align words", "align --model plain --source few.de --target few.en --output out/aligned"),
]
JOURNAL = [_operation("journal", "translate --model plain --adapt-journal journal < dev.de")]
CLASSES = [
    _operation("train-model", f"{BUILD} build.yaml --alignment train.align --lm-classes target.classes", *OUR_MODEL)
]
PATHS = [
    _operation("train-maxforce", f"train-maxforce --model classes {TRAIN} {ONCE} --config maxforce.yaml", *OUR_MODEL)
]
SCORES = [
    _operation("evaluate", "evaluate --hypothesis few.hyp --reference few.en --metric bleu chrf ter --json"),
    _operation(
        "confidence", "evaluate --hypothesis few.hyp --reference few.en --tokenize intl --confidence --trials 20"
    ),
    _operation("paired", "evaluate --hypothesis few.hyp few.hyp2 --reference few.en --paired bootstrap --trials 20"),
]
RERANK = "rerank --threads 1 --nbest few.nbest --weights"
RERANKING = [_operation("rerank", f"{RERANK} rerank.weights")] + [
    _operation(f"rerank {method}", f"{RERANK} out/weights --train few.nbest --reference few.en --method {method}")
    for method in ("mira-batch", "mira-chiang", "mira-corpus", "mert", "pro")
]
RANK = "train-ranking --workers 1"
TASKS = [_operation("tasks", f"{RANK} --model plain {TRAIN} {ONCE} --tasks few.tasks --config ranking.yaml")]
RECIPE = (
    "train --source train.de --target train.en --alignment train.align --dev-source other.de --dev-reference other.en "
    "--threads 1"
)
WHOLE_RECIPE = [_operation("train", f"{RECIPE} --recipe recipe.yaml --output out/model", *OUR_MODEL)]
RESUMED = {  # trainings that go on for an iteration more, by their directories in `runs`
    "tuned": _operation("tune on", f"tune --model plain {TUNE} --iterations 2 --output runs/tuned"),
    "forced": _operation(
        "train-maxforce on",
        f"train-maxforce --model classes {TRAIN} --iterations 2 --config maxforce.yaml --output runs/forced",
    ),
    "ranked": _operation(
        "train-ranking on",
        f"{RANK} --model plain {TRAIN} --iterations 2 --config ranking.yaml --output runs/ranked",
    ),
    "expected": _operation(
        "train-expected-bleu on",
        f"train-expected-bleu --model plain {TRAIN} --iterations 2 --features a,b,c,d --output runs/expected",
    ),
    "recipe": _operation("train on", f"{RECIPE} --recipe recipe.yaml --output runs/recipe"),
}
REPORTS = {run: [_operation("report", f"report runs/{run} --output out/page.html")] for run in RESUMED}
CONFIGS = {
    **{
        name: _operation("train-model", f"{BUILD} {name} --alignment train.align", *OUR_MODEL)
        for name in ("default.yaml", "demo.yaml", "build.yaml", "smoothed.yaml")
    },
    "recipe.yaml": WHOLE_RECIPE[0],
    "plf.yaml": TUNE_LATTICES[0],
    "search.yaml": _operation("translate", "translate --model plain --config search.yaml --mbr < dev.de"),
    "translate.yaml": _operation("translate", "translate --model plain --config translate.yaml < dev.de"),
    "select.yaml": _operation("select", f"{SELECT} --config select.yaml"),
    **{
        name: _operation("tune", f"tune --model plain {TUNE} {ONCE} --config {name}")
        for name in ("tune.yaml", "tan2013-c-mira.yaml")
    },
    **{
        name: _operation("tune", f"tune --model plain {TUNE} {ONCE} --alignment few.align --config {name}")
        for name in ("green2013-online.yaml", "online-small.yaml")
    },
    **{
        name: _operation("train-maxforce", f"train-maxforce --model plain {TRAIN} {ONCE} --config {name}")
        for name in ("yu2013-maxforce.yaml", "maxforce.yaml")
    },
    **{
        name: _operation("train-ranking", f"{RANK} --model plain {TRAIN} {ONCE} --config {name}")
        for name in ("simianer2012-joint-selection.yaml", "ranking.yaml")
    },
    "wuebker2015-rprop.yaml": _operation(
        "train-expected-bleu", f"train-expected-bleu --model plain {TRAIN} {ONCE} --config wuebker2015-rprop.yaml"
    ),
}
