"""The time until work begins: compilation of all kernels, imports, loading, the first translation.

    python -m benchmarks.speed.start_up [--model MODEL] [--sentence "..."] [--repeats 3]

Compilation: every command that has kernels runs on a little of the demo's corpus, with an empty kernel cache and then
again; the difference is the compilation. Start: the command `translate` on one sentence, until its first line; then the
same in Python, step by step. Figures are medians.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import PHRASEBEAM, ROOT, checkout_environment, run, table

KERNEL = re.compile(r"^@\w*kernel$", re.M)
CODE = "phrasebeam/kernels", "lm", "decoder", "training"
SENTENCES = 300
SENTENCE = "der hund schläft im garten ."  # a sentence of the demo's grammar
STEPS = """
import json, sys, time
begin = time.perf_counter()
from phrasebeam.decoder.translate.translator import Decoder
imported = time.perf_counter()
decoder = Decoder.load(sys.argv[1])
loaded = time.perf_counter()
decoder.translate(sys.argv[2])
first = time.perf_counter()
decoder.translate(sys.argv[2])
second = time.perf_counter()
print(json.dumps([imported - begin, loaded - imported, first - loaded, second - first]))
"""
SCORE = "import sys; from phrasebeam import LanguageModel; LanguageModel.load(sys.argv[1]).score(['garden'])"
STEP_NAMES = (
    "import of the decoder",
    "Decoder.load",
    "first translation, kernels from the cache",
    "second",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, help="model directory; default: one of the demo's corpus")
    parser.add_argument("--sentence", default=SENTENCE)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        corpus = [*PHRASEBEAM, "demo-corpus", "--sentences", f"{SENTENCES}", "--output", f"{directory}/train"]
        run([*corpus, "--noise", "0"])
        compilation(directory, arguments.repeats)
        print()
        start(arguments.model or directory / "model", arguments.sentence, arguments.repeats, cache(directory))


def cache(directory: Path) -> dict[str, str]:
    return {"PHRASEBEAM_CACHE": f"{directory / 'cache'}"}


def compilation(directory: Path, repeats: int) -> None:
    """Print the seconds of each command with and without compilation, and their sums."""
    cold: list[dict[str, float]] = []
    warm: list[dict[str, float]] = []
    for i in range(repeats):
        environment = {"PHRASEBEAM_CACHE": f"{directory / f'cache.{i}'}"}
        cold.append(seconds_of_commands(directory, environment))
        warm.append(seconds_of_commands(directory, environment))
    (directory / f"cache.{repeats - 1}").rename(directory / "cache")
    rows = [["command", "empty cache", "again", "compilation"]]
    for name in [*cold[0], "all"]:
        a, b = (
            statistics.median(seconds[name] if name != "all" else sum(seconds.values()) for seconds in runs)
            for runs in (cold, warm)
        )
        rows.append([name, f"{a:.1f} s", f"{b:.1f} s", f"{a - b:.1f} s"])
    print(table(rows))
    compiled = len(list((directory / "cache").rglob("*.kernel")))
    sources = [path for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    kernels = sum(len(KERNEL.findall(path.read_text(encoding="utf-8"))) for path in sources)
    print(f"\n{compiled} of {kernels} kernels were called, and so compiled.")


def seconds_of_commands(directory: Path, environment: dict[str, str]) -> dict[str, float]:
    """Wall seconds of each command."""
    source, target, model = (f"{directory / name}" for name in ("train.de", "train.en", "model"))
    train = [*PHRASEBEAM, "train-model", "--source", source, "--target", target, "--output"]
    given = [f"{directory / 'given'}", "--alignment", f"{model}/alignment"]
    arpa = f"{directory / 'lm.arpa'}"
    commands = {
        "train-model": [*train, model],
        "train-model --alignment": [*train, *given],
        "build-lm": [*PHRASEBEAM, "build-lm", "--text", target, "--output", arpa],
        "LanguageModel.score": [sys.executable, "-c", SCORE, arpa],
        "translate": [*PHRASEBEAM, "translate", "--model", model],
    }
    return {name: run(command, Path(source), environment).seconds for name, command in commands.items()}


def start(model: Path, sentence: str, repeats: int, environment: dict[str, str]) -> None:
    """Print the seconds until the first line of `translate`, and of each step in Python."""
    seconds_to_first_line(model, sentence, environment)  # reads the files, and kernels for this model's types, once
    first_line = statistics.median(seconds_to_first_line(model, sentence, environment) for _ in range(repeats))
    bare = statistics.median(run([sys.executable, "-c", "pass"]).seconds for _ in range(repeats))
    command = [sys.executable, "-c", STEPS, f"{model}", sentence]
    steps = zip(*(json.loads(run(command, environment=environment).output) for _ in range(repeats)))
    rows = [["step", "seconds"], ["`translate`, process start to first line", f"{first_line:.2f}"]]
    rows.append(["Python alone", f"{bare:.3f}"])
    rows += [[name, f"{statistics.median(seconds):.3f}"] for name, seconds in zip(STEP_NAMES, steps)]
    print(table(rows))


def seconds_to_first_line(model: Path, sentence: str, environment: dict[str, str]) -> float:
    command = [*PHRASEBEAM, "translate", "--model", f"{model}"]
    begin = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=checkout_environment(environment)
    ) as process:
        process.stdin.write(f"{sentence}\n".encode())
        process.stdin.flush()  # and stays open, as at a terminal
        line = process.stdout.readline()
        seconds = time.perf_counter() - begin
        process.stdin.close()
    if not line:
        sys.exit(f"{' '.join(command)}: printed nothing")
    return seconds


if __name__ == "__main__":
    main()
