"""How far confidences of words can be trusted: words by confidence and how many of them are right, by scale of scores.

    python -m benchmarks.adaptation.confidences --model DIR --source FILE --target FILE [--scale 0.5 1 2]

Both files are tokenized, a sentence a line. A word of the best derivation counts as right where a Levenshtein alignment
with the reference matches it. AUC is the probability that a right word has a higher confidence than a wrong one, ties
half; bits are the entropy of right and wrong by what confidences promise, a word, of which the least is best.
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein

from benchmarks.measure import table
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.output.word_confidence import ConfidenceSettings
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.normalization.held_out_words import calibration

SCALES = 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0
LEAST = 1e-4  # probability, so that no word costs more than some bits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--scale", type=float, nargs="+", default=SCALES)
    parser.add_argument("--lines", type=int)
    given = parser.parse_args()
    decoder = Decoder.load(given.model)
    sources, references = (list(islice(read_lines(path), given.lines)) for path in (given.source, given.target))
    right, found = words_of(decoder, sources, references, given.scale)
    rows = [["scale", "AUC", "bits", "expected %", "right %"]]
    for scale, confidence in zip(given.scale, found):
        shares = f"{100 * confidence.mean():.1f}", f"{100 * right.mean():.1f}"
        rows.append([f"{scale:g}", f"{area(confidence, right):.3f}", f"{entropy(confidence, right):.3f}", *shares])
    print(table(rows))
    for scale, confidence in zip(given.scale, found):
        print(f"\nscale {scale:g}")
        print(table([["confidence from", "words", "right %", "expected %"], *calibrated(confidence, right)]))


def words_of(
    decoder: Decoder, sources: Sequence[str], references: Sequence[str], scales: Sequence[float]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Which words of the best derivations are right (bool[W]), and their confidences by scale (float64[W])."""
    right, confidences = list[bool](), [list[float]() for _ in scales]
    for source, reference in zip(sources, references):
        with decoder.searcher.search(decoder.search_input(source)) as result:
            for found, scale in zip(confidences, scales):
                best = result.best(ConfidenceSettings(scale=scale))
                found += best.confidences
            right += matched(best.text.split(), reference.split())
    return np.array(right), [np.array(found) for found in confidences]


def matched(words: Sequence[str], reference: Sequence[str]) -> list[bool]:
    """Which of the words a Levenshtein alignment with the reference matches."""
    is_matched = [False] * len(words)
    for part in Levenshtein.opcodes(words, reference):
        if part.tag == "equal":
            is_matched[part.src_start : part.src_end] = [True] * (part.src_end - part.src_start)
    return is_matched


def area(confidence: np.ndarray, right: np.ndarray) -> float:
    """The probability that a right word has a higher confidence than a wrong one, ties half."""
    _, places, counts = np.unique(confidence, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2  # the mean of equal ones
    n_right, n_wrong = right.sum(), (~right).sum()
    return float((ranks[places][right].sum() - n_right * (n_right + 1) / 2) / (n_right * n_wrong))


def entropy(confidence: np.ndarray, right: np.ndarray) -> float:
    """Bits a word that right and wrong take by the confidences."""
    probability = np.clip(confidence, LEAST, 1 - LEAST)
    return float(-np.log2(np.where(right, probability, 1 - probability)).mean())


def calibrated(confidence: np.ndarray, right: np.ndarray) -> Iterator[list[str]]:
    """A row for each range of confidences."""
    for one in calibration(confidence, right):
        share = f"{100 * one.right / one.words:.1f}" if one.words else ""
        yield [f"{one.least:g}", f"{one.words:,}", share, f"{100 * one.confidence:.1f}" if one.words else ""]


if __name__ == "__main__":
    main()
