"""Outputs of all commands on real data, as files: the folders recorded with two versions must be equal.

    python -m benchmarks.record_outputs DATA --output FOLDER [--phrasebeam COMMAND] [--corpus multi30k ted]

DATA has a folder for each corpus. Every command runs in FOLDER with relative paths, so that `diff -r OLD NEW` shows the
differences. Arrays and binary files are recorded as digests, in digests.txt of each corpus. All times are left out, and
so is what a model says about the version that made it.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import yaml

CORPORA = {
    "multi30k": ("train.de", "train.en", "train.align.de-en", "val.de", "val.en", "test_2016_flickr.de"),
    "ted": ("train.de", "train.en", "train.align.de-en", "dev.de", "dev.en", "devtest.de"),
}
N_TRAIN, N_DEV, N_TEST, N_FORCED = 12000, 150, 120, 150
TEXT = (".txt", ".jsonl", ".nbest", ".osg", ".dot", ".yaml", ".tsv", ".ini")
OF_THE_VERSION = ("version", "signature", "trained_from", "tuned_from", "digest")
WORK = {"tuning", "maxforce", "expected_bleu", "lists"}  # work of trainers, of which only the curves are compared
SECONDS = re.compile(r"\b\d+(\.\d+)?(?= s\b)|(?<= )\d+\.\d$", re.M)  # and the last column, sentences/s

MIXED = {
    "reordering": {"orientation": "hier", "kind": "mslr"},
    "language_models": [{"classes": "classes.en"}],
    "language_model": {"order": 3},
}
SEARCH = {"algorithm": "cube", "pop_limit": 200, "stack": 50}
SPARSE = {
    "rule_id": True,
    "rule_bigram": True,
    "rule_history": True,
    "word_edges": {"budget": 10, "most_words": 2, "with_length": True},
    "levels": [
        {"kind": "word", "budget": 5},
        {"kind": "characters", "budget": 3, "prefix": 4},
        {"kind": "classes", "budget": 2, "prefix": 4, "source": "source.paths", "target": "target.paths"},
        {"kind": "type", "budget": 1},
    ],
}
MAXFORCE = {
    "iterations": 2,
    "sentences": 200,
    "search": {"algorithm": "stack", "stack": 30},
    "rates": {"translation": 0.1, "rule_id": 1.0, "word_edges": 1.0, "rule_bigram": 1.0, "rule_history": 1.0},
    "leave_one_out": "drop",
    "templates": SPARSE,
    "development_search": SEARCH,
}
EXPECTED_BLEU = {"sentences": 200, "iterations": 3, "nbest": 30, "search": SEARCH, "features": ["a", "b", "c", "d"]}


def main() -> None:
    """Record everything for each corpus."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--phrasebeam", default=f"{Path(sys.executable).parent}/phrasebeam")
    parser.add_argument("--corpus", nargs="+", choices=sorted(CORPORA), default=sorted(CORPORA))
    given = parser.parse_args()
    for corpus in given.corpus:
        folder = given.output / corpus
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        Recorder(given.data / corpus, folder, str(Path(given.phrasebeam).absolute())).record(CORPORA[corpus])
        if corpus == "multi30k" and (given.data / "reference" / "multi30k-de-en").exists():
            moses = given.output / "moses"
            shutil.rmtree(moses, ignore_errors=True)
            moses.mkdir()
            Recorder(given.data, moses, str(Path(given.phrasebeam).absolute())).record_moses()


