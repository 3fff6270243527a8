"""The language model compared with KenLM: nanoseconds per query, equality of scores, and the cost of estimation.

    python -m benchmarks.speed.language_model DATA [--corpus ted --language en --order 4]

It estimates a model of DATA/CORPUS/train.LANGUAGE, then scores that whole text, and a held-out text. Rows: our kernel
on coded text (as in the decoder); then our Python functions and the kenlm package, sentence by sentence, from words to
numbers. Both look up the words; kenlm also splits the line; `full_scores` makes a tuple for each word.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import kenlm
import numpy as np

from benchmarks.measure import PHRASEBEAM, megabytes, run, table
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.query import score_word

TOLERANCE = 1e-6  # relative difference of the sum over a text: KenLM and we add in different orders


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpus", default="ted")
    parser.add_argument("--language", default="en")
    parser.add_argument("--held-out", default="devtest", help="name of the other text, without its language")
    parser.add_argument("--order", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    corpus = arguments.data / arguments.corpus
    texts = [corpus / f"{name}.{arguments.language}" for name in ("train", arguments.held_out)]
    with tempfile.TemporaryDirectory() as directory:
        model = Path(directory) / "lm.bin"
        estimate(texts[0], model, arguments.order, arguments.repeats)
        for text in texts:
            query(text, model, arguments.repeats)


def estimate(text: Path, model: Path, order: int, repeats: int) -> None:
    """Run build-lm and print its cost; the first run, which may compile kernels, is not counted."""
    command = [*PHRASEBEAM, "build-lm", "--text", f"{text}", "--order", f"{order}", "--output", f"{model}"]
    runs = [run(command) for _ in range(repeats + 1)][1:]
    n_words = len(text.read_text(encoding="utf-8").split())
    seconds = statistics.median(result.seconds for result in runs)
    peak = max(result.peak_bytes for result in runs)
    print(f"build-lm --order {order}: {n_words:,} words in {seconds:.2f} s, start-up included; peak {megabytes(peak)}")


def query(path: Path, model: Path, repeats: int) -> None:
    """Print nanoseconds per word for every way to score the text; the scores must agree."""
    lines = path.read_text(encoding="utf-8").splitlines()
    sentences = [line.split() for line in lines]
    n_words = sum(map(len, sentences)) + len(sentences)  # </s> counts as a word
    ours, theirs = LanguageModel.load(model), kenlm.Model(f"{model}")
    coded = code(ours, sentences)
    ways: dict[str, Callable[[], float]] = {
        "kernel, coded text": lambda: kernel_total(ours, *coded),
        "LanguageModel.score": lambda: sum(ours.score(words) for words in sentences),
        "kenlm score": lambda: sum(theirs.score(line) for line in lines),
        "LanguageModel.full_scores": lambda: sum(p for words in sentences for p, _, _ in ours.full_scores(words)),
        "kenlm full_scores": lambda: sum(p for line in lines for p, _, _ in theirs.full_scores(line)),
    }
    rows, totals = [[path.name, "ns per word", "log10 p of the text"]], []
    for name, way in ways.items():
        way()
        seconds = []
        for _ in range(repeats):
            begin = time.perf_counter()
            totals.append(way())
            seconds.append(time.perf_counter() - begin)
        rows.append([name, f"{statistics.median(seconds) / n_words * 1e9:.0f}", f"{totals[-1]:.3f}"])
    print(f"\n{table(rows)}")
    if max(totals) - min(totals) > TOLERANCE * abs(totals[0]):
        raise AssertionError("the scores differ")


def code(model: LanguageModel, sentences: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
    """int32[W]: LM ids of the text, including </s>; and int64[N + 1]: the positions where sentences begin."""
    ids = model.word_ids([word for words in sentences for word in (*words, "</s>")])
    return ids, np.cumsum([0, *(len(words) + 1 for words in sentences)])


def kernel_total(model: LanguageModel, ids: np.ndarray, offsets: np.ndarray) -> float:
    contexts, backoffs = np.zeros((2, model.order - 1), np.int32), np.zeros((2, model.order - 1), np.float32)
    first = model.begin_state()
    return float(_total(model.tables, ids, offsets, first, contexts, backoffs))


@kernel
def _total(tables, ids, offsets, first, contexts, backoffs):
    """log10 p of a coded text; `first` is the state after <s>."""
    first_context, first_backoffs, first_length = first
    total = 0.0
    for sentence in range(offsets.size - 1):
        for i in range(first_length):
            contexts[0, i], backoffs[0, i] = first_context[i], first_backoffs[i]
        length, row = first_length, 0
        for i in range(offsets[sentence], offsets[sentence + 1]):
            log10_prob, length, _ = score_word(
                tables, contexts[row], backoffs[row], length, ids[i], contexts[1 - row], backoffs[1 - row]
            )
            total += np.float64(log10_prob)
            row = 1 - row
    return total


if __name__ == "__main__":
    main()
