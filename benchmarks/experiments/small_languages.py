"""Languages with few sentence pairs: the recipe small, stage by stage, beside quick with a sample held out to tune on.

    python -m benchmarks.experiments.small_languages DATA --output DIR [--corpora bzd shp ...] [--tables]

DATA has americasnlp/LANG.train.es, LANG.train.LANG and likewise dev, of which nothing is learned, and ted/ and tanaka/,
of which the first 5,000 pairs are taken. Scores are sacrebleu's of raw text; minutes are of processor time. Runs that
were stopped go on, and those that are done are not made again. Printed is the table of results as CSV.
"""

import csv
import json
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.experiments.kept_runs import parser_of, write
from phrasebeam import train
from phrasebeam.base.files import read_lines

HELD_OUT = 500  # sentence pairs of the sample that quick tunes on
FEW = 5_000  # pairs that are taken of larger corpora


class Texts(NamedTuple):
    """Source and target files of training and test text, and their languages."""

    training: tuple[Path, Path]
    test: tuple[Path, Path]
    languages: tuple[str, str]


def main() -> None:
    parser = parser_of(__doc__, corpora=("bzd", "shp", "gn", "ted", "tanaka"), systems=("quick", "small"))
    arguments = parser.parse_args()
    rows = []
    for corpus in arguments.corpora:
        for system in arguments.systems:
            path = arguments.output / f"{corpus}.{system}.json"
            if not path.exists() and not arguments.tables:
                write(path, measured(corpus, system, arguments.data, arguments.output))
            if path.exists():
                rows += table_rows(corpus, system, json.loads(path.read_text()))
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerows([["corpus", "pairs", "system", "stage", "chrF++", "BLEU", "minutes"], *rows])


def measured(corpus: str, system: str, data: Path, output: Path) -> dict[str, Any]:
    """Scores of the stages of a recipe, and processor seconds of the whole."""
    work = output / f"{corpus}.{system}"
    work.mkdir(parents=True, exist_ok=True)
    texts = texts_of(corpus, data, work)
    development: tuple[Path | None, Path | None] = (None, None)
    training = texts.training
    if system == "quick":
        training, development = sampled(texts.training, work)
    begun = time.process_time()
    result = train(
        *training,
        *development,
        work / "model",
        recipe=system,
        raw=True,
        source_language=texts.languages[0],
        target_language=texts.languages[1],
        test_source=texts.test[0],
        test_reference=[texts.test[1]],
        threads=1,
    )
    scores = {name: record.test.scores for name, record in result.stages.items() if record.test}
    seconds = sum(record.seconds for record in result.stages.values())
    return {"sentences": result.sentences, "scores": scores, "seconds": seconds, "cpu": time.process_time() - begun}


def texts_of(corpus: str, data: Path, work: Path) -> Texts:
    """The texts of a corpus; what is cut of larger ones is written to `work`."""
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
    """The training text without every N-th pair, and these."""
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
    """A row for each stage; the last one has the minutes of all."""
    stages = list(found["scores"])
    for stage in stages:
        scores = found["scores"][stage]
        minutes = f"{found['cpu'] / 60:.1f}" if stage == stages[-1] else ""
        row = [corpus, f"{found['sentences']['training']}", system, stage]
        yield [*row, f"{scores['chrf++']:.2f}", f"{scores['bleu']:.2f}", minutes]


if __name__ == "__main__":
    main()
