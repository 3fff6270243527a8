"""Languages with few sentence pairs: the stages of the recipe small, beside quick, which tunes on a held-out sample.

    python -m benchmarks.experiments.small_languages DATA --output DIR [--corpora bzd ...] [--systems small ...]

DATA has americasnlp/LANG.train.es, LANG.train.LANG and the same for dev, from which nothing is learned; and ted/ and
tanaka/, of which the first 5,000 pairs are used. Scores are sacrebleu's on raw text; minutes are processor time. Runs
that were stopped are continued, and finished ones are not made again. The table of results is printed as CSV.
"""

import csv
import json
import os
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from benchmarks.experiments.kept_runs import parser_of, write
from phrasebeam import train
from phrasebeam.api.config import CONFIGS
from phrasebeam.base.files import read_lines

HELD_OUT = 500  # sentence pairs in the sample that quick tunes on
FEW = 5_000  # first pairs that are used of larger corpora
CORPORA = ("bzd", "shp", "gn", "ted", "tanaka")


class System(NamedTuple):
    """A recipe, changes to it, and whether a sample of the training pairs is given as development data."""

    recipe: str
    changes: Mapping[str, str]
    is_sampled: bool


SYSTEMS = {
    "quick": System("quick", {}, is_sampled=True),
    "small": System("small", {}, is_sampled=False),
    "small, a sample held out": System("small", {}, is_sampled=True),
    "small, tuned on BLEU": System("small", {"metric": "bleu"}, is_sampled=False),
    "small, all spellings": System("small", {"varieties": "all"}, is_sampled=False),
}


class Texts(NamedTuple):
    """Source and target files of training and test text, and their languages."""

    training: tuple[Path, Path]
    test: tuple[Path, Path]
    languages: tuple[str, str]


def main() -> None:
    parser = parser_of(__doc__, corpora=CORPORA, systems=SYSTEMS)
    arguments = parser.parse_args()
    rows = []
    for corpus in arguments.corpora:
        for system in arguments.systems:
            path = arguments.output / f"{corpus}.{system.replace(', ', '-').replace(' ', '-')}.json"
            if not path.exists() and not arguments.tables:
                write(path, measured(corpus, SYSTEMS[system], arguments.data, path.with_suffix("")))
            if path.exists():
                rows += table_rows(corpus, system, json.loads(path.read_text()))
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerows([["corpus", "pairs", "recipe", "stage", "chrF++", "BLEU", "processor minutes"], *rows])


def measured(corpus: str, system: System, data: Path, work: Path) -> dict[str, Any]:
    """The scores of a recipe's stages, and the processor seconds of the whole run with its child processes."""
    work.mkdir(parents=True, exist_ok=True)
    texts = texts_of(corpus, data, work)
    development: tuple[Path | None, Path | None] = (None, None)
    training = texts.training
    if system.is_sampled:
        training, development = sampled(texts.training, work)
    recipe = yaml.safe_load((CONFIGS / f"recipe-{system.recipe}.yaml").read_text()) | system.changes
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
    )
    scores = {name: record.test.scores for name, record in result.stages.items() if record.test}
    return {"sentences": result.sentences, "scores": scores, "cpu": processor_seconds() - begun}


def processor_seconds() -> float:
    """Processor seconds of this process and of those that it started."""
    return sum(os.times()[:4])


def texts_of(corpus: str, data: Path, work: Path) -> Texts:
    """The texts of a corpus; the first pairs of a larger corpus are written to `work`."""
    if corpus in ("ted", "tanaka"):
        source, target, test = ("de", "en", "devtest") if corpus == "ted" else ("ja", "en", "dev")
        place = data / corpus
        cut = tuple(work / f"train.{language}" for language in (source, target))
        for path in cut:
            path.write_text("".join(f"{line}\n" for line in islice(read_lines(place / path.name), FEW)))
        return Texts((cut[0], cut[1]), (place / f"{test}.{source}", place / f"{test}.{target}"), (source, target))
    place = data / "americasnlp"
    training, test = ((place / f"{corpus}.{part}.es", place / f"{corpus}.{part}.{corpus}") for part in ("train", "dev"))
    return Texts(training, test, ("es", corpus))


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


def table_rows(corpus: str, system: str, found: dict[str, Any]) -> Iterator[list[str]]:
    """A row for each stage; the last row has the minutes of the whole run."""
    stages = list(found["scores"])
    for stage in stages:
        scores = found["scores"][stage]
        minutes = f"{found['cpu'] / 60:.1f}" if stage == stages[-1] else ""
        row = [corpus, f"{found['sentences']['training']}", system, stage]
        yield [*row, f"{scores['chrf++']:.2f}", f"{scores['bleu']:.2f}", minutes]


if __name__ == "__main__":
    main()
