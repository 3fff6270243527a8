"""Raw lines tokenized and the cases of their words counted, in a process of its own.

sacremoses keeps Python's global lock, so that more cores need more processes. The job and then batches of lines come
through standard input, the answers leave through standard output, each a line of JSON: nothing is left behind, however
the process ends.
"""

import json
import signal
import sys
from collections import Counter
from typing import NamedTuple

from sacremoses import MosesTruecaser

from phrasebeam.decoder.raw_text.tokenizer import Tokenizer


class Job(NamedTuple):
    """How lines are tokenized."""

    language: str
    normalize: bool
    escape: bool
    is_counted: bool  # the cases of words, for a truecaser


class Batch(NamedTuple):
    """Tokenized lines."""

    lines: list[str]
    counts: dict[str, int]  # of words in the middle of sentences


class LineTokenizer:
    """What does one job."""

    def __init__(self, job: Job):
        self._tokenizer = Tokenizer(job.language, job.normalize, job.escape)
        self._truecaser = MosesTruecaser() if job.is_counted else None

    def tokenize(self, lines: list[str]) -> Batch:
        """The raw `lines`, tokenized."""
        counts: Counter[str] = Counter()
        tokenized = []
        for line in lines:
            tokens = self._tokenizer.tokens(line)
            tokenized.append(" ".join(tokens))
            if self._truecaser:
                counts.update(word for _, word, _ in self._truecaser.learn_truecase_weights(tokens))
        return Batch(tokenized, counts)


def main() -> None:
    """Serve one job, a batch at a time."""
    for number in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)  # end silently with the parent, which has something to say
    tokenizer = LineTokenizer(Job(**json.loads(sys.stdin.buffer.readline())))
    for request in sys.stdin.buffer:
        sys.stdout.write(json.dumps(tokenizer.tokenize(json.loads(request))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
