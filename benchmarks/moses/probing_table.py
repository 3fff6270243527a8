"""The tables of a moses.ini in the form that Moses2 reads fastest: a ProbingPT of phrase pairs and reordering scores.

It is made as by Moses' binarize4moses2.perl: it has for each source phrase the 100 pairs with the largest p(e|f), with
reordering scores as their property LexRO.
"""

import gzip
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from benchmarks.measure import run

MOST = 100  # pairs per source phrase
DIRECT = 2  # column of p(e|f)
TABLE = re.compile(r"^PhraseDictionaryMemory (.*)\bpath=(\S+)(.*)$", re.MULTILINE)
REORDERING = re.compile(r"^LexicalReordering (.*)\bpath=(\S+)(.*)$", re.MULTILINE)


def with_probing_table(ini: Path, program: Path) -> Path:
    """A moses.ini beside `ini`, with tables made by the `program` CreateProbingPT; it is made unless it exists."""
    made = ini.with_name("moses.probing.ini")
    if made.exists():
        return made
    text, directory = ini.read_text(), ini.parent / "probing"
    table, reordering = TABLE.search(text), REORDERING.search(text)
    if table is None or reordering is None:
        raise SystemExit(f"{ini}: expected a PhraseDictionaryMemory and a LexicalReordering with a path")
    joined = ini.with_name("joined.gz")
    with gzip.open(joined, "wt", 1, encoding="utf-8") as output:
        output.writelines(_joined(Path(table[2]), Path(reordering[2])))
    n_scores = re.search(r"num-features=(\d+)", table[0])
    switches = ["--num-scores", n_scores[1] if n_scores else "4", "--num-lex-scores", "6", "--log-prob"]
    run([f"{program}", *switches, "--input-pt", f"{joined}", "--output-dir", f"{directory}"])
    joined.unlink()
    text = TABLE.sub(rf"ProbingPT \1path={directory}\3", text)
    made.write_text(REORDERING.sub(r"LexicalReordering \1property-index=0\3", text))
    return made


def _joined(table: Path, reordering: Path) -> Iterator[str]:
    """The best lines of both tables, joined; both list the same phrase pairs in the same order."""
    with gzip.open(table, "rt", encoding="utf-8") as pairs, gzip.open(reordering, "rt", encoding="utf-8") as scores:
        rows = (([*line.split(" ||| ")], other.split(" ||| ")) for line, other in zip(pairs, scores, strict=True))
        for _, group in groupby(rows, lambda row: row[0][0]):
            best = sorted(group, key=lambda row: -float(row[0][2].split()[DIRECT]))[:MOST]
            for pair, orientations in best:
                if pair[:2] != orientations[:2]:
                    raise SystemExit(f"{table}: {pair[:2]} beside {orientations[:2]} of {reordering}")
                fields = [field.strip() for field in pair[:5]]
                yield f"{' ||| '.join(fields)} |||  ||| {{{{LexRO {orientations[2].strip()}}}}} |||\n"
