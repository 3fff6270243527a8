"""Accuracy of normalizers on the historical texts of Bollmann (2019), compared with the figures in that paper.

    python -m benchmarks.normalization DATA [--sets slovene-bohoric ...] [--sizes 1000 5000] [--blocks 3] [--words DIR]

DATA has SET.train.tsv, SET.dev.tsv (word, tab, form) and modern.LANGUAGE.gz. Block i is the i-th part of `size` words,
counted from 0. A normalizer is trained on each block, and scored on the development set, from which nothing is learned.
Text is prepared as in the paper: lowercased, NFC, digits as 0, without lines of punctuation. DIR may have
modern.LANGUAGE.gz, with one word per line, for languages that DATA does not have. Runs that are in the file of results
are not made again. `--beside VARIANT` names other runs in that file; both are compared on the blocks that both have.
"""

import argparse
import csv
import re
import tempfile
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import ROOT, table
from phrasebeam.base.config import load_config
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.normalization.normalizer import Normalizer
from phrasebeam.training.normalization.normalizer_settings import NormalizerRecipe
from phrasebeam.training.normalization.train_normalizer import WordFiles, train_normalizer
from phrasebeam.training.normalization.word_pairs import Sentences

LANGUAGES = {
    "german-anselm": "de",
    "german-ridges": "de",
    "icelandic-icepahc": "is",
    "slovene-bohoric": "sl",
    "spanish-ps": "es",
    "swedish-gaw": "sv",
}
RESULTS = ROOT / "docs" / "experiments" / "results"
COLUMNS = "variant", "set", "words", "block", "accuracy", "by letters", "train s", "normalize s"
OTHERS = "Norma", "neural", "cSMTiser"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="+", choices=LANGUAGES, default=list(LANGUAGES))
    parser.add_argument("--sizes", nargs="+", type=int, default=[1000, 5000, 25000])
    parser.add_argument("--blocks", type=int, default=1)
    parser.add_argument("--words", type=Path, help="directory of further modern.LANGUAGE.gz")
    parser.add_argument("--recipe", type=Path, default=ROOT / "configs" / "recipe-normalize.yaml")
    parser.add_argument("--variant", default="recipe", help="what the runs are called in the results")
    parser.add_argument("--beside", help="another variant in the results, which is compared with this one")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS / "normalization.csv")
    given = parser.parse_args()
    for size in given.sizes:
        for block in range(given.blocks):
            for name in given.sets:
                _run(given, name, size, block)
    rows, name = _rows(given.results), "" if given.variant == "recipe" else f"-{given.variant}"
    tables = {f"{name}-compared": comparison(rows, given.variant)}
    if given.beside:
        tables[f"{name}-beside-{given.beside}"] = variants_compared(rows, given.beside, given.variant)
    for end, compared in tables.items():
        print(table(compared))
        path = given.results.with_name(f"{given.results.stem}{end}.csv")
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(compared)


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _run(given: argparse.Namespace, name: str, size: int, block: int) -> None:
    """Train on a block and score, unless the results have that, or the training data have no such block."""
    key = [given.variant, name, str(size), str(block)]
    if key in [[row[column] for column in COLUMNS[:4]] for row in _rows(given.results)]:
        return
    pairs = block_of(prepared(given.data / f"{name}.train.tsv"), size, block)
    if block and sum(map(len, pairs)) < size:
        return
    with tempfile.TemporaryDirectory() as directory:
        result = scored(given, Path(directory), name, pairs)
    is_new = not given.results.exists()
    with open(given.results, "a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        writer.writerow([*key, *result])
    print(*key, *result, flush=True)


def scored(given: argparse.Namespace, directory: Path, name: str, pairs: Sentences) -> list[str]:
    """Accuracy; accuracy of the letters model alone on held-out words; seconds for training and the development set."""
    table_of_pairs, words = directory / "pairs.tsv", directory / "words"
    lines = ["".join(f"{word}\t{form}\n" for word, form in sentence) for sentence in pairs]
    table_of_pairs.write_text("\n".join(lines), encoding="utf-8")
    lists = [folder / f"modern.{LANGUAGES[name]}.gz" for folder in (given.data, given.words) if folder]
    if known := next((path for path in lists if path.exists()), None):
        words.write_text("\n".join(_modern(known)), encoding="utf-8")
    settings = load_config(given.recipe, NormalizerRecipe).normalizer.model_copy(update={"threads": given.threads})
    files, output = WordFiles(table_of_pairs, words=words if known else None), directory / "normalizer"
    begin = time.perf_counter()
    description = train_normalizer(files, output, settings)
    trained = time.perf_counter()
    text = prepared(given.data / f"{name}.dev.tsv")
    found = Normalizer.load(output).normalize_all([[word for word, _ in one] for one in text], given.threads)
    end = time.perf_counter()
    right = [word.form == form for one, gold in zip(found, text) for word, (_, form) in zip(one, gold)]
    held_out = description.held_out
    letters = 100 * held_out.letters_right / max(1, held_out.words)
    return [
        f"{100 * sum(right) / len(right):.2f}",
        f"{letters:.2f}",
        f"{trained - begin:.1f}",
        f"{end - trained:.1f}",
    ]


def prepared(path: Path) -> Sentences:
    """The word pairs of a file as the paper prepares them."""
    sentences: Sentences = [[]]
    for line in read_lines(path):
        columns = [unicodedata.normalize("NFC", text).lower().strip() for text in line.split("\t")]
        if not line.strip():
            sentences.append([])
        elif len(columns) == 2 and not any(map(_is_punctuation, columns)):
            word, form = (text.replace(" ", "÷") for text in columns)
            if re.findall(r"\d", word) == re.findall(r"\d", form):
                word, form = re.sub(r"\d", "0", word), re.sub(r"\d", "0", form)
            sentences[-1].append((word, form))
    return [sentence for sentence in sentences if sentence]


def _is_punctuation(text: str) -> bool:
    return all(unicodedata.category(one)[0] in "PSZ" for one in text)


def _modern(path: Path) -> Iterator[str]:
    found = {unicodedata.normalize("NFC", line.strip()).lower() for line in read_lines(path)}
    yield from sorted(word for word in found if word and " " not in word and not _is_punctuation(word))


def block_of(sentences: Sentences, size: int, block: int) -> Sentences:
    """The `size` words from number block * size on; sentences may be divided."""
    found, at = [], 0
    for sentence in sentences:
        part = sentence[max(0, block * size - at) : max(0, (block + 1) * size - at)]
        found += [part] if part else []
        at += len(sentence)
    return found


def comparison(rows: list[dict[str, str]], variant: str) -> list[list[str]]:
    """Rows of means over blocks, compared with published figures; the last row is the mean of all differences."""
    published = {(row["set"], row["words"]): row for row in _rows(ROOT / "benchmarks" / "normalization_published.csv")}
    shown = [["set", "words", *OTHERS, "phrasebeam", "blocks", "to cSMTiser"]]
    gains = []
    for key, by_block in _accuracies(rows, variant).items():
        found, others = list(by_block.values()), published.get(key, {})
        mean = sum(found) / len(found)
        gain = mean - float(others["cSMTiser"]) if others.get("cSMTiser") else None
        gains += [] if gain is None else [gain]
        difference = "" if gain is None else f"{gain:+.2f}"
        values = [others.get(system, "") for system in OTHERS]
        shown.append([*key, *values, f"{mean:.2f}", str(len(found)), difference])
    mean = f"{sum(gains) / len(gains):+.2f}" if gains else ""
    return [*shown, ["all", "", "", "", "", "", "", mean]]


def variants_compared(rows: list[dict[str, str]], first: str, second: str) -> list[list[str]]:
    """Rows of means of two variants over the blocks that both have; the last row is the mean of all differences."""
    shown, gains = [["set", "words", first, second, "blocks", "difference"]], list[float]()
    others = _accuracies(rows, first)
    for key, found in _accuracies(rows, second).items():
        if blocks := sorted(found.keys() & others.get(key, {}).keys()):
            means = [sum(one[block] for block in blocks) / len(blocks) for one in (others[key], found)]
            gains.append(means[1] - means[0])
            shown.append([*key, *(f"{mean:.2f}" for mean in means), str(len(blocks)), f"{gains[-1]:+.2f}"])
    mean = f"{sum(gains) / len(gains):+.2f}" if gains else ""
    return [*shown, ["all", "", "", "", "", mean]]


def _accuracies(rows: list[dict[str, str]], variant: str) -> dict[tuple[str, str], dict[str, float]]:
    """The accuracy of each block, by set and number of words, ordered by number of words."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in sorted(rows, key=lambda row: (int(row["words"]), row["set"])):
        if row["variant"] == variant:
            found.setdefault((row["set"], row["words"]), {})[row["block"]] = float(row["accuracy"])
    return found


if __name__ == "__main__":
    main()
