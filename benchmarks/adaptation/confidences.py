"""How reliable the confidences of words are: the number of words by confidence, and how many of them are right.

    python -m benchmarks.adaptation.confidences --model DIR --source FILE --target FILE [--scale 0.5 1 2] [--csv FILE]

Both files are tokenized, with one sentence per line. --scale: factors for the scores. A word of the best derivation is
right if a Levenshtein alignment with the reference matches it. AUC is the probability that a right word has a higher
confidence than a wrong one; a tie counts half. Bits are the cross-entropy per word of right and wrong under the
confidences; the lowest is the best. In the row "word translation" the confidence of a word is the largest p(word |
source word) within its phrase, by the model's word links, as in sil-machine's Thot (Ueffing & Ney 2007, section 4.4).
The last row is the geometric mean of that and of the posterior with the default scale. --csv writes both tables, the
second as FILE-calibration.csv.
"""

import argparse
import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein

from benchmarks.measure import table
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.adaptation.static_counts import StaticCounts
from phrasebeam.decoder.model_alignment.word_translation import counts_of
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.output.word_confidence import ConfidenceSettings
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.normalization.held_out_words import calibration

SCALES = 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0
LEAST = 1e-4  # lower bound on probabilities, so that no word costs more than some bits
POSTERIOR, TRANSLATIONS = "posterior, scale {:g}", "word translation"
BOTH = f"posterior {ConfidenceSettings().scale:g} and {TRANSLATIONS}"
Rows = list[list[str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--scale", type=float, nargs="+", default=SCALES)
    parser.add_argument("--lines", type=int)
    parser.add_argument("--csv", type=Path)
    given = parser.parse_args()
    sources, references = (list(islice(read_lines(path), given.lines)) for path in (given.source, given.target))
    right, found = words_of(Decoder.load(given.model), sources, references, given.scale)
    quality: Rows = [["confidence", "AUC", "cross-entropy, bits", "mean confidence, %", "words right, %"]]
    bins: Rows = [["confidence", "at least", "words", "words right, %", "mean confidence, %"]]
    for name, confidence in found.items():
        shares = f"{100 * confidence.mean():.1f}", f"{100 * right.mean():.1f}"
        quality.append([name, f"{area(confidence, right):.3f}", f"{entropy(confidence, right):.3f}", *shares])
        bins += [[name, *row] for row in calibrated(confidence, right)]
    for path, rows in (
        (given.csv, quality),
        (given.csv and Path(f"{given.csv.with_suffix('')}-calibration.csv"), bins),
    ):
        print(table(rows))
        if path:
            with path.open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)


def words_of(
    decoder: Decoder, sources: Sequence[str], references: Sequence[str], scales: Sequence[float]
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Whether each word of the best derivations is right (bool[W]), and for each scale its confidences (float64[W])."""
    right, found = list[bool](), {name: list[float]() for name in [*map(POSTERIOR.format, scales), TRANSLATIONS]}
    static = StaticCounts(decoder.model, AdaptationSettings().prior_count)
    for source, reference in zip(sources, references):
        with decoder.searcher.search(decoder.search_input(source)) as result:
            for scale in scales:
                best = result.best(ConfidenceSettings(scale=scale))
                found[POSTERIOR.format(scale)] += best.confidences
        found[TRANSLATIONS] += likeliest(static, source.split(), best)
        right += matched(best.text.split(), reference.split())
    confidences = {name: np.array(values) for name, values in found.items()}
    posterior = confidences.get(POSTERIOR.format(ConfidenceSettings().scale), np.zeros(len(right)))
    return np.array(right), confidences | {BOTH: np.sqrt(posterior * confidences[TRANSLATIONS])}


def likeliest(static: StaticCounts, source: Sequence[str], translation: Translation) -> Iterator[float]:
    """For each word the largest p(word | source word) over the source words of its phrase."""
    words, model = static.words, static.model
    ids = model.source.ids(source, missing=len(model.source))
    for phrase in translation.phrases:
        begin, end = phrase.source_span
        target = model.target.ids(phrase.target.split(), missing=len(model.target))
        shares = words.link_counts(ids[begin:end], target).T / np.maximum(
            counts_of(words.source_counts, ids[begin:end]), 1.0
        )
        yield from shares.max(axis=1, initial=0.0).tolist()


def matched(words: Sequence[str], reference: Sequence[str]) -> list[bool]:
    """For each word whether a Levenshtein alignment with the reference matches it."""
    is_matched = [False] * len(words)
    for part in Levenshtein.opcodes(words, reference):
        if part.tag == "equal":
            is_matched[part.src_start : part.src_end] = [True] * (part.src_end - part.src_start)
    return is_matched


def area(confidence: np.ndarray, right: np.ndarray) -> float:
    """The probability that a right word has a higher confidence than a wrong one; a tie counts half."""
    _, places, counts = np.unique(confidence, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2  # equal confidences get the mean of their ranks
    n_right, n_wrong = right.sum(), (~right).sum()
    return float((ranks[places][right].sum() - n_right * (n_right + 1) / 2) / (n_right * n_wrong))


def entropy(confidence: np.ndarray, right: np.ndarray) -> float:
    """The cross-entropy of right and wrong under the confidences, in bits per word."""
    probability = np.clip(confidence, LEAST, 1 - LEAST)
    return float(-np.log2(np.where(right, probability, 1 - probability)).mean())


def calibrated(confidence: np.ndarray, right: np.ndarray) -> Iterator[list[str]]:
    """A row for each range of confidences."""
    for one in calibration(confidence, right):
        share = f"{100 * one.right / one.words:.1f}" if one.words else ""
        yield [f"{one.least:g}", str(one.words), share, f"{100 * one.confidence:.1f}" if one.words else ""]


if __name__ == "__main__":
    main()
