"""Check of a tokenizer: number of lines of raw training text that detokenization does not restore."""

import unicodedata
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.files import read_lines
from phrasebeam.base.progress import log
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings
from phrasebeam.decoder.tokenizers.registry import Tokenizer, open_tokenizer, tokenizer_paths

MOST = 10_000  # number of first lines that are tried
LARGE = 0.1  # a larger share of changed lines is a reason to warn
SHOWN = 30  # number of characters shown before and behind a difference


class RoundTrip(NamedTuple):
    """The result of turning lines of a text into tokens and back."""

    n_lines: int
    n_changed: int  # lines that are not restored
    example: tuple[str, str] = ("", "")  # the first difference in such a line, before and after

    @classmethod
    def of(cls, path: Path, tokenizer: Tokenizer) -> "RoundTrip":
        """Try the first lines of a file; they are compared with single white space and composed letters (NFC)."""
        n_lines, n_changed, example = 0, 0, ("", "")
        for line in islice(read_lines(path), MOST):
            text = " ".join(unicodedata.normalize("NFC", line).split())
            back = tokenizer.text(tokenizer.tokens(line))
            n_lines += 1
            if back != text:
                example = example if n_changed else _difference(text, back)
                n_changed += 1
        return cls(n_lines, n_changed, example)

    def told(self, side: str, path: Path) -> str:
        """The message about the result."""
        tried = f"the first {self.n_lines:,}" if self.n_lines == MOST else f"{self.n_lines:,}"
        share = 100 * self.n_changed / max(1, self.n_lines)
        found = f"{side} side, {path.name}: {self.n_changed:,} of {tried} lines ({share:.1f} %)"
        shown = f", such as {self.example[0]!r}, which becomes {self.example[1]!r}" if self.n_changed else ""
        return f"{found} are not restored from tokens{shown}"


def tell_round_trips(raw: Sequence[Path], settings: RawTextSettings, directory: Path) -> None:
    """Log a line for each side of a bitext, with the tokenizers in `directory`; a warning if many lines change."""
    for name, path, side, learned in zip(("source", "target"), raw, settings.sides, tokenizer_paths(directory)):
        found = RoundTrip.of(path, open_tokenizer(side, learned))
        if found.n_changed <= LARGE * found.n_lines:
            log.info("%s", found.told(name, path))
        else:
            advice = f"if that is wrong, choose another than {side.tokenizer} (--{name}-tokenizer)"
            log.warning("%s; %s", found.told(name, path), advice)


def _difference(text: str, back: str) -> tuple[str, str]:
    """The parts of two texts around the first character in which they differ."""
    same = next((i for i, (one, other) in enumerate(zip(text, back)) if one != other), min(len(text), len(back)))
    begin = max(0, same - SHOWN)
    return text[begin : same + SHOWN], back[begin : same + SHOWN]
