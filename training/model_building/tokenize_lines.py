"""A process that tokenizes raw lines, and counts their cased words for a truecaser, with sacremoses.

sacremoses holds Python's global lock, so that several cores need several processes. A job and then batches of lines are
read from standard input, answers are written to standard output, each as a line of JSON: no files are left behind.
"""

import json
import sys
from collections import Counter
from typing import NamedTuple

from sacremoses import MosesTruecaser

from phrasebeam.decoder.raw_text.tokenizer import Tokenizer


class TokenizerJob(NamedTuple):
    """The settings of a tokenizer."""

    language: str  # ISO 639 code
    normalize: bool  # punctuation
    escape: bool  # Moses' special characters
    is_counted: bool  # whether cased words are counted, for a truecaser


class Batch(NamedTuple):
    """Tokenized lines and what a truecaser learns from them."""

    lines: list[str]
    counts: dict[str, int]  # of cased words that do not begin a sentence; empty unless TokenizerJob.is_counted


class LineTokenizer:
    """Tokenizes lines and counts their words as a TokenizerJob asks."""

    def __init__(self, job: TokenizerJob):
        self._tokenizer = Tokenizer(job.language, job.normalize, job.escape)
        self._truecaser = MosesTruecaser() if job.is_counted else None

    def tokenize(self, lines: list[str]) -> Batch:
        """Tokenize raw `lines`; the lines of the batch are tokens separated by spaces."""
        counts: Counter[str] = Counter()
        tokenized = []
        for line in lines:
            tokens = self._tokenizer.tokens(line)
            tokenized.append(" ".join(tokens))
            if self._truecaser:
                counts.update(word for _, word, _ in self._truecaser.learn_truecase_weights(tokens))
        return Batch(tokenized, counts)


def main() -> None:
    """Read a job and then batches of lines from standard input; answer each batch on standard output."""
    tokenizer = LineTokenizer(TokenizerJob(**json.loads(sys.stdin.buffer.readline())))
    for request in sys.stdin.buffer:
        sys.stdout.write(json.dumps(tokenizer.tokenize(json.loads(request))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
