"""Punctuation made ASCII, as by Moses' normalize-punctuation.perl, which works on bytes: its letters and digits are ASCII.

Each step is a text or a pattern and what replaces it; the order counts. A line break ends the line, as the script sees it.
"""

import regex

Step = tuple[str | regex.Pattern[str], str]


def _pattern(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.ASCII)


ONE_SPACE: Step = _pattern("  +"), " "
SPACES: list[Step] = [
    *[("\r", ""), ("(", " ("), (")", ") "), ONE_SPACE],
    *[(_pattern(r"\) ([.!:?;,])"), r")\1"), ("( ", "("), (" )", ")"), (_pattern(r"(\d) %"), r"\1%")],
    *[(" :", ":"), (" ;", ";"), ("`", "'"), ("''", ' " '), ONE_SPACE],
]
QUOTES: list[Step] = [
    *[("„", '"'), ("“", '"'), ("”", '"'), ("\u2013", "-"), ("—", " - "), ONE_SPACE, ("\u00b4", "'")],
    *[(_pattern(f"([a-zA-Z]){quote}([a-zA-Z])"), r"\1'\2") for quote in "\u2018\u2019"],
    *[("\u2018", "'"), ("\u201a", "'"), ("\u2019", '"'), ("''", '"'), ("…", "...")],
    *[("\xa0«\xa0", ' "'), ("«\xa0", '"'), ("«", '"'), ("\xa0»\xa0", '" '), ("\xa0»", '"'), ("»", '"')],
]
NO_BREAK_SPACES: list[Step] = [
    *[("\xa0%", "%"), ("nº\xa0", "nº "), ("\xa0:", ":"), ("\xa0ºC", " ºC"), ("\xa0cm", " cm")],
    *[("\xa0?", "?"), ("\xa0!", "!"), ("\xa0;", ";"), (",\xa0", ", "), ONE_SPACE],
]
COMMA_INSIDE: list[Step] = [(_pattern(r'"([,.]+)'), r'\1"')]
# \G, the end of the match before, and the look-behind: without them, dots cost quadratic time.
COMMA_OUTSIDE: list[Step] = [(',"', '",'), (_pattern(r'(?:\G|(?<!\.))(\.+)"(\s*[^<])'), r'"\1\2')]
DECIMAL_COMMAS = {"de", "es", "cs", "fr"}


class PunctuationNormalizer:
    """Writes quotation marks, dashes and spaces of a language in ASCII."""

    def __init__(self, language: str):
        self._ascii_only = COMMA_INSIDE if language == "en" else [] if language == "cs" else COMMA_OUTSIDE
        thousands = _pattern(r"(\d)\xa0(\d)"), r"\1,\2" if language in DECIMAL_COMMAS else r"\1.\2"
        self._all = [*QUOTES, *NO_BREAK_SPACES, *self._ascii_only, thousands]

    def normalize(self, line: str) -> str:
        """The line with punctuation as the language has it in ASCII."""
        text = _replaced(line + "\n", SPACES)
        return _replaced(text, self._ascii_only if text.isascii() else self._all)[:-1]


def _replaced(text: str, steps: list[Step]) -> str:
    for old, new in steps:
        text = text.replace(old, new) if isinstance(old, str) else old.sub(new, text)
    return text
