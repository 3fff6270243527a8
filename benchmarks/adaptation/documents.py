"""Learning while the documents of a project are translated: BLEU of the first segments and of the others, by settings.

    python -m benchmarks.adaptation.documents DATA --output DIR [--seed 1] [--segments 700] [--set similarity=0.5 ...]

DATA has one file per document and one segment per line: source, tab, translation. Documents are shuffled with the seed.
A recipe trains a model on 37 documents and tunes it on three. The other documents are processed in order; each segment
is confirmed after it is translated. DIR keeps the model, which a second run uses again. Each --set adds a run with the
given settings, separated by commas. The translations of each run are written to DIR, so that `phrasebeam evaluate` can
compare them.
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.adaptation.document import Document, bleu, run
from benchmarks.measure import table
from phrasebeam.api.preprocess import preprocess
from phrasebeam.api.trainers.train import train
from phrasebeam.base.files import read_lines
from phrasebeam.base.progress import show_progress
from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.decoder.translate.translator import Decoder

TRAINED, TUNED = 37, 3  # documents
EARLY = 100  # the number of first segments


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--languages", nargs=2, default=["en", "es"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--segments", type=int, default=700)
    parser.add_argument("--recipe", default="quick")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE,...", help="settings of adaptation")
    given = parser.parse_args()
    show_progress()
    document, model = prepared(given)
    named: list[tuple[str, Decoder]] = [("static", Decoder.load(model))]
    for one in ["similarity=1", *given.set]:
        settings = AdaptationSettings(**dict(part.split("=") for part in one.split(",")))
        named.append((f"learning, {one}", AdaptedDecoder.load(model, adaptation=settings)))
    rows = [["", f"1-{EARLY}", f"from {EARLY + 1} on", "all"]]
    write_lines(given.output / "reference.txt", document.target)
    for name, decoder in named:
        texts = run(decoder, document, 0).texts
        write_lines(given.output / f"{name.replace(', ', '.')}.txt", texts)
        slices = slice(0, EARLY), slice(EARLY, None), slice(None)
        rows.append([name, *(f"{bleu(texts, document.target, part):.2f}" for part in slices)])
    print(table(rows))


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """Write lines to a file that `phrasebeam evaluate` can compare."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def prepared(given: argparse.Namespace) -> tuple[Document, Path]:
    """The tokens of the documents to translate, and a model of the other documents, trained unless it exists."""
    documents = sorted(given.data.glob("*.tsv"))
    random.Random(given.seed).shuffle(documents)
    parts = {"train": documents[:TRAINED], "dev": documents[TRAINED : TRAINED + TUNED]}
    parts["work"] = documents[TRAINED + TUNED :]
    given.output.mkdir(parents=True, exist_ok=True)
    files = {name: [given.output / f"{name}.{language}" for language in given.languages] for name in parts}
    for name, paths in files.items():
        rows = [line.split("\t") for document in parts[name] for line in read_lines(document)]
        pairs = [row for row in rows if len(row) == 2 and all(text.strip() for text in row)]
        for side, path in enumerate(paths):
            path.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    model = given.output / "model"
    if not (model / "model.yaml").exists():
        of_source, of_target = given.languages
        options: dict[str, Any] = {"source_language": of_source, "target_language": of_target, "raw": True}
        options["recipe"] = given.recipe
        (source, target), (dev_source, dev_reference) = files["train"], files["dev"]
        train(source, target, dev_source, dev_reference, model, **options)
    source, target = files["work"]
    sides = preprocess(model, "source", input=source), preprocess(model, "target", input=target)
    return Document(*(side[: given.segments] for side in sides)), model


if __name__ == "__main__":
    main()
