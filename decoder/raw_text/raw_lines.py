"""Raw text given where tokens are expected: detection, and warnings."""

import re
from collections.abc import Iterable
from itertools import islice

from phrasebeam.base.progress import log

RAW_END = re.compile(
    r"(?:^|\s)[^\s.!?]*[^\W\d_]{2}[.!?]\s*$"
)  # a word and the end of a sentence, without a space between
SENTENCES = 1000  # the first ones, which decide
MOST_RAW = 0.3  # share of sentences; few tokenized sentences end in an abbreviation


def looks_raw(line: str) -> bool:
    """Whether a sentence ends as only raw text can."""
    return RAW_END.search(line) is not None


def warn_of_raw_text(name: object, lines: Iterable[str]) -> None:
    """Log a warning if many of the lines, called `name`, look raw; for models of raw text that are given tokens."""
    found = [looks_raw(line) for line in islice(lines, SENTENCES)]
    if sum(found) > MOST_RAW * len(found):
        counts = f"{sum(found)} of {len(found)} lines look as if they were not tokenized"
        log.warning("%s: %s, but the model was trained on tokenized text; tokenize them with preprocess", name, counts)
