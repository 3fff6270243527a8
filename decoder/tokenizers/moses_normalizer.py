"""Punctuation converted to ASCII, as in Moses' normalize-punctuation.perl.

The script works on bytes, so its letters, digits and white space are those of ASCII.
"""

from typing import NamedTuple

import regex


class Substitution(NamedTuple):
    """One substitution of the script; their order matters."""

    old: str  # text to replace; if the line lacks it, nothing is replaced
    new: str
    pattern: regex.Pattern[str] | None = None  # replaced instead of `old`, if given


def _pattern(old: str, pattern: str, new: str) -> Substitution:
    return Substitution(old, new, regex.compile(pattern, regex.ASCII))


def _texts(*pairs: tuple[str, str]) -> list[Substitution]:
    return [Substitution(old, new) for old, new in pairs]


ONE_SPACE = _pattern("  ", "  +", " ")
SPACES = [
    *[*_texts(("\r", ""), ("(", " ("), (")", ") ")), ONE_SPACE, _pattern(") ", r"\) ([.!:?;,])", r")\1")],
    *[*_texts(("( ", "("), (" )", ")")), _pattern(" %", r"(\d) %", r"\1%")],
    *[*_texts((" :", ":"), (" ;", ";"), ("`", "'"), ("''", ' " ')), ONE_SPACE],
]
QUOTES = [
    *_texts(("„", '"'), ("“", '"'), ("”", '"'), ("\u2013", "-"), ("—", " - ")),
    *[ONE_SPACE, Substitution("\u00b4", "'")],
    *[_pattern(quote, f"([a-zA-Z]){quote}([a-zA-Z])", r"\1'\2") for quote in "\u2018\u2019"],
    *_texts(("\u2018", "'"), ("\u201a", "'"), ("\u2019", '"'), ("''", '"'), ("…", "...")),
    *_texts(("\xa0«\xa0", ' "'), ("«\xa0", '"'), ("«", '"'), ("\xa0»\xa0", '" '), ("\xa0»", '"'), ("»", '"')),
]
NO_BREAK_SPACES = [
    *_texts(("\xa0%", "%"), ("nº\xa0", "nº "), ("\xa0:", ":"), ("\xa0ºC", " ºC"), ("\xa0cm", " cm")),
    *_texts(("\xa0?", "?"), ("\xa0!", "!"), ("\xa0;", ";"), (",\xa0", ", ")),
    ONE_SPACE,
]
COMMA_INSIDE = [_pattern('"', r'"([,.]+)', r'\1"')]
# \G, the end of the previous match, and the look-behind: without them, dots would take quadratic time.
COMMA_OUTSIDE = [Substitution(',"', '",'), _pattern('."', r'(?:\G|(?<!\.))(\.+)"(\s*[^<])', r'"\1\2')]
DECIMAL_COMMAS = {"de", "es", "cs", "fr"}


class PunctuationNormalizer:
    """Writes quotation marks, dashes and spaces of a language in ASCII."""

    def __init__(self, language: str):
        marks = COMMA_INSIDE if language == "en" else [] if language == "cs" else COMMA_OUTSIDE
        number = _pattern("\xa0", r"(\d)\xa0(\d)", r"\1,\2" if language in DECIMAL_COMMAS else r"\1.\2")
        self._ascii = [*SPACES, *marks]
        self._all = [*SPACES, *QUOTES, *NO_BREAK_SPACES, *marks, number]

    def normalize(self, line: str) -> str:
        """The line with the punctuation that the language uses in ASCII."""
        text = line + "\n"  # the script sees this character after the last quotation mark
        for old, new, pattern in self._ascii if text.isascii() else self._all:
            if old in text:
                text = pattern.sub(new, text) if pattern else text.replace(old, new)
        return text[:-1]
