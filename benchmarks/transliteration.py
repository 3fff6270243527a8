"""Word error rates of pronunciations by the recipe `normalize`, compared with the baseline of SIGMORPHON 2021.

    python -m benchmarks.transliteration DIR [--languages ady gre ...] [--threads 1]

DIR has the files of task 1's low-resource subtask (data/low of its repository), LANGUAGE_train.tsv, LANGUAGE_dev.tsv
and LANGUAGE_test.tsv, with lines of a word, a tab, and its sounds separated by spaces. A normalizer is trained on the
800 words of each language, and on nothing else. Languages that are in the file of results are not trained again.
"""

import argparse
import csv
import tempfile
import time
from pathlib import Path

from benchmarks.measure import ROOT, table
from phrasebeam.base.config import load_config
from phrasebeam.decoder.normalization.normalizer import Normalizer
from phrasebeam.training.normalization.normalizer_settings import NormalizerRecipe
from phrasebeam.training.normalization.train_normalizer import WordFiles, train_normalizer
from phrasebeam.training.normalization.word_pairs import read_word_pairs

# Error rates of the baseline, a neural transducer trained by imitation, from the task's page: development set, test set
BASELINE = {
    "ady": (22, 22),
    "gre": (5, 21),
    "ice": (11, 12),
    "ita": (22, 19),
    "khm": (34, 34),
    "lav": (41, 55),
    "mlt_latn": (20, 19),
    "rum": (10, 10),
    "slv": (43, 49),
    "wel_sw": (16, 10),
}
RESULTS = ROOT / "docs" / "experiments" / "results" / "transliteration.csv"
COLUMNS = "language", "baseline dev", "dev", "baseline test", "test", "seconds"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--languages", nargs="+", choices=BASELINE, default=list(BASELINE))
    parser.add_argument("--recipe", type=Path, default=ROOT / "configs" / "recipe-normalize.yaml")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    for language in given.languages:
        if language not in _rows(given.results):
            _run(given, language)
    print(table([list(COLUMNS), *_rows(given.results).values()]))


def _rows(path: Path) -> dict[str, list[str]]:
    """The rows of results by language, without the row of means."""
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {row[0]: row for row in list(csv.reader(file))[1:] if row[0] in BASELINE}


def _run(given: argparse.Namespace, language: str) -> None:
    """Train on a language and score; write the results with those of all other languages, and the means."""
    settings = load_config(given.recipe, NormalizerRecipe).normalizer.model_copy(update={"threads": given.threads})
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory) / "normalizer"
        train_normalizer(WordFiles(given.data / f"{language}_train.tsv"), output, settings)
        normalizer = Normalizer.load(output)
        rates = [error_rate(normalizer, given.data / f"{language}_{part}.tsv") for part in ("dev", "test")]
    (dev, test), seconds = BASELINE[language], time.perf_counter() - begin
    rows = _rows(given.results)
    rows[language] = [language, str(dev), f"{rates[0]:.0f}", str(test), f"{rates[1]:.0f}", f"{seconds:.1f}"]
    means = [f"{sum(float(row[i]) for row in rows.values()) / len(rows):.1f}" for i in range(1, len(COLUMNS))]
    with open(given.results, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows.values(), ["mean", *means]])
    print(*rows[language], flush=True)


def error_rate(normalizer: Normalizer, path: Path) -> float:
    """The percentage of the words of a file that are wrong."""
    pairs = [pair for sentence in read_word_pairs(path) for pair in sentence]
    found = normalizer.normalize_all([word] for word, _ in pairs)
    return 100 * sum(one.form != form for (one,), (_, form) in zip(found, pairs)) / len(pairs)


if __name__ == "__main__":
    main()
