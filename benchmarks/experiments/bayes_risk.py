"""The gain in BLEU by minimum Bayes risk, by size of the list and scale of the scores, and what it costs.

    python -m benchmarks.experiments.bayes_risk MODEL SOURCE REFERENCE [--algorithm cube]

BLEU is sacrebleu's, on tokenized lowercased text. Speed is source words per processor second of one thread, without
loading and compilation.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.measure import table
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.output.mbr import MbrSettings, TargetTexts, choose
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.metrics.evaluation import EvaluationOptions, evaluate_texts

SIZES = (50, 200)
SCALES = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--algorithm", choices=("stack", "cube"), default="stack")
    arguments = parser.parse_args()
    decoder = Decoder.load(arguments.model, SearchSettings(algorithm=arguments.algorithm))
    lines, reference = list(read_lines(arguments.source)), list(read_lines(arguments.reference))
    measure_speed(decoder.mbr, lines[:3])  # compiles the kernels
    best, speed = measure_speed(decoder.translate, lines)
    _, mbr_speed = measure_speed(decoder.mbr, lines)
    print(f"best derivation: BLEU {bleu(best, reference):.2f}, {speed:,.0f} words/s; mbr: {mbr_speed:,.0f} words/s\n")
    lists = [decoder.nbest(line, max(SIZES), distinct=True) for line in lines]
    rows = [["scale", *(f"size {size}" for size in SIZES)]]
    for scale in SCALES:
        chosen = [[choice(some, MbrSettings(size=size, scale=scale)) for some in lists] for size in SIZES]
        rows.append([f"{scale:g}", *(f"{bleu(translations, reference):.2f}" for translations in chosen)])
    print(table(rows))


def measure_speed(translate: Callable[[str], Translation], lines: list[str]) -> tuple[list[Translation], float]:
    """Translations of the lines, and words per processor second."""
    start = time.process_time()
    translations = [translate(line) for line in lines]
    return translations, sum(len(line.split()) for line in lines) / (time.process_time() - start)


def choice(translations: list[Translation], settings: MbrSettings) -> Translation:
    """The translation of minimum risk among the first of a list."""
    some = translations[: settings.size]
    ids: dict[str, int] = {}
    words = [[ids.setdefault(word, len(ids)) for word in item.text.split()] for item in some]
    flat = np.array([word for text in words for word in text], np.int32)
    texts = TargetTexts(flat, np.cumsum([0, *map(len, words)]))
    return some[choose(texts, np.array([item.score for item in some]), settings)]


def bleu(translations: list[Translation], reference: list[str]) -> float:
    options = EvaluationOptions(tokenize="none", lowercase=True)
    return evaluate_texts({"": [item.text for item in translations]}, [reference], options).results["BLEU"][0].score


if __name__ == "__main__":
    main()
