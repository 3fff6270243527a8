"""A process that tokenizes raw lines, and counts their cased words for a truecaser.

Regular expressions hold Python's global lock, so that several cores need several processes. The process reads a job
and then batches of lines from standard input, and writes answers to standard output, each as a line of JSON. So it
leaves no files.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from phrasebeam.decoder.input.raw_text_settings import RawTextSettings
from phrasebeam.decoder.raw_text.sentence_case import SentenceCase
from phrasebeam.decoder.tokenizers.registry import open_tokenizer


class TokenizerJob(NamedTuple):
    """The settings of a tokenizer."""

    settings: dict[str, Any]  # a RawTextSettings
    side: int  # 0: source, 1: target
    learned: str  # path of the trained tokenizer
    is_counted: bool  # whether cased words are counted, for a truecaser


class Batch(NamedTuple):
    """Tokenized lines, and the counts of their words from which a truecaser learns."""

    lines: list[str]
    counts: dict[str, int]  # of cased words that do not begin a sentence; empty unless TokenizerJob.is_counted


class LineTokenizer:
    """Tokenizes lines, and counts their words if the TokenizerJob asks for it."""

    def __init__(self, job: TokenizerJob):
        side = RawTextSettings(**job.settings).sides[job.side]
        self._tokenizer = open_tokenizer(side, Path(job.learned))
        self._case = SentenceCase.of(side) if job.is_counted else None

    def tokenize(self, lines: list[str]) -> Batch:
        """Tokenize raw `lines`; the lines of the batch are tokens separated by spaces."""
        counts: Counter[str] = Counter()
        tokenized = []
        for line in lines:
            tokens = self._tokenizer.tokens(line)
            tokenized.append(" ".join(tokens))
            if self._case:
                counts.update(self._case.words_of_own_case(tokens))
        return Batch(tokenized, counts)


def main() -> None:
    """Read a job and then batches of lines from standard input; answer each batch on standard output."""
    tokenizer = LineTokenizer(TokenizerJob(**json.loads(sys.stdin.buffer.readline())))
    for request in sys.stdin.buffer:
        sys.stdout.write(json.dumps(tokenizer.tokenize(json.loads(request))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
