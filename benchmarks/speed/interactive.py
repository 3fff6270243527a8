"""Interactive translation, in which the machine completes what was typed: speed of answers, and typing saved.

    python -m benchmarks.speed.interactive DATA [--model MODEL] [--sentences N]

It simulates a translator who has the reference in mind, on test_2016_flickr of DATA/multi30k, German to English. First,
prefixes of the reference of fixed lengths are completed. Then the translator works from the first word on: accepts all
words up to the first wrong one, types the right word, and asks again. Weights are untuned and limits are the defaults
unless MODEL says otherwise; one thread.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import PHRASEBEAM, run, table
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder

LENGTHS = (0, 2, 5, 10)  # words typed


class Completion(NamedTuple):
    """One answer, and the milliseconds of processor time that it took."""

    translation: Translation
    milliseconds: float


def complete(decoder: Decoder, line: str, prefix: list[str]) -> Completion:
    start = time.process_time()
    translation = decoder.complete(line, " ".join(prefix))
    return Completion(translation, 1e3 * (time.process_time() - start))


def fixed_lengths(decoder: Decoder, pairs: list[tuple[str, list[str]]]) -> Iterator[list[str]]:
    """Rows of figures for prefixes of LENGTHS words."""
    for length in LENGTHS:
        longer = [(line, reference) for line, reference in pairs if len(reference) > length]
        answers = [complete(decoder, line, reference[:length]) for line, reference in longer]
        times = sorted(answer.milliseconds for answer in answers)
        n_made_up = sum(any(phrase.is_fallback for phrase in answer.translation.phrases) for answer in answers)
        n_right = 0
        for answer, (_, reference) in zip(answers, longer):
            words = answer.translation.text.split(" ")
            assert words[:length] == reference[:length]
            n_right += words[length : length + 1] == reference[length : length + 1]
        shares = f"{1 - n_made_up / len(longer):.1%}", f"{n_right / len(longer):.1%}"
        middle, slow = statistics.fmean(times), times[int(0.95 * len(times))]
        score = statistics.fmean(answer.translation.score for answer in answers)
        yield [str(length), str(len(longer)), f"{middle:.1f}", f"{slow:.1f}", *shares, f"{score:.3f}"]


def typing(decoder: Decoder, pairs: list[tuple[str, list[str]]]) -> list[str]:
    """Words typed per word of the references, answers per sentence, and their milliseconds."""
    n_typed, times = 0, []
    for line, reference in pairs:
        n_known = 0
        while True:
            answer = complete(decoder, line, reference[:n_known])
            times.append(answer.milliseconds)
            words = answer.translation.text.split(" ")
            while n_known < len(reference) and words[n_known : n_known + 1] == [reference[n_known]]:
                n_known += 1
            if n_known == len(reference):
                break
            n_known, n_typed = n_known + 1, n_typed + 1
    ratio = n_typed / sum(len(reference) for _, reference in pairs)
    slow = sorted(times)[int(0.95 * len(times))]
    return [f"{ratio:.1%}", f"{len(times) / len(pairs):.1f}", f"{statistics.fmean(times):.1f}", f"{slow:.1f}"]


def train(data: Path, directory: Path) -> Path:
    train, model = data / "multi30k" / "train", directory / "model"
    command = [*PHRASEBEAM, "train-model", "--source", f"{train}.de", "--target", f"{train}.en"]
    run([*command, "--alignment", f"{train}.align.de-en", "--output", f"{model}"])
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", type=Path, help="default: trained on DATA/multi30k")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--algorithm", choices=("stack", "cube"), default="stack")
    parser.add_argument("--stack", type=int, default=SearchSettings().stack)
    parser.add_argument("--beam-threshold", type=float, default=SearchSettings().beam_threshold)
    arguments = parser.parse_args()
    test = arguments.data / "multi30k" / "test_2016_flickr"
    lines, references = (Path(f"{test}.{language}").read_text("utf-8").splitlines() for language in ("de", "en"))
    pairs = [(line, text.split()) for line, text in zip(lines, references)][: arguments.sentences]
    with tempfile.TemporaryDirectory() as scratch:
        limits = {"stack": arguments.stack, "beam_threshold": arguments.beam_threshold}
        model = arguments.model or train(arguments.data, Path(scratch))
        decoder = Decoder.load(model, SearchSettings(algorithm=arguments.algorithm, **limits))
        for prefix in ("", "a zz"):  # compiles kernels
            decoder.complete(lines[0], prefix)
        heading = ["words typed", "sentences", "ms", "95 %", "without made-up words", "next word right", "score"]
        print(table([heading, *fixed_lengths(decoder, pairs)]), flush=True)
        print()
        print(table([["words typed per word", "answers per sentence", "ms", "95 %"], typing(decoder, pairs)]))


if __name__ == "__main__":
    main()
