"""Learning while the documents of a project are translated: BLEU by settings, of the first segments and of the others.

    python -m benchmarks.adaptation.documents DATA --output DIR [--seed 1] [--segments 700] [--set similarity=0.5 ...]

DATA has a document a file, a segment a line: source, tab, translation. Documents are shuffled by the seed; a model is
trained on 37 of them, and tuned on three, by a recipe; the others are worked through in order, each segment confirmed
after it is translated. DIR keeps the model, and a second run takes it. Each --set is one more run, of settings with
commas between them. The translations of each run are written to DIR, where `phrasebeam evaluate` can compare them.
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
EARLY = 100  # segments


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
    """Write what `phrasebeam evaluate` compares."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def prepared(given: argparse.Namespace) -> tuple[Document, Path]:
    """The tokens of the documents that are worked through, and a model of the others, made where there is none."""
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
