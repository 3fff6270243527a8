"""Number of lines of raw training text that do not come back from tokens, as a check of a side's tokenizer."""

import unicodedata
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.files import read_lines
from phrasebeam.base.progress import log
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings
from phrasebeam.decoder.tokenizers.registry import Tokenizer, open_tokenizer, tokenizer_paths

MOST = 10_000  # lines that are tried, the first ones
LARGE = 0.1  # share of lines that is a reason to warn
SHOWN = 30  # characters before and behind a difference


class RoundTrip(NamedTuple):
    """Lines of a text to tokens and back."""

    n_lines: int
    n_changed: int  # that do not come back
    example: tuple[str, str] = ("", "")  # where the first of these differs, before and after

    @classmethod
    def of(cls, path: Path, tokenizer: Tokenizer) -> "RoundTrip":
        """The first lines of a file; white space is single, and letters are composed (NFC), before."""
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
        """The message about it."""
        tried = f"the first {self.n_lines:,}" if self.n_lines == MOST else f"{self.n_lines:,}"
        share = 100 * self.n_changed / max(1, self.n_lines)
        found = f"{side} side, {path.name}: {self.n_changed:,} of {tried} lines ({share:.1f} %)"
        shown = f", such as {self.example[0]!r}, which becomes {self.example[1]!r}" if self.n_changed else ""
        return f"{found} are not restored from tokens{shown}"


def tell_round_trips(raw: Sequence[Path], settings: RawTextSettings, directory: Path) -> None:
    """Log a line for source and target of a bitext, by the tokenizers in `directory`; a warning if many change."""
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