class Recorder:
    """Runs commands in a folder and keeps what they print."""

    def __init__(self, data: Path, folder: Path, phrasebeam: str):
        self.data, self.folder, self.phrasebeam = data.resolve(), folder, phrasebeam

    def run(self, name: str, *arguments: str | int, stdin: str | None = None) -> None:
        """Run a command, and write its standard output to NAME.txt."""
        print(f"{self.folder}: {name}", file=sys.stderr, flush=True)
        with open(self.folder / f"{name}.txt", "wb") as out, open(self.folder / (stdin or "empty"), "rb") as text:
            command = [self.phrasebeam, *map(str, arguments)]
            done = subprocess.run(command, cwd=self.folder, stdin=text, stdout=out, stderr=subprocess.PIPE)
        if done.returncode:
            sys.exit(f"{name}: exit status {done.returncode}\n{done.stderr.decode()}")

    def take(self, name: str, begin: int, end: int | None, to: str) -> None:
        """Copy some lines of a file of the data."""
        lines = (self.data / name).read_text(encoding="utf-8").split("\n")[:-1]
        (self.folder / to).write_text("\n".join(lines[begin:end]) + "\n", encoding="utf-8")

    def write(self, name: str, settings: object) -> str:
        """Write a configuration file; return its name."""
        (self.folder / name).write_text(yaml.safe_dump(settings))
        return name

    def record(self, names: tuple[str, ...]) -> None:
        """Record a corpus: models, searches, forced decoding, tuning, both trainers."""
        source, target, align, dev_source, dev_target, test_source = names
        (self.folder / "empty").write_bytes(b"")
        for name, to in ((source, "train.f"), (target, "train.e"), (align, "train.a")):
            self.take(name, 0, N_TRAIN, to)
            self.take(name, 0, N_FORCED, to.replace("train", "some"))
        for name, to in ((dev_source, "dev.f"), (dev_target, "dev.e")):
            self.take(name, 0, N_DEV, to)
        self.take(test_source, 0, N_TEST, "test.f")
        self.models()
        self.searches()
        self.forced()
        self.tuning()
        self.maxforce()
        self.expected_bleu()
        self.digest()

    def models(self) -> None:
        """Build a default model, and one with classes, hierarchical orientations and two language models."""
        for side, name in (("f", "source"), ("e", "target")):
            self.run(
                f"cluster-{name}", "cluster", "--text", f"train.{side}", "--classes", 40, "--output", f"{name}.paths"
            )
        classes = [line.split("\t") for line in (self.folder / "target.paths").read_text().splitlines()]
        text = "".join(f"{word} {path}\n" for path, word, *_ in classes)
        (self.folder / "classes.en").write_text(text)
        data = ("--source", "train.f", "--target", "train.e", "--alignment", "train.a")
        self.run("train-model", "train-model", *data, "--output", "model")
        self.run("train-mixed", "train-model", *data, "--output", "mixed", "--config", self.write("mixed.yaml", MIXED))

    def searches(self) -> None:
        """Translate with scores, lists and lattices, by both searches, and with inputs of all kinds."""
        told = ("--scores", "--alignment", "--segmentation")
        for model in ("model", "mixed"):
            for algorithm in ("stack", "cube"):
                name = f"translate-{model}-{algorithm}"
                lists = ("--nbest", 30, "--nbest-output", f"{name}.nbest", "--lattice-output", f"{name}.osg")
                beam = ("--lattice-beam", 1.0)
                self.run(
                    name, "translate", "--model", model, "--algorithm", algorithm, *told, *lists, *beam, stdin="test.f"
                )
        self.run("translate-mbr", "translate", "--model", "model", "--algorithm", "cube", "--mbr", stdin="test.f")
        unlimited = ("--distortion-limit", 10, "--table-limit", 0, "--stack", 20, "--beam-threshold", 0)
        self.run("translate-limits", "translate", "--model", "model", *told, *unlimited, stdin="test.f")
        left_out = ("--reference", "some.e", "--word-alignment", "some.a")
        for model in ("model", "mixed"):
            for mode in ("drop", "penalty"):
                name = f"leave-one-out-{model}-{mode}"
                self.run(name, "translate", "--model", model, *told, "--leave-one-out", mode, *left_out, stdin="some.f")
        lines = (self.folder / "test.f").read_text().splitlines()
        marked = []
        for line in lines[:40]:
            words = line.replace("<", "").replace(">", "").split()
            words[0] = f'<x translation="zz yy">{words[0]}</x>'
            words[-1] = f"<wall/> {words[-1]}"
            marked.append(" ".join(words) + "\n")
        (self.folder / "marked.f").write_text("".join(marked))
        for policy in ("exclusive", "inclusive", "constraint"):
            self.run(f"markup-{policy}", "translate", "--model", "model", *told, "--markup", policy, stdin="marked.f")
        prefixes = [" ".join(line.split()[:4]) for line in (self.folder / "dev.e").read_text().splitlines()[:40]]
        (self.folder / "prefixes.e").write_text("\n".join(prefixes) + "\n")
        (self.folder / "begun.f").write_text("".join((self.folder / "dev.f").read_text().splitlines(True)[:40]))
        begun = ("--prefix", "prefixes.e", "--partial-word", "--oov", "mark")
        self.run("prefix", "translate", "--model", "model", *told, *begun, stdin="begun.f")

    def forced(self) -> None:
        """Force references, with and without leave-one-out."""
        pairs = ("--source", "some.f", "--reference", "some.e", "--distortion-limit", 6)
        self.run("forced", "forced-decode", "--model", "model", *pairs, "--output", "forced.jsonl")
        more = (
            "--alignment",
            "some.a",
            "--leave-one-out",
            "drop",
            "--prefixes",
            "longest",
            "--output",
            "forced-left-out.jsonl",
        )
        lattice = ("--lattice", "forced.osg", "--table-limit", 20)
        self.run("forced-left-out", "forced-decode", "--model", "mixed", *pairs, *more, *lattice)
        every = ("--prefixes", "all", "--output", "forced-prefixes.jsonl")
        self.run("forced-prefixes", "forced-decode", "--model", "model", *pairs, *every)

    def tuning(self) -> None:
        """Tune by every method, for two iterations, and for other metrics; rerank lists of other decoders."""
        dev = ("--source", "dev.f", "--reference", "dev.e")
        settings = {"search": SEARCH, "nbest": 50, "iterations": 2}
        config = self.write("tune.yaml", settings)
        for method in ("mert", "pro", "mira-batch", "mira-chiang", "mira-corpus"):
            output = ("--output", f"tuned-{method}", "--method", method, "--config", config)
            self.run(f"tune-{method}", "tune", "--model", "mixed", *dev, *output)
        added = self.write("tune-added.yaml", settings | {"add": {"bitext_count": True, "length_groups": 3}})
        self.run("tune-added", "tune", "--model", "model", *dev, "--output", "tuned-added", "--config", added)
        for metric in ("chrf", "ter"):
            output = ("--output", f"tuned-{metric}", "--metric", metric, "--config", config)
            self.run(f"tune-{metric}", "tune", "--model", "model", *dev, *output)
        lists = ("--nbest", 40, "--nbest-output", "dev.nbest", "--distinct")
        self.run("dev-lists", "translate", "--model", "model", "--algorithm", "cube", *lists, stdin="dev.f")
        weights = ("--weights", "rerank.weights.txt")
        learned = ("--train", "dev.nbest", "--reference", "dev.e", "--method", "mert")
        self.run("rerank", "rerank", *learned, *weights)
        self.run("reranked", "rerank", *weights, "--nbest", "dev.nbest")

    def trained(self) -> tuple[str, ...]:
        """The options for the data of both trainers."""
        data = ("--source", "train.f", "--target", "train.e", "--alignment", "train.a")
        return (*data, "--dev-source", "dev.f", "--dev-reference", "dev.e", "--threads", "2")

    def maxforce(self) -> None:
        """Train with all templates and all update strategies; then with tuning after each iteration."""
        for update in ("max_violation", "early", "standard", "local"):
            name = f"maxforce-{update}"
            config = self.write(f"{name}.yaml", MAXFORCE | {"update": update})
            self.run(name, "train-maxforce", "--model", "mixed", *self.trained(), "--output", name, "--config", config)
            self.learned(name)
        self.run("explain", "explain", "--model", "maxforce-max_violation", "--top", 30)
        tune = {"method": "mira-corpus", "iterations": 2, "nbest": 30, "search": SEARCH}
        words = {"rule_id": True, "word_edges": SPARSE["word_edges"], "levels": SPARSE["levels"][:2]}
        settings = MAXFORCE | {"scales": [0.2, 0.05], "tune": tune, "lm_folds": 2, "iterations": 1, "templates": words}
        config = self.write("maxforce-tuned.yaml", settings)
        output = ("--output", "maxforce-tuned", "--config", config)
        self.run("maxforce-tuned", "train-maxforce", "--model", "model", *self.trained(), *output)
        for model in ("maxforce-standard", "maxforce-tuned"):
            lists = ("--nbest", 20, "--nbest-output", f"translate-{model}.nbest", "--scores")
            self.run(f"translate-{model}", "translate", "--model", model, *lists, stdin="test.f")

    def learned(self, name: str) -> None:
        """Write the weights of a perceptron after its last iteration, even if others were better; no sparse keys."""
        with np.load(self.folder / name / "maxforce" / "seed-1" / "shard-0.npz") as checkpoint:
            dense, values = checkpoint["dense"].tolist(), np.sort(checkpoint["values"])
        digest = hashlib.sha256(values.tobytes()).hexdigest()
        (self.folder / f"{name}.learned.txt").write_text(
            f"{dense}\n{values.size} {values[:5]} {values[-5:]} {digest}\n"
        )

    def expected_bleu(self) -> None:
        for optimizer in ("rprop", "adagrad", "gt"):
            name = f"expected-bleu-{optimizer}"
            settings = EXPECTED_BLEU | {"optimizer": optimizer}
            if optimizer == "gt":
                del settings["features"]
            output = ("--output", name, "--lists", "lists", "--config", self.write(f"{name}.yaml", settings))
            self.run(name, "train-expected-bleu", "--model", "mixed", *self.trained(), *output)
        self.run(
            *("join", "join-features", "--model", "expected-bleu-rprop"),
            *("--features", "maxforce-standard", "--output", "joined"),
        )
        self.run("translate-joined", "translate", "--model", "joined", "--scores", stdin="test.f")

    def record_moses(self) -> None:
        """Import a Moses model, and export it again."""
        (self.folder / "empty").write_bytes(b"")
        reference = self.data / "reference" / "multi30k-de-en"
        for name in ("moses.ini", "lm4.bin", "phrase-table.gz", "reordering-table.gz", "lm4.arpa.gz"):
            shutil.copy(reference / name, self.folder / name)
        self.take("reference/multi30k-de-en/input.de", 0, N_TEST, "test.f")
        self.run("import", "import-moses", "moses.ini", "--output", "model")
        for algorithm in ("stack", "cube"):
            lists = ("--nbest", 30, "--nbest-output", f"{algorithm}.nbest", "--scores", "--algorithm", algorithm)
            self.run(algorithm, "translate", "--model", "model", *lists, stdin="test.f")
        self.run("export", "export-moses", "--model", "model", "--output", "exported")
        self.digest()

    def digest(self) -> None:
        """Replace binary files by a line for each; keep text files, but of trainers' work only the curves."""
        lines = []
        for path in sorted(path for path in self.folder.rglob("*") if path.is_file()):
            name = path.relative_to(self.folder).as_posix()
            if path.name == "model.yaml":
                path.write_text(yaml.safe_dump(without_version(yaml.safe_load(path.read_text()))))
            if path.name == "curve.csv":
                path.write_text(without_times(path.read_text()))
            elif set(name.split("/")[1:]) & WORK:
                path.unlink()
            elif path.suffix not in TEXT or path.stat().st_size > 1 << 20:
                digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
                lines.append(f"{digest} {path.stat().st_size} {name}\n")
                path.unlink()
            elif path.suffix == ".txt":
                path.write_text(SECONDS.sub("_", path.read_text()))
        (self.folder / "digests.txt").write_text("".join(lines))


def without_times(table: str) -> str:
    """A CSV table without columns of seconds."""
    rows = [line.split(",") for line in table.splitlines()]
    kept = [i for i, name in enumerate(rows[0]) if "seconds" not in name]
    return "\n".join(",".join(row[i] for i in kept) for row in rows) + "\n"


def without_version(value: object) -> object:
    """The description of a model without keys about the version that made it, at any depth."""
    if isinstance(value, dict):
        return {key: without_version(one) for key, one in value.items() if key not in OF_THE_VERSION}
    return [without_version(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    main()
