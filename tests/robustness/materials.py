"""Sound files of every kind that phrasebeam reads, small, in one directory: made by its own commands."""

import gzip
import shutil
from collections import Counter
from pathlib import Path

from phrasebeam.decoder.raw_text.truecaser import save_truecaser
from tests.robustness.isolated import run_here
from tests.robustness.operations import RESUMED, command_in

CONFIGS = Path(__file__).parent.parent.parent / "configs"
TRAINING, FEW, DEVELOPMENT, OTHER = 70, 6, 4, 12  # sentence pairs

BUILD = """
phrases: {max_length: 4}
language_model: {order: 3}
reordering: {orientation: hier, kind: mslr}
alignment: {aligner: eflomal, samplers: 1, effort: 0.5}
threads: 1
"""
SMOOTHED = BUILD.replace("phrases: {", "phrases: {smoothing: kneser-ney, ")
OPERATIONS = f"{BUILD}operations: {{order: 3}}\n"
MAXFORCE = """
update: max_violation
future_cost: false
scales: [1.0]
tune: null
development_search: null
iterations: 1
search: {stack: 3, table_limit: 3}
templates:
  rule_id: true
  rule_bigram: true
  rule_history: true
  source_bigrams: true
  target_bigrams: true
  rule_shape: true
  phrase_alignment: true
  source_deletion: true
  inserted_words: true
  deleted_words: true
  word_pairs: true
  phrase_lengths: true
  word_lists: {inserted: [the, a], pair_source: [der], pair_target: [the, .]}
  rule_reordering: true
  class_reordering: true
  word_edges: {budget: 6, most_words: 1, with_length: true}
  levels:
    - {kind: word, budget: 5}
    - {kind: characters, budget: 3, prefix: 1}
    - {kind: classes, budget: 3, source: source.paths, target: target.paths}
    - {kind: type, budget: 1}
names: 5
lm_folds: 2
leave_one_out: penalty
threads: 1
"""
SEARCH = """
search: {algorithm: cube, stack: 20}
mbr: {size: 10, scale: 0.5}
input: {oov: copy}
"""
RANKING = "algorithm: 4\ntemplates: {rule_id: true}\nfixed: []\nnbest: 10\nlm_folds: 0\ntune: null"
LATTICES = "source_format: plf\nsearch: {algorithm: cube, stack: 10}"
STAGE = "iterations: 1, lm_folds: 0, tune: null, leave_one_out: penalty"
FIRST_STAGES = """
held_out: 0.5
stages:
  - kind: train-model
    word_classes: 8
    class_order: 3
    settings: {phrases: {max_length: 4, smoothing: kneser-ney}, language_model: {order: 3}}
  - {kind: tune, settings: {iterations: 1, nbest: 5, search: {algorithm: cube, stack: 10, pop_limit: 10}}}
"""
RECIPE = f"""{FIRST_STAGES}
  - {{kind: train-maxforce, start: tune, settings: {{{STAGE}, search: {{stack: 3}}, templates: {{rule_id: true}}}}}}
  - {{kind: train-ranking, settings: {{{STAGE}, nbest: 5, workers: 1, templates: {{rule_id: true}}}}}}
  - {{kind: train-expected-bleu, settings: {{{STAGE}, nbest: 5, features: [a, b]}}}}
  - {{kind: join-features, features: train-maxforce, settings: {{iterations: 1, nbest: 5}}}}
  - {{kind: mbr, sizes: [10], scales: [1.0]}}
"""
CONFIG_TEXTS = {
    "build.yaml": BUILD,
    "smoothed.yaml": SMOOTHED,
    "operations.yaml": OPERATIONS,
    "maxforce.yaml": MAXFORCE,
    "search.yaml": SEARCH,
    "ranking.yaml": RANKING,
    "plf.yaml": LATTICES,
    "recipe.yaml": RECIPE,
    "begun.yaml": FIRST_STAGES,
}
MARKUP = [
    'er bringt <x translation="the table||a table" prob="0.7||0.3">einen tisch</x> mit .',
    "<zone> er bringt </zone> einen <wall/> leeren tisch mit .",
    'immer &lt; <np translation="always">immer</np> .',
    "a &amp; b",
]
PLF = [
    "((('er',1.0,1),),(('bringt',0.6,1),('bringen',0.4,1),),(('einen',0.5,1),('*EPS*',0.5,1),),(('tisch',1.0,1),),)",
    "((('immer',0.5,2),('im',0.5,1),),(('mer',1.0,1),),((\"x'y\",0.1,1),('.',0.9,1),),)",
    "",
]
COLUMNS = ["er 1.0", "bringt 0.6 bringen 0.4", "einen 0.5 *EPS* 0.5", "tisch 1", "", "immer 1e-1 x 0", "", ""]
ALTERNATIVES = """
PhraseDictionaryMemory name=T1 num-features=4 path=phrase-table2 table-limit=1
LexicalReordering name=R1 path=reordering-table2 num-features=8 type=hier-mslr-bidirectional-fe-allff
TargetWordInsertionFeature name=twi path=words
WordTranslationFeature name=wt source-path=words target-path=words
PhraseLengthFeature
"""
SECOND = {"TranslationModel": "T1", "LexicalReordering": "R1"}
OF_WORDS = [*("twi_the 0.5", "twi_OTHER -0.25", "wt_er~he 0.5", "wt_OTHER~OTHER 0.1", "PhraseLengthFeature0_s2 0.25")]
SPARSE = ["# of the phrase table", "TranslationModel0_x 0.5", "TranslationModel0_y=z -0.25"]


