"""A model of some sentences, tuned, its translations, a project: what a user does; run in an empty directory.

Translations and scores are printed. With the argument `poor` it fails on a system that has all.
"""

import sys
from pathlib import Path

import phrasebeam
from phrasebeam.base.side_by_side import run_side_by_side
from phrasebeam.engine.current_engine import LOCAL
from phrasebeam.system.forks import can_fork
from phrasebeam.system.locks import HAS_LOCKS
from phrasebeam.system.memory_use import resident_memory

if sys.argv[1:] == ["poor"] and (can_fork() or HAS_LOCKS or resident_memory() is not None):
    sys.exit("the system has what it should lack")
phrasebeam.demo_corpus(sentences=200, output="train")
phrasebeam.demo_corpus(sentences=10, seed=2, noise=0, output="dev")
for _ in range(2):  # the second one replaces the first
    phrasebeam.train_model("train.de", "train.en", "model", threads=2, force=True)
outcome = phrasebeam.tune(
    "model", "dev.de", "dev.en", "tuned", method="mert", iterations=1, nbest=20, threads=2, memory="1G"
)
print(outcome.gain)
decoder = phrasebeam.Decoder.load("tuned")
lines = Path("dev.de").read_text(encoding="utf-8").splitlines()
print(*(f"{one.text} {one.score}" for one in map(decoder.translate, lines)), sep="\n")
for _ in range(2):  # the second one reads what the first one wrote
    adapted = phrasebeam.AdaptedDecoder.load("tuned", journal="journal")
    adapted.confirm(lines[0].split(), ["the", "dog", "sleeps"])
    print(adapted.translate(lines[0]).text, len(adapted.segments))
    adapted.close()
phrasebeam.forced_decode("model", "dev.de", "dev.en", output="forced.jsonl", threads=2)
print(Path("forced.jsonl").read_text(encoding="utf-8"))
print(*run_side_by_side(lambda piece, advance: piece * 2, [1, 2, 3], 2, print))
print(*LOCAL.map(len, lines, 2, is_python=True))
print(sorted(path.name for path in Path().rglob("*unfinished")))
