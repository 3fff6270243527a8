"""The texts that both systems get, as files of a run: training pairs, a development set and a test set.

Multi30k and TED are tokenized and lowercased, and have development sets. Lines 10,000 to 19,999 of TED repeat the first
10,000 with masked words: the recipes leave such pairs out by themselves, the Transformer learns from them. The text of
Bribri and Shipibo is raw, and the development set of the shared task is their test set. Training pairs that the recipe
`small` leaves out are left out, and the pairs that it holds out are the development set of the neural system.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpora import CORPORA, development_of
from benchmarks.neural.settings import Settings
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.training.recipe_texts.held_out_pairs import newest_pairs
from phrasebeam.training.recipe_texts.varieties import written_otherwise

HELD_OUT = 500  # the number that the recipe `small` holds out
SIDES = "source", "target"
Pairs = list[tuple[str, str]]


class Run(NamedTuple):
    """Training data: the first pairs of a corpus (0: all), or raw text from Spanish into a language of AmericasNLP."""

    corpus: str
    n_pairs: int
    pieces: int  # of the byte-pair encoding of the neural system

    @property
    def is_raw(self) -> bool:
        return self.corpus not in CORPORA

    @property
    def languages(self) -> tuple[str, str]:
        return ("es", self.corpus) if self.is_raw else CORPORA[self.corpus][:2]

    def paths(self, data: Path, part: str) -> list[Path]:
        """Source and target file of `train`, `dev` or `test`."""
        if self.is_raw:
            name = "train" if part == "train" else "dev"
            return [data / "americasnlp" / f"{self.corpus}.{name}.{language}" for language in self.languages]
        corpus, place = CORPORA[self.corpus], data / self.corpus
        if part == "dev":
            return development_of(place, corpus)
        return [place / f"{part if part == 'train' else corpus.test}.{language}" for language in self.languages]


RUNS = {
    "multi30k.5000": Run("multi30k", 5_000, 2_000),
    "multi30k.10000": Run("multi30k", 10_000, 4_000),
    "multi30k.20000": Run("multi30k", 20_000, 8_000),
    "multi30k.all": Run("multi30k", 0, 8_000),
    "ted.5000": Run("ted", 5_000, 2_000),
    "ted.10000": Run("ted", 10_000, 4_000),
    "ted.20000": Run("ted", 20_000, 8_000),
    "ted.all": Run("ted", 0, 8_000),
    "bzd": Run("bzd", 0, 2_000),
    "shp": Run("shp", 0, 4_000),
}


def prepare(run: Run, data: Path, directory: Path) -> None:
    """Write the texts and the settings of a run once; later changes of this file do not affect a run that has begun."""
    if (directory / "settings.json").exists():
        return
    directory.mkdir(parents=True, exist_ok=True)
    training = pairs_of(run.paths(data, "train"))[: run.n_pairs or None]
    if run.is_raw:
        training, development = divided(training)
    else:
        development = pairs_of(run.paths(data, "dev"))
    for part, pairs in (("train", training), ("dev", development), ("test", pairs_of(run.paths(data, "test")))):
        for side, lines in zip(SIDES, zip(*pairs)):
            write(directory / f"{part}.{side}", (f"{line}\n" for line in lines))
    settings = Settings(run.pieces, "chrF++" if run.is_raw else "BLEU")
    write(directory / "settings.json", [json.dumps(asdict(settings), indent=1)])


def pairs_of(paths: list[Path]) -> Pairs:
    return list(zip(*map(read_lines, paths)))


def divided(pairs: Pairs) -> tuple[Pairs, Pairs]:
    """The training pairs and the held-out pairs, divided as by the recipe `small`; only pairs in the main spelling."""
    pairs = [pair for pair in pairs if all(side.strip() for side in pair)]
    otherwise = written_otherwise(*zip(*pairs))
    pairs = [pair for pair, is_left_out in zip(pairs, otherwise) if not is_left_out]
    is_held_out = newest_pairs(*zip(*pairs), min(HELD_OUT, len(pairs) // 10))
    training = [pair for pair, is_new in zip(pairs, is_held_out) if not is_new]
    return training, [pair for pair, is_new in zip(pairs, is_held_out) if is_new]


def write(path: Path, texts: Iterable[str]) -> None:
    with atomic_file(path) as file:
        file.writelines(text.encode() for text in texts)