def make_materials(directory: Path) -> None:
    """Write all files to the directory."""
    _run(directory, "demo-corpus --output all --sentences 90 --noise 0")
    for side in ("de", "en"):
        lines = (directory / f"all.{side}").read_text().splitlines()
        _write(directory / f"train.{side}", lines[:TRAINING])
        _write(directory / f"few.{side}", lines[:FEW])
        _write(directory / f"dev.{side}", lines[-DEVELOPMENT:])
        _write(directory / f"other.{side}", lines[TRAINING : TRAINING + OTHER])
        _write(directory / f"raw.{side}", [line.capitalize() for line in lines[:FEW]])
        (directory / f"train.{side}.gz").write_bytes(gzip.compress((directory / f"train.{side}").read_bytes(), mtime=0))
    _write(directory / "dev.prefix", ["the", "", "a b c", "her"])
    _write(directory / "dev.markup", MARKUP)
    _write(directory / "dev.plf", PLF)
    _write(directory / "dev.plf.en", ["he brings a table", "always .", ""])
    _write(directory / "dev.columns", COLUMNS)
    _write(directory / "few.tasks", ["a", "b"] * (FEW // 2))
    for name, text in CONFIG_TEXTS.items():
        (directory / name).write_text(text)
    _make_models(directory)
    _make_moses(directory)
    _make_nbest(directory)
    _run(directory, "translate --model plain --adapt few.en --adapt-journal journal < few.de")
    for path in CONFIGS.glob("*.yaml"):
        # The process of the campaign itself takes more than 512M.
        (directory / path.name).write_text(path.read_text().replace("memory: 512M", "memory: 4G"))
    _begin_trainings(directory)


def _make_models(directory):
    """plain: without sparse features; model: with them, a language model over classes and smoothed scores.

    operations: with operations, for which lattices are no input.
    """
    for side, name in (("de", "source"), ("en", "target")):
        _run(directory, f"cluster --text train.{side} --output {name}.paths --classes 8")
        rows = [line.split("\t") for line in (directory / f"{name}.paths").read_text().splitlines()]
        _write(directory / f"{name}.classes", [f"{word} C{path}" for path, word, _ in rows])
    build = "train-model --source train.de --target train.en --config build.yaml"
    _run(directory, f"{build} --output plain")
    (directory / "train.align").write_bytes((directory / "plain" / "alignment").read_bytes())
    _write(directory / "few.align", (directory / "train.align").read_text().splitlines()[:FEW])
    of_operations = build.replace("build.yaml", "operations.yaml")
    _run(directory, f"{of_operations} --alignment train.align --lm-classes target.classes --output operations")
    smoothed = build.replace("build.yaml", "smoothed.yaml")
    _run(directory, f"{smoothed} --alignment train.align --lm-classes target.classes --output classes")
    with open(directory / "classes" / "weights.yaml", "a") as file:
        file.write("input_score: 0.3\nrelated_words: 0.5\n")
    few = "--source few.de --target few.en --alignment few.align --dev-source few.de --dev-reference few.en"
    _run(directory, f"train-maxforce --model classes {few} --output model --config maxforce.yaml")
    shutil.rmtree(directory / "model" / "maxforce")


def _make_moses(directory):
    """moses: a model in Moses' formats, with sparse features of pairs and ARPA; pairs: that model, imported."""
    _run(directory, "export-moses --model plain --output moses")
    _run(directory, "build-lm --text train.en --order 3 --output lm.arpa --output moses/lm.arpa --output lm.arpa.gz")
    (table,) = (directory / "moses").glob("phrase-table*")
    rows = [line.split(" ||| ") for line in gzip.decompress(table.read_bytes()).decode().splitlines()]
    _write(directory / "moses" / "phrase-table", [" ||| ".join([*row[:5], "x 2 y=z -1"]) for row in rows])
    (reordering,) = (directory / "moses").glob("reordering-table*")
    (directory / "moses" / "reordering-table").write_bytes(gzip.decompress(reordering.read_bytes()))
    _write(directory / "moses" / "sparse", SPARSE)
    ini = directory / "moses" / "moses.ini"
    text = ini.read_text() + "\n[weight-file]\nsparse\n"
    (directory / "moses" / "packed.ini").write_text(ini.read_text())
    ini.write_text(text.replace(table.name, "phrase-table").replace(reordering.name, "reordering-table"))
    arpa = [name for name in (path.name for path in (directory / "moses").iterdir()) if name.endswith(".bin")]
    (directory / "moses" / "arpa.ini").write_text(ini.read_text().replace(arpa[0], "lm.arpa"))
    _make_alternatives(directory / "moses", rows, ini.read_text())
    for side in ("de", "en"):
        words = Counter((directory / f"train.{side}").read_text().split()[:200])
        save_truecaser(words, directory / f"truecaser.{side}")
    casing = "--truecaser-source truecaser.de --truecaser-target truecaser.en"
    _run(directory, f"import-moses moses/moses.ini --output pairs --source-language de --target-language en {casing}")


def _make_alternatives(moses, rows, ini):
    """alternatives.ini: the Moses model with a second phrase table and reordering table, and features of words."""
    _write(moses / "phrase-table2", [" ||| ".join(row) for i, row in enumerate(rows) if i % 3])
    reorderings = (moses / "reordering-table").read_text().splitlines()
    _write(moses / "reordering-table2", [line for i, line in enumerate(reorderings) if i % 5])
    _write(moses / "words", ["er", "he", "the", "der"])
    _write(moses / "sparse-words", [*SPARSE, *OF_WORDS])
    weights = {name: next(line for line in ini.splitlines() if line.startswith(f"{name}0=")) for name in SECOND}
    ini = ini.replace("[feature]\n", f"[feature]{ALTERNATIVES}").replace("0 T 0\n", "0 T 0\n1 T 1\n")
    second = [line.replace(f"{name}0", SECOND[name]) for name, line in weights.items()]
    ini = ini.replace("\nsparse\n", "\nsparse-words\n") + "\n".join(["[weight]", *second, ""])
    (moses / "alternatives.ini").write_text(ini)


def _make_nbest(directory):
    _run(directory, "translate --model plain --nbest 20 --distinct --nbest-output few.nbest < few.de")
    rows = [line.split(" ||| ") for line in (directory / "few.nbest").read_text().splitlines()]
    lists = [[row[1] for row in rows if row[0] == str(i)] for i in range(FEW)]
    _write(directory / "few.hyp", [texts[0] for texts in lists])
    _write(directory / "few.hyp2", [texts[-1] for texts in lists])
    _run(directory, "rerank --weights rerank.weights --train few.nbest --reference few.en")


def _begin_trainings(directory):
    """runs: trainings of one iteration, and a recipe of its first stages, which operations let go on."""
    for operation in RESUMED.values():
        line = " ".join(operation.commands[0].arguments)
        _run(directory, line.replace("--iterations 2", "--iterations 1").replace("recipe.yaml", "begun.yaml"))


def _run(directory, line):
    end = run_here([command_in(line)], directory)
    if end.status:
        raise RuntimeError(f"phrasebeam {line}: {end.errors}")


def _write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))
