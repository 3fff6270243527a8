"""Learning from confirmed translations: BLEU and strokes over a document, with and without.

    python -m benchmarks.adaptation.document document --model DIR --source FILE --target FILE [--strokes N]
    python -m benchmarks.adaptation.document repetitive [--lines N] [--strokes N]

Each sentence is translated, compared with its reference, and then the reference is confirmed (simulated post-editing).
A repetitive text is the demo's generated text, in which some nouns are terms that the model has never seen.
"""

import argparse
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.adaptation.strokes import Strokes, strokes
from benchmarks.measure import table
from phrasebeam.api.trainers.train_model import train_model
from phrasebeam.base.files import read_lines
from phrasebeam.base.progress import show_progress, stage
from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.demo.demo_corpus import write_pairs
from phrasebeam.training.metrics.evaluation import bleu as bleu_of

PARTS = 5  # of a document, for which BLEU is told
TERMS = {  # nouns of the demo's text, and what stands in their place
    ("mann", "man"): ("drehflansch", "swivel flange"),
    ("frau", "woman"): ("wellendichtung", "shaft seal"),
    ("kind", "child"): ("druckregler", "pressure regulator"),
    ("buch", "book"): ("prüfprotokoll", "test record"),
    ("arzt", "doctor"): ("messumformer", "transmitter"),
    ("lehrer", "teacher"): ("stellantrieb", "actuator"),
    ("nachbar", "neighbor"): ("rückschlagventil", "check valve"),
    ("händler", "dealer"): ("schaltschrank", "control cabinet"),
}


class Document(NamedTuple):
    """Sentences in order, and their translations."""

    source: Sequence[str]
    target: Sequence[str]


class Result(NamedTuple):
    """What came of a document."""

    texts: list[str]
    strokes: Strokes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["document", "repetitive"])
    parser.add_argument("--model", type=Path)
    parser.add_argument("--source", type=Path)
    parser.add_argument("--target", type=Path)
    parser.add_argument("--lines", type=int, default=400)
    parser.add_argument("--strokes", type=int, default=0, help="sentences of which strokes are counted")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings of adaptation")
    given = parser.parse_args()
    show_progress()
    settings = AdaptationSettings(**dict(one.split("=") for one in given.set))
    if given.kind == "repetitive":
        with tempfile.TemporaryDirectory() as work:
            model, document = repetitive(Path(work), given.lines)
            report(model, document, settings, given.strokes)
    else:
        document = Document(*(list(read_lines(path))[: given.lines] for path in (given.source, given.target)))
        report(given.model, document, settings, given.strokes)


def repetitive(work: Path, n_lines: int) -> tuple[Path, Document]:
    """A model of the demo's text, and other text of it with terms that the model has not seen."""
    write_pairs(work / "train", 5000, 1)
    train_model(work / "train.de", work / "train.en", work / "model")
    write_pairs(work / "more", 20 * n_lines, 7, noise=0)
    pairs = [_with_terms(*pair) for pair in zip(read_lines(work / "more.de"), read_lines(work / "more.en"))]
    found = list(dict.fromkeys(pair for pair in pairs if pair))[:n_lines]
    return work / "model", Document(*zip(*found))


def _with_terms(source: str, target: str) -> tuple[str, str] | None:
    """The sentence pair with terms, or None where there are none."""
    words, others, has_terms = source.split(), target.split(), False
    for (noun, translation), (term, of_term) in TERMS.items():
        if words.count(noun) == others.count(translation) == 1:
            words[words.index(noun)], others[others.index(translation)], has_terms = term, of_term, True
    return (" ".join(words), " ".join(others)) if has_terms else None


def report(model: Path, document: Document, settings: AdaptationSettings, n_strokes: int) -> None:
    """Print BLEU of each part and of all, and strokes, without and with learning."""
    search = SearchSettings(algorithm="cube", pop_limit=400)
    heads = (f"{part.start + 1}-{part.stop}" for part in parts(len(document.source)))
    rows = [["", *heads, "all", "WSR", "KSR", "MAR"]]
    decoders = (
        ("static", Decoder.load(model, search)),
        ("learning", AdaptedDecoder.load(model, search, None, None, settings)),
    )
    for name, decoder in decoders:
        result = run(decoder, document, n_strokes)
        scores = [bleu(result.texts, document.target, part) for part in parts(len(document.source))]
        every = bleu(result.texts, document.target, slice(None))
        shares = [f"{share:.1f}" for share in result.strokes.shares] if n_strokes else ["-"] * 3
        rows.append([name, *(f"{score:.2f}" for score in scores), f"{every:.2f}", *shares])
    print(table(rows))


def parts(n: int) -> list[slice]:
    """A document of n sentences in PARTS parts, each as long as all before it: what is learned first, comes early."""
    ends = [0, *(n >> i for i in range(PARTS - 1, -1, -1))]
    return [slice(begin, end) for begin, end in pairwise(ends)]


def bleu(texts: Sequence[str], references: Sequence[str], part: slice) -> float:
    """BLEU of a part of a document, which is tokenized."""
    return bleu_of(texts[part], references[part])[0]


def run(decoder: Decoder, document: Document, n_strokes: int) -> Result:
    """Translate the document; a decoder that can learns each reference."""
    texts, counted = list[str](), Strokes()
    with stage("translating", unit="sentences") as advance:
        for i, (source, target) in enumerate(zip(document.source, document.target)):
            texts.append(decoder.translate(source).text)
            if i < n_strokes:
                counted += strokes(decoder, source, target, texts[-1])
            if isinstance(decoder, AdaptedDecoder) and source.strip() and target.strip():
                decoder.confirm(source, target)
            advance(1)
    return Result(texts, counted)


if __name__ == "__main__":
    main()
