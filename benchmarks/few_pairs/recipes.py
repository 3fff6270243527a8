"""Languages with few sentence pairs: the stages of the recipe small, beside quick, which tunes on a held-out sample.

    python -m benchmarks.few_pairs.recipes DATA --output DIR [--corpora bzd ...] [--systems small ...]
        [--pairs N] [--seed N]

DATA has americasnlp/LANG.train.es, LANG.train.LANG and the same for dev, from which nothing is learned; and ted/,
multi30k/ and tanaka/, of which the first 5,000 pairs are used, or the first N of all corpora with --pairs N. The last
systems are the trainers of sparse features, which continue the tuned model; what follows them is in the table. Scores
are sacrebleu's on raw text; minutes are processor time. Runs that were stopped are continued, and finished ones are
not made again. The table of results is printed as CSV; "held out" is chrF++ of the held-out
sentences.
"""

import argparse
import csv
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.experiments.online_tuning import RICH
from phrasebeam import train
from phrasebeam.api.config import CONFIGS
from phrasebeam.base.files import read_lines

HELD_OUT = 500  # sentence pairs in the sample that quick tunes on
FEW = 5_000  # first pairs that are used of larger corpora
LARGER = {"ted": ("de", "devtest"), "multi30k": ("de", "test_2016_flickr"), "tanaka": ("ja", "dev")}
CORPORA = ("bzd", "shp", "gn", *LARGER)

COLUMNS = ["corpus", "pairs", "recipe", "seed", "stage", "held out", "chrF++", "BLEU", "processor minutes"]

# Minimum Bayes risk as in the recipe small, but dropped if it is worse
RISK = {"kind": "mbr", "sizes": [200], "scales": [0.3, 1.0], "gains": ["chrf++"]}
AGAIN = {"iterations": 3, "nbest": 100, "mira_corpus": {"epochs": 100}}  # tuning after a trainer
LETTERS = {"kind": "letter-model", "settings": {"fewest_pairs": 100}}
ONLINE = {"kind": "tune", "name": "online", "settings": {"method": "online", "online": {"templates": RICH}}}


class System(NamedTuple):
    """A recipe, changes to it, and whether a sample of the training pairs is given as development data.

    `model`: settings of train-model to change. If there are stages in `then`, these replace those after tune.
    """

    recipe: str = "small"
    changes: Mapping[str, Any] = {}
    is_sampled: bool = False
    model: Mapping[str, Any] = {}
    then: Sequence[Mapping[str, Any]] = ()


def pieces(number: int, both: bool = False) -> dict[str, Any]:
    """Settings of a model of so many subwords of the target language, or of each language, with longer n-grams."""
    sides = ("source_tokenizer", "target_tokenizer")[not both :]
    subwords = {"subwords": {"pieces": number}}
    return {"preprocessing": dict.fromkeys(sides, "subwords") | subwords, "language_model": {"order": 6}}


THRICE = {
    "more_alignments": [{"seed": 2}, {"aligner": "fast_align"}],
    "phrases": {"smoothing": "kneser-ney", "agreement": 2},
}


SYSTEMS = {
    "quick": System("quick", is_sampled=True),
    "small": System(),
    "small without ranking": System(then=[RISK, {"kind": "refit"}]),
    "letters": System(then=[LETTERS]),
    "small, a sample held out": System(is_sampled=True),
    "small, 1,000 held out": System(changes={"dev_folds": 5, "dev_sentences": 1_000}, then=[RISK]),
    "small, tuned on BLEU": System(changes={"metric": "bleu"}),
    "small, all spellings": System(changes={"varieties": "all"}),
    "operation sequences": System(model={"operations": {"order": 5}}, then=[RISK]),
    "two of three alignments": System(model=THRICE, then=[RISK]),
    "1,000 subwords": System(model=pieces(1_000), then=[RISK]),
    "4,000 subwords": System(model=pieces(4_000), then=[RISK]),
    "16,000 subwords": System(model=pieces(16_000), then=[RISK]),
    "4,000 subwords of both sides": System(model=pieces(4_000, True), then=[RISK]),
    "perceptron": System(then=[{"kind": "train-maxforce", "settings": {"tune": AGAIN}}]),
    "ranking": System(then=[{"kind": "train-ranking", "settings": {"tune": AGAIN}}]),
    "expected BLEU": System(then=[{"kind": "train-expected-bleu", "settings": {"tune": AGAIN}}]),
    "online": System(then=[ONLINE]),
    "online and risk": System(then=[ONLINE, RISK]),
    "corpus-level MIRA, all features": System(
        then=[
            {"kind": "train-maxforce", "settings": {"iterations": 1}},
            {"kind": "tune", "name": "sparse", "start": "train-maxforce", "settings": AGAIN | {"sparse": "weights"}},
        ],
    ),
}


class Texts(NamedTuple):
    """Source and target files of training and test text, and their languages."""

    training: tuple[Path, Path]
    test: tuple[Path, Path]
    languages: tuple[str, str]


