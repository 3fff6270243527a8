"""The operations that read each file: one command or several in a row, the later ones on what the first has made."""

from typing import NamedTuple

from tests.robustness.isolated import Command


class Operation(NamedTuple):
    """Commands that read files."""

    name: str
    commands: tuple[Command, ...]


def _operation(name, *lines):
    return Operation(name, tuple(map(_command, lines)))


def _command(line):
    """The command in a line of a shell: options, and perhaps '< FILE' at its end."""
    arguments, _, stdin = line.partition(" < ")
    return Command(tuple(arguments.split()), stdin or "/dev/null")


def check(model: str) -> Operation:
    """check-model of that model."""
    return _operation("check-model", f"check-model {model}")


LISTS = "--nbest 5 --nbest-output out/nbest --lattice-output out/lattice"
ONE_OUT = "--reference few.en --word-alignment few.align < few.de"
FEW = "--source few.de --reference few.en"
FORCED = f"{FEW} --output out/forced --lattice out/lattice"
TRAIN = "--source few.de --target few.en --alignment few.align --dev-source dev.de --dev-reference dev.en --threads 1 --leave-one-out penalty"
TUNE = f"{FEW} --iterations 1 --nbest 5 --threads 1 --output out/model"
BUILD = "train-model --source train.de --target train.en --config build.yaml --output out/model"
OUR_MODEL = ("translate --model out/model < dev.de", "check-model out/model")
CASING = "--truecaser-source truecaser.de --truecaser-target truecaser.en"
IMPORT = "--output out/model --source-language de --target-language en"
RERANK = "rerank --threads 1 --weights"


def translations(model: str) -> list[Operation]:
    """All that searches with a model."""
    return [
        _operation("translate", f"translate --model {model} --scores --alignment --segmentation {LISTS} < dev.de"),
        _operation("cube", f"translate --model {model} --algorithm cube --distinct --mbr {LISTS} < dev.de"),
        _operation("dot", f"translate --model {model} {LISTS} --lattice-format dot --lattice-beam 1 < dev.de"),
        _operation("drop", f"translate --model {model} --leave-one-out drop {LISTS} {ONE_OUT}"),
        _operation("penalty", f"translate --model {model} --leave-one-out penalty --algorithm cube {ONE_OUT}"),
        _operation("prefix", f"translate --model {model} --prefix dev.prefix --partial-word {LISTS} < dev.de"),
        _operation("markup", f"translate --model {model} --markup inclusive --scores {LISTS} < dev.markup"),
        _operation("forced", f"forced-decode --model {model} {FORCED} --prefixes longest --threads 2"),
        _operation(
            "held out",
            f"forced-decode --model {model} {FORCED} --alignment few.align --leave-one-out penalty --distortion-limit 2",
        ),
        check(model),
    ]


def trainings(model: str) -> list[Operation]:
    """All that learns with a model: seconds each."""
    return [
        *(_operation(f"tune {method}", f"tune --model {model} {TUNE} --method {method}") for method in ("mira-batch", "mert", "pro")),
        _operation("tune online", f"tune --model {model} {TUNE} --method online --alignment few.align"),
        _operation("train-maxforce", f"train-maxforce --model {model} {TRAIN} --iterations 1 --output out/model"),
        _operation(
            "train-ranking",
            f"train-ranking --model {model} {TRAIN} --iterations 1 --workers 1 --config ranking.yaml --output out/model",
        ),
        _operation(
            "train-expected-bleu",
            f"train-expected-bleu --model {model} {TRAIN} --iterations 2 --features a,b,c,d --output out/model",
        ),
    ]


