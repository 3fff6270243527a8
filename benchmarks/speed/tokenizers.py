"""The share of lines that a tokenizer restores exactly, and its lines per processor second compared with sacremoses.

    python -m benchmarks.speed.tokenizers FILE... [--tokenizer neutral] [--language und] [--runs 5]

Each FILE is raw text, or a table with tabs, of which each column is a text. The tokenizer learns from a text, if it
can, and tokenizes all its lines once. White space at the ends is ignored, and a run of white space counts as one space.
Figures are medians of the runs, in which both tokenizers take turns.
"""

import argparse
import time
import unicodedata
from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeVar, get_args

from sacremoses import MosesTokenizer

from benchmarks.measure import table
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings, SideSettings, TokenizerName
from phrasebeam.decoder.tokenizers.registry import TOKENIZERS

A, B = TypeVar("A"), TypeVar("B")
MOST_LINES = 50_000
FOR_SACREMOSES = 2_000  # lines, which it tokenizes in a second


class Figures(NamedTuple):
    """The results of a tokenizer for a text."""

    share: float  # of lines that are restored exactly
    tokens: float  # lines per processor second, from text to tokens
    text: float  # lines per processor second, from tokens to text
    sacremoses: float  # lines per processor second of sacremoses, from text to tokens
    lost: str  # a line that is not restored


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--tokenizer", choices=get_args(TokenizerName), default="neutral")
    parser.add_argument("--language", default="und")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    side = RawTextSettings(
        source_language=options.language, target_language=options.language, source_tokenizer=options.tokenizer
    ).sides[0]
    rows = [["text", "lines", "come back", "to tokens, lines/s", "to text, lines/s", "sacremoses, lines/s", "ratio"]]
    lost = list[str]()
    for path in options.files:
        for name, lines in texts(path):
            found = measured(lines, side, options.runs)
            speeds = [f"{value:,.0f}" for value in (found.tokens, found.text, found.sacremoses)]
            share = f"{100 * found.share:.2f} %"
            rows.append([name, f"{len(lines):,}", share, *speeds, f"{found.tokens / found.sacremoses:.1f}"])
            lost += [f"{name}: {found.lost}"] if found.lost else []
    print(table(rows))
    print("\n".join(["", *lost]))


def texts(path: Path) -> list[tuple[str, list[str]]]:
    """The texts of a file, by name."""
    lines = [line for _, line in zip(range(MOST_LINES), read_lines(path))]
    if path.suffix != ".tsv":
        return [(path.name, lines)]
    columns = zip_longest(*(line.split("\t") for line in lines), fillvalue="")
    return [(f"{path.name}:{i}", list(column)) for i, column in enumerate(columns, 1)]


def measured(lines: Sequence[str], side: SideSettings, n_runs: int) -> Figures:
    """The figures of a text; each run has a new tokenizer, which remembers nothing."""
    moses = MosesTokenizer("en")
    seconds = list[tuple[float, float, float]]()
    for _ in range(n_runs):
        tokenizer = TOKENIZERS[side.tokenizer].learn(lines, side)
        tokens, to_tokens = timed(tokenizer.tokens, lines)
        back, to_text = timed(tokenizer.text, tokens)
        seconds.append((to_tokens, to_text, timed(moses.tokenize, lines[:FOR_SACREMOSES])[1]))
    expected = [" ".join(unicodedata.normalize("NFC", line).split()) for line in lines]
    lost = [line for line, text in zip(expected, back) if line != text]
    speeds = [1 / median(column) for column in zip(*seconds)]
    return Figures(1 - len(lost) / len(lines), *speeds, "".join(lost[:1]))


def timed(function: Callable[[A], B], arguments: Sequence[A]) -> tuple[list[B], float]:
    """The results of the function for each argument, and the mean processor seconds of a call."""
    start = time.process_time()
    results = [function(one) for one in arguments]
    return results, (time.process_time() - start) / len(arguments)


if __name__ == "__main__":
    main()
