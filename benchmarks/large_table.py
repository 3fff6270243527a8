"""A phrase table of many million pairs: how it is built, opened and decoded with, in which time and which memory.

    python benchmarks/large_table.py --pairs 50_000_000 --directory DIR [--text] [--memory 4G]

The table is synthetic (benchmarks/synthetic_table.py): a million words on either side, log-uniform as Zipf's law has
them, source phrases of 1 to 5 words, lexicalized reordering. It is written in pieces by the writer that train-model
uses; with --text as Moses' text tables, which import-moses reads. Sentences are strings of source phrases from all over
the table, so that many of its pages are touched. DIR keeps the model, and a second run takes it as it is.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from measure import PHRASEBEAM, ROOT, checkout_environment, directory_bytes, megabytes, run, table
from synthetic_table import N_WORDS, write_sentences, write_target_text, write_text_model

SENTENCES = 1000
OPEN = """
import json, sys, time
from decoder.translator import Decoder
begin = time.perf_counter()
decoder = Decoder.load(sys.argv[1])
loaded = time.perf_counter()
lines = open(sys.argv[2], encoding="utf-8").read().splitlines()
decoder.translate(lines[0])
first = time.perf_counter()
for line in lines[1:]:
    decoder.translate(line)
seconds = time.perf_counter() - first
fields = [line.split() for line in open("/proc/self/smaps_rollup") if line.endswith("kB\\n")]
sizes = {field[0].rstrip(":"): int(field[1]) * 1024 for field in fields}
words = sum(len(line.split()) for line in lines[1:])
print(json.dumps([loaded - begin, first - loaded, words / seconds, sizes["Rss"], sizes["Anonymous"]]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5_000_000)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--text", action="store_true", help="write Moses' text tables, and time import-moses")
    parser.add_argument("--memory", default="4G", help="bound given to the building")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    model = arguments.directory / "model"
    if not model.exists():
        build(arguments, model)
    sentences = arguments.directory / "sentences"
    write_sentences(model, SENTENCES, arguments.seed, sentences)
    print(f"{arguments.pairs:,} pairs, {N_WORDS:,} words a side, {megabytes(directory_bytes(model))} on disk\n")
    decode(model, sentences)


def build(arguments: argparse.Namespace, model: Path) -> None:
    """Make the model, and print what that took."""
    language_model = arguments.directory / "lm.bin"
    text = arguments.directory / "text"
    write_target_text(text, arguments.seed)
    run([*PHRASEBEAM, "build-lm", "--text", f"{text}", "--order", "3", "--output", f"{language_model}"])
    if arguments.text:
        begin = time.perf_counter()
        ini = write_text_model(arguments.directory, arguments.pairs, arguments.seed, language_model)
        print(f"writing the text tables: {time.perf_counter() - begin:.0f} s")
        command = [*PHRASEBEAM, "import-moses", f"{ini}", "--output", f"{model}", "--memory", arguments.memory]
    else:
        command = [sys.executable, f"{ROOT / 'benchmarks' / 'synthetic_table.py'}", f"{arguments.pairs}"]
        command += [f"{arguments.seed}", f"{language_model}", f"{model}", arguments.memory]
    building = run(command)
    name = "import-moses" if arguments.text else "writer, generating included"
    print(f"{name}, --memory {arguments.memory}: {building.seconds:.0f} s, peak {megabytes(building.peak_bytes)}\n")
    print("\n".join(f"    {line}" for line in building.messages.splitlines()))


def decode(model: Path, sentences: Path) -> None:
    """Print the seconds of opening, words per second, and memory, from the disk and then from the system's cache."""
    rows = [["", "opening", "first sentence", "words/s", "resident", "of it not mapped from files"]]
    for name in ("files on disk", "files in the system's cache"):
        if name == "files on disk":
            forget(model)
        opened, first, speed, resident, anonymous = opened_and_decoded(model, sentences)
        sizes = megabytes(resident), megabytes(anonymous)
        rows.append([name, f"{opened:.2f} s", f"{first:.2f} s", f"{speed:,.0f}", *sizes])
    print(table(rows))
    print()
    rows = [["`translate`", "words/s, start-up included", "peak resident"]]
    n_words = len(sentences.read_text(encoding="utf-8").split())
    for threads in (1, 2):
        translated = run([*PHRASEBEAM, "translate", "--model", f"{model}", "--threads", f"{threads}"], sentences)
        speed = n_words / translated.seconds
        rows.append([f"--threads {threads}", f"{speed:,.0f}", megabytes(translated.peak_bytes)])
    print(table(rows))


def opened_and_decoded(model: Path, sentences: Path) -> list[float]:
    command = [sys.executable, "-c", OPEN, f"{model}", f"{sentences}"]
    process = subprocess.run(command, env=checkout_environment(), check=True, stdout=subprocess.PIPE)
    numbers: list[float] = json.loads(process.stdout)
    return numbers


def forget(directory: Path) -> None:
    """Ask the system to drop the files from its cache, so that they are read from the disk."""
    os.sync()
    for path in directory.rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


if __name__ == "__main__":
    if not shutil.which("true") or not Path("/proc/self/smaps_rollup").exists():
        sys.exit("large_table.py reads /proc, which only Linux has")
    main()