EXPLAIN = [
    _operation("explain", "explain --model model --top 20"),
    Operation("explain a sentence", (Command(("explain", "--model", "model", "--source", "er bringt mit .")),)),
]
JOIN = [_operation("join-features", "join-features --model plain --features model --output out/model", *OUR_MODEL)]
EXPORT = [_operation("export-moses", "export-moses --model plain --output out/moses")]
RAW = [
    _operation("translate --raw", "translate --model pairs --raw < raw.de"),
    _operation("translate --config", "translate --model pairs --config pairs/search.yaml < dev.de"),
    _operation("preprocess", "preprocess --model pairs --side source < raw.de"),
    _operation("preprocess target", "preprocess --model pairs --side target < raw.en"),
]
MOSES = [
    _operation("import-moses", f"import-moses moses/moses.ini {IMPORT}", *OUR_MODEL),
]
MOSES_PACKED = [_operation("import-moses of gzip", f"import-moses moses/packed.ini {IMPORT}", *OUR_MODEL)]
ARPA = [_operation("import-moses of ARPA", f"import-moses moses/arpa.ini {IMPORT} --memory 64M", *OUR_MODEL)]
TRUECASERS = [_operation("truecasers", f"import-moses moses/moses.ini {IMPORT} {CASING}", "translate --model out/model --raw < raw.de")]
BUILDING = [
    _operation("train-model", f"{BUILD} --alignment train.align", *OUR_MODEL),
    _operation("build-lm", "build-lm --text train.en --order 3 --output out/lm.bin --output out/lm.arpa.gz"),
    _operation("select", "select --source train.de --target train.en --in-domain few.de --sentences 9 --output-source out/de --output-target out/en"),
    _operation("cluster", "cluster --text train.de --classes 5 --output out/paths"),
]
ALIGNING = [_operation("align", BUILD, *OUR_MODEL)]
PACKED = [
    _operation("build-lm", "build-lm --text train.en.gz --order 3 --output out/lm.bin"),
    _operation("train-model", "train-model --source train.de.gz --target train.en.gz --alignment train.align --config build.yaml --output out/model", *OUR_MODEL),
]
CLASSES = [
    _operation("train-model", f"{BUILD} --alignment train.align --lm-classes target.classes", *OUR_MODEL),
]
PATHS = [_operation("train-maxforce", f"train-maxforce --model classes {TRAIN} --config maxforce.yaml --output out/model", *OUR_MODEL)]
SCORES = [
    _operation("evaluate", "evaluate --hypothesis few.hyp --reference few.en --metric bleu chrf ter --json"),
    _operation("evaluate intl", "evaluate --hypothesis few.hyp --reference few.en --tokenize intl --confidence --trials 20"),
    _operation("evaluate pairs", "evaluate --hypothesis few.hyp few.hyp2 --reference few.en --paired bootstrap --trials 20"),
]
INPUTS = [operation for operation in translations("model") if operation.name != "check-model"]
LEARNING = trainings("plain")
RERANKING = [
    _operation("rerank", f"{RERANK} rerank.weights --nbest few.nbest"),
    *(
        _operation(f"rerank {method}", f"{RERANK} out/weights --train few.nbest --reference few.en --nbest few.nbest --method {method}")
        for method in ("mira-batch", "mira-chiang", "mira-corpus", "mert", "pro")
    ),
]
RESUMED = {  # each goes on for an iteration more, in its own directory
    "tuned": [_operation("go on tuning", f"tune --model plain {FEW} --iterations 2 --nbest 5 --threads 1 --output runs/tuned")],
    "forced": [
        _operation(
            "go on with train-maxforce",
            f"train-maxforce --model classes {TRAIN} --iterations 2 --config maxforce.yaml --output runs/forced",
        )
    ],
    "ranked": [
        _operation(
            "go on with train-ranking",
            f"train-ranking --model plain {TRAIN} --iterations 2 --workers 1 --config ranking.yaml --output runs/ranked",
        )
    ],
    "expected": [
        _operation(
            "go on with train-expected-bleu",
            f"train-expected-bleu --model plain {TRAIN} --iterations 2 --features a,b,c,d --output runs/expected",
        )
    ],
}
TASKS = [_operation("train-ranking", f"train-ranking --model plain {TRAIN} --iterations 1 --workers 1 --tasks few.tasks --config ranking.yaml --output out/model")]
CONFIGS = {
    "default.yaml": _operation("train-model", BUILD.replace("build.yaml", "default.yaml") + " --alignment train.align", *OUR_MODEL),
    "demo.yaml": _operation("train-model", BUILD.replace("build.yaml", "demo.yaml") + " --alignment train.align", *OUR_MODEL),
    "build.yaml": _operation("train-model", f"{BUILD} --alignment train.align", *OUR_MODEL),
    "search.yaml": _operation("translate", "translate --model plain --config search.yaml --mbr < dev.de"),
    "select.yaml": _operation(
        "select", "select --source train.de --target train.en --in-domain few.de --sentences 9 --output-source out/de --output-target out/en --config select.yaml"
    ),
    **{
        name: _operation("tune", f"tune --model plain {TUNE} --alignment few.align --config {name}")
        for name in ("green2013-online.yaml", "online-small.yaml")
    },
    **{name: _operation("tune", f"tune --model plain {TUNE} --config {name}") for name in ("tune.yaml", "tan2013-c-mira.yaml")},
    **{
        name: _operation("train-maxforce", f"train-maxforce --model plain {TRAIN} --iterations 1 --output out/model --config {name}")
        for name in ("maxforce-small.yaml", "yu2013-maxforce.yaml", "maxforce.yaml")
    },
    **{
        name: _operation("train-ranking", f"train-ranking --model plain {TRAIN} --iterations 1 --output out/model --config {name}")
        for name in ("ranking-small.yaml", "simianer2012-joint-selection.yaml")
    },
    "wuebker2015-rprop.yaml": _operation(
        "train-expected-bleu", f"train-expected-bleu --model plain {TRAIN} --iterations 1 --output out/model --config wuebker2015-rprop.yaml"
    ),
}
