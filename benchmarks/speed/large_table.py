"""A phrase table with many million pairs: time and memory to build it, to open it, and to decode with it.

    python -m benchmarks.speed.large_table --pairs 50_000_000 --directory DIR [--text] [--memory 4G]

The table is synthetic (synthetic_table.py): a million words on either side, log-uniform as in Zipf's law; source
phrases of 1 to 5 words; lexicalized reordering. It is written in pieces by the writer that train-model uses, or with
--text as Moses' text tables, which import-moses reads. Sentences are strings of source phrases from the whole table, so
that many of its pages are read. DIR keeps the model, which a second run uses again.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import PHRASEBEAM, checkout_environment, directory_bytes, megabytes, run, table
from benchmarks.speed.synthetic_table import N_WORDS, write_sentences, write_target_text

SENTENCES = 1000
OPEN = """
import json, sys, time
from phrasebeam.base.memory_bound import keep_memory
from phrasebeam.decoder.translate.translator import Decoder
def clocks():
    return time.perf_counter(), time.process_time()
begin = clocks()
keep_memory(2 << 30)
decoder = Decoder.load(sys.argv[1])
loaded = clocks()
lines = open(sys.argv[2], encoding="utf-8").read().splitlines()
decoder.translate(lines[0])
first = clocks()
for line in lines[1:]:
    decoder.translate(line)
last = clocks()
fields = [line.split() for line in open("/proc/self/smaps_rollup") if line.endswith("kB\\n")]
sizes = {field[0].rstrip(":"): int(field[1]) * 1024 for field in fields}
words = sum(len(line.split()) for line in lines[1:])
spans = [[b - a for a, b in zip(*pair)] for pair in ((begin, loaded), (loaded, first), (first, last))]
print(json.dumps({"spans": spans, "words": words, "resident": sizes["Rss"], "anonymous": sizes["Anonymous"]}))
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
    """Make the model, and print the cost."""
    language_model = arguments.directory / "lm.bin"
    text = arguments.directory / "text"
    write_target_text(text, arguments.seed)
    run([*PHRASEBEAM, "build-lm", "--text", f"{text}", "--order", "3", "--output", f"{language_model}"])
    # In separate processes: the memory of this process would count as theirs.
    generate = [sys.executable, "-m", "benchmarks.speed.synthetic_table", f"{arguments.pairs}"]
    generate += [f"{arguments.seed}", f"{language_model}"]
    if arguments.text:
        seconds = run([*generate, f"{arguments.directory}", "text"]).seconds
        print(f"writing the text tables: {seconds:.0f} s")
        command = [*PHRASEBEAM, "import-moses", f"{arguments.directory / 'moses.ini'}"]
        command += ["--output", f"{model}", "--memory", arguments.memory]
    else:
        command = [*generate, f"{model}", arguments.memory]
    building = run(command)
    name = "import-moses" if arguments.text else "writer, generating included"
    seconds = f"{building.seconds:.0f} s (processor {building.processor_seconds:.0f} s)"
    print(f"{name}, --memory {arguments.memory}: {seconds}, peak {megabytes(building.peak_bytes)}\n")
    print("\n".join(f"    {line}" for line in building.messages.splitlines()))


def decode(model: Path, sentences: Path) -> None:
    """Print opening time, speed and memory, first with the model on disk, then in the system's cache.

    Processor seconds are in brackets.
    """
    rows = [["", "opening", "first sentence", "words/s", "resident at the end", "of it not mapped from files"]]
    for name in ("files on disk", "files in the system's cache"):
        if name == "files on disk":
            forget(model)
        found = opened_and_decoded(model, sentences)
        opening, first = (f"{wall:.2f} s ({processor:.2f})" for wall, processor in found["spans"][:2])
        speeds = "{:,.0f} ({:,.0f})".format(*(found["words"] / seconds for seconds in found["spans"][2]))
        rows.append([name, opening, first, speeds, megabytes(found["resident"]), megabytes(found["anonymous"])])
    print(table(rows))
    print()
    rows = [["`translate`, start-up included", "words/s", "per processor second", "peak resident", "others busy"]]
    n_words = len(sentences.read_text(encoding="utf-8").split())
    for threads in (1, 2):
        found = run([*PHRASEBEAM, "translate", "--model", f"{model}", "--threads", f"{threads}"], sentences)
        speeds = (f"{n_words / seconds:,.0f}" for seconds in (found.seconds, found.processor_seconds))
        rows.append([f"--threads {threads}", *speeds, megabytes(found.peak_bytes), f"{found.others:.1f}"])
    print(table(rows))


def opened_and_decoded(model: Path, sentences: Path) -> dict:
    command = [sys.executable, "-c", OPEN, f"{model}", f"{sentences}"]
    process = subprocess.run(command, env=checkout_environment(), check=True, stdout=subprocess.PIPE)
    return json.loads(process.stdout)


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