def main() -> None:
    parser = parser_of(__doc__, corpora=CORPORA, systems=SYSTEMS)
    parser.add_argument("--pairs", type=int, help="use only so many pairs, the first ones, of each corpus")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rows = []
    for corpus in arguments.corpora:
        for system in arguments.systems:
            name = system.replace(", ", "-").replace(" ", "-") + (f".{arguments.pairs}" if arguments.pairs else "")
            path = arguments.output / f"{corpus}.{name}.{arguments.seed}.json"
            if not path.exists() and not arguments.tables:
                write(path, measured(corpus, SYSTEMS[system], path.with_suffix(""), arguments))
            if path.exists():
                rows += table_rows(corpus, system, arguments.seed, json.loads(path.read_text()))
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerows([COLUMNS, *rows])


def measured(corpus: str, system: System, work: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """The scores of a recipe's stages, and the processor seconds of the whole run with its child processes."""
    work.mkdir(parents=True, exist_ok=True)
    texts = texts_of(corpus, arguments.data, work, arguments.pairs)
    development: tuple[Path | None, Path | None] = (None, None)
    training = texts.training
    if system.is_sampled:
        training, development = sampled(texts.training, work)
    recipe = yaml.safe_load((CONFIGS / f"recipe-{system.recipe}.yaml").read_text()) | system.changes
    recipe["stages"][0]["settings"] |= system.model
    if "preprocessing" in system.model:
        languages = dict(zip(("source_language", "target_language"), texts.languages))
        recipe["stages"][0]["settings"]["preprocessing"] = system.model["preprocessing"] | languages
    if system.then:
        recipe["stages"] = [*recipe["stages"][:2], *system.then]
    begun = processor_seconds()
    result = train(
        *training,
        *development,
        work / "model",
        recipe=recipe,
        raw=True,
        source_language=texts.languages[0],
        target_language=texts.languages[1],
        test_source=texts.test[0],
        test_reference=[texts.test[1]],
        threads=1,
        seed=arguments.seed,
    )
    scores = {name: record.test.scores for name, record in result.stages.items() if record.test}
    held_out = {name: record.deciding.scores for name, record in result.stages.items() if record.deciding}
    seconds = processor_seconds() - begun
    return {"sentences": result.sentences, "scores": scores, "held out": held_out, "cpu": seconds}


def processor_seconds() -> float:
    """Processor seconds of this process and of those that it started."""
    return sum(os.times()[:4])


def texts_of(corpus: str, data: Path, work: Path, n_pairs: int | None) -> Texts:
    """The texts of a corpus; the first pairs of a larger corpus, or the first `n_pairs`, are written to `work`."""
    if corpus in LARGER:
        (source, test), target = LARGER[corpus], "en"
        place, beginning, n_pairs = data / corpus, "", n_pairs or FEW
    else:
        source, target, test = "es", corpus, "dev"
        place, beginning = data / "americasnlp", f"{corpus}."
    files = [place / f"{beginning}train.{language}" for language in (source, target)]
    if n_pairs:
        cut = [work / f"train.{language}" for language in (source, target)]
        for path, place_of_cut in zip(files, cut):
            place_of_cut.write_text("".join(f"{line}\n" for line in islice(read_lines(path), n_pairs)))
        files = cut
    tested = [place / f"{beginning}{test}.{language}" for language in (source, target)]
    return Texts((files[0], files[1]), (tested[0], tested[1]), (source, target))


def sampled(training: tuple[Path, Path], work: Path) -> tuple[tuple[Path, Path], tuple[Path, Path]]:
    """The training text without every N-th pair, and the pairs that were left out."""
    parts = []
    for path in training:
        lines = list(read_lines(path))
        step = max(2, len(lines) // HELD_OUT)
        places = work / f"learned.{path.suffix[1:]}", work / f"sampled.{path.suffix[1:]}"
        for place, is_sample in zip(places, (False, True)):
            place.write_text("".join(f"{one}\n" for i, one in enumerate(lines) if (i % step == step - 1) == is_sample))
        parts.append(places)
    learned, held_out = zip(*parts)
    return (learned[0], learned[1]), (held_out[0], held_out[1])


def table_rows(corpus: str, system: str, seed: int, found: dict[str, Any]) -> Iterator[list[str]]:
    """A row for each stage; the last row has the minutes of the whole run."""
    stages = list(found["scores"])
    for stage in stages:
        scores = found["scores"][stage]
        minutes = f"{found['cpu'] / 60:.1f}" if stage == stages[-1] else ""
        held_out = found.get("held out", {}).get(stage)
        row = [corpus, f"{found['sentences']['training']}", system, str(seed), stage]
        row += [f"{held_out['chrf++']:.2f}" if held_out else ""]
        yield [*row, f"{scores['chrf++']:.2f}", f"{scores['bleu']:.2f}", minutes]


if __name__ == "__main__":
    main()
