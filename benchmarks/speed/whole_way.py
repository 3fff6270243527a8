"""The whole way from parallel text to BLEU by commands that a user types: seconds, memory, words per second, quality.

    python -m benchmarks.speed.whole_way DATA [--corpus multi30k ted tanaka] [--alignment given] [--output DIRECTORY]

DATA/CORPUS has tokenized text as `train.de`, `train.en` and so on, and `train.align.de-en` for `--alignment given`.
Kernels are compiled before anything is measured. Translation uses untuned weights and stack 100; words per second do
not include the time of a run on the first sentence alone.
"""

import argparse
import json
import re
import shutil
import statistics
import tempfile
from pathlib import Path

from benchmarks.corpora import CORPORA, Files, head, prepare
from benchmarks.measure import PHRASEBEAM, Run, directory_bytes, megabytes, run, table

STAGE = re.compile(r"^(.+): (?:\d+ [a-z -]+, )?(\d+\.\d) s$", re.M)
STACK = "100"
WARM_UP = 200  # sentence pairs
DISTURBING = 0.15  # processors that other programs keep busy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpus", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--alignment", choices=("own", "given"), default="own", help="of our aligner, or of DATA")
    parser.add_argument("--output", type=Path, help="directory for models and translations; default: they are deleted")
    parser.add_argument("--repeats", type=int, default=1, help="of each translation; the median counts")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        output = arguments.output or Path(scratch)
        columns, signatures = [], set()
        for name in arguments.corpus:
            directory = output / f"{name}.{arguments.alignment}"
            directory.mkdir(parents=True, exist_ok=True)
            files = prepare(arguments.data / name, CORPORA[name], directory)
            warm_up(files, directory)
            column, signature = measure(files, directory, arguments.alignment == "given", arguments.repeats)
            columns.append({"": name} | column)
            signatures.add(signature)
            print(table([list(pair) for pair in columns[-1].items()]), flush=True)
    labels = list(dict.fromkeys(label for column in columns for label in column))
    if len(columns) > 1:
        print()
        print(table([[label, *(column.get(label, "") for column in columns)] for label in labels]))
    print()
    print("\n".join(sorted(signatures)))


def warm_up(files: Files, directory: Path) -> None:
    """Compile all kernels by training and translating a little."""
    source, target = (head(path, WARM_UP, directory) for path in (files.source, files.target))
    run([*PHRASEBEAM, "train-model", "--source", f"{source}", "--target", f"{target}", "--output", f"{directory}/warm"])
    run([*PHRASEBEAM, "translate", "--model", f"{directory}/warm"], stdin=head(files.test_source, 1, directory))
    shutil.rmtree(directory / "warm")


def measure(files: Files, directory: Path, alignment_given: bool, repeats: int) -> tuple[dict[str, str], str]:
    """The figures, by name, and sacrebleu's signature."""
    model = directory / "model"
    command = [*PHRASEBEAM, "train-model", "--source", f"{files.source}", "--target", f"{files.target}"]
    command += ["--alignment", f"{files.alignment}"] if alignment_given else []
    trained = run([*command, "--output", f"{model}"])
    figures = {"train-model": f"{trained.seconds:.1f} s{disturbance([trained])}"}
    stages = [(name, float(seconds)) for name, seconds in STAGE.findall(trained.messages)]
    stages.append(("the rest", trained.seconds - sum(seconds for _, seconds in stages)))
    figures |= {f"- {name}": f"{seconds:.1f} s" for name, seconds in stages}
    figures["- peak memory"] = megabytes(trained.peak_bytes)
    figures["- model on disk"] = megabytes(directory_bytes(model))
    figures |= measure_translation(files, model, directory, repeats)
    command = [*PHRASEBEAM, "evaluate", "--hypothesis", f"{directory}/output", "--reference", f"{files.test_target}"]
    command += ["--metric", "bleu", "--tokenize", "none", "--lowercase", "--width", "2", "--json"]
    evaluation = json.loads(run(command).output)
    figures["BLEU"] = f"{evaluation['systems'][0]['BLEU']['score']:.2f}"
    return figures, f"BLEU|{evaluation['signatures']['BLEU']}"


def measure_translation(files: Files, model: Path, directory: Path, repeats: int) -> dict[str, str]:
    """Speed, memory and average model score; writes the translations to directory/output."""
    first, n_words = head(files.test_source, 1, directory), len(files.test_source.read_text().split())
    n_words -= len(first.read_text().split())
    figures, outputs = {}, set()
    for threads in (1, 2):
        start_up, whole = (
            [translate(model, text, threads) for _ in range(max(n, repeats))]
            for text, n in ((first, 3), (files.test_source, 1))
        )
        seconds = median(whole, "seconds") - median(start_up, "seconds")
        processor = median(whole, "processor_seconds") - median(start_up, "processor_seconds")
        if threads == 1:
            figures["translate: one sentence, start-up included"] = f"{median(start_up, 'seconds'):.2f} s"
        name = f"- {threads} thread{'s'[: threads - 1]}"
        figures[name] = f"{n_words / seconds:,.0f} words/s{disturbance(whole)}"
        figures[f"{name}, per processor second"] = f"{n_words / processor:,.0f} words"
        figures[f"{name}, peak memory"] = megabytes(median(whole, "peak_bytes"))
        outputs |= {result.output for result in whole}
    if len(outputs) > 1:
        raise AssertionError("translations depend on the number of threads")
    lines = [line.split(" ||| ") for line in outputs.pop().splitlines()]
    (directory / "output").write_text("".join(f"{line[0]}\n" for line in lines))
    figures["- average model score"] = f"{statistics.fmean(float(line[-1]) for line in lines):.4f}"
    return figures


def translate(model: Path, text: Path, threads: int) -> Run:
    command = [*PHRASEBEAM, "translate", "--model", f"{model}", "--stack", STACK, "--threads", f"{threads}", "--scores"]
    return run(command, stdin=text)


def disturbance(runs: list[Run]) -> str:
    """A remark for figures measured while other programs were at work."""
    others = median(runs, "others")
    return f" ({others:.1f} processors busy with other programs)" if others > DISTURBING else ""


def median(runs: list[Run], field: str) -> float:
    return statistics.median(getattr(result, field) for result in runs)


if __name__ == "__main__":
    main()
