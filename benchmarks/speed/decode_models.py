"""The models on which `decode.py` compares decoders: in our format, and as Moses text tables filtered to the input."""

import gzip
import re
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import PHRASEBEAM, run

LONGEST = 7  # words of a source phrase
PATH = re.compile(r"\bpath=(\S+)")


class Job(NamedTuple):
    """A model, and a text to translate with it."""

    name: str
    model: Path  # our model directory
    moses: Path  # moses.ini of the same model
    sources: list[str]
    references: list[str]
    training_target: Path  # training text of the language model
    scratch: Path

    def n_words(self) -> int:
        return sum(len(source.split()) for source in self.sources)


class Decoded(NamedTuple):
    """The results of a decoder for all sentences."""

    seconds: float  # processor time, without the start
    elapsed: float  # wall time, without the start
    texts: list[str]
    scores: list[float] | None  # model scores, if they can be compared


def prepare(name: str, data: Path, scratch: Path, n_sentences: int | None) -> Job:
    """Make one of JOBS under `scratch`, unless an earlier call has left its model there."""
    scratch.mkdir(parents=True, exist_ok=True)
    ini, corpus, test = JOBS[name]
    source, target = (data / corpus / f"{test}.{language}" for language in ("de", "en"))
    if not ini:
        ini = "ted.moses/moses.ini"
        _train(data / corpus, scratch)
        moses = scratch / ini
    else:
        moses = data / ini
        if not (scratch / name).exists():
            run([*PHRASEBEAM, "import-moses", f"{moses}", "--output", f"{scratch / name}"])
    sources, references = (path.read_text(encoding="utf-8").splitlines()[:n_sentences] for path in (source, target))
    filtered = filter_moses(moses, sources, scratch / f"{name}.filtered")
    return Job(name, scratch / name, filtered, sources, references, data / corpus / "train.en", scratch)


JOBS = {  # moses.ini (empty: train a model), corpus, test set
    "multi30k": ("reference/multi30k-de-en/moses.ini", "multi30k", "test_2016_flickr"),
    "multi30k-tuned": ("reference/multi30k-de-en/moses.tuned.ini", "multi30k", "test_2016_flickr"),
    "ted": ("", "ted", "devtest"),
}


def _train(corpus: Path, scratch: Path) -> None:
    """Train our model of the TED talks, and export it."""
    model = scratch / "ted"
    if not model.exists():
        command = [
            *PHRASEBEAM,
            "train-model",
            "--source",
            f"{corpus / 'train.de'}",
            "--target",
            f"{corpus / 'train.en'}",
        ]
        run([*command, "--alignment", f"{corpus / 'train.align.de-en'}", "--output", f"{model}"])
    if not (scratch / "ted.moses").exists():
        run([*PHRASEBEAM, "export-moses", "--model", f"{model}", "--output", f"{scratch / 'ted.moses'}"])


def filter_moses(ini: Path, sources: list[str], directory: Path) -> Path:
    """A moses.ini with absolute paths, in `directory`; its tables have only source phrases that occur in `sources`."""
    directory.mkdir(exist_ok=True)
    phrases = {
        " ".join(words[begin:end])
        for words in map(str.split, sources)
        for begin in range(len(words))
        for end in range(begin + 1, min(begin + LONGEST, len(words)) + 1)
    }

    def moved(match: re.Match[str]) -> str:
        path = ini.parent / match[1]
        if path.suffix == ".gz":
            path = _filter(path, phrases, directory / path.name)
        return f"path={path.resolve()}"

    filtered = directory / "moses.ini"
    filtered.write_text(PATH.sub(moved, ini.read_text()))
    return filtered


def _filter(table: Path, phrases: set[str], output: Path) -> Path:
    with gzip.open(table, "rt", encoding="utf-8") as lines, gzip.open(output, "wt", 1, encoding="utf-8") as kept:
        kept.writelines(line for line in lines if line.partition(" ||| ")[0] in phrases)
    return output
