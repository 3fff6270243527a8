"""Words, numbers and signs of text in any language, by Unicode's word boundaries (UAX #29).

We depart from it in three ways. Hyphens within words do not divide them, as in Moses. Addresses, placeholders of
programs, tags and references of markup are whole. In scripts without spaces between words each grapheme cluster is a
piece.
"""

from functools import cache
from typing import Literal, NamedTuple, cast

import regex

SPACELESS = r"\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
LETTER = rf"[[\p{{L}}\p{{M}}\p{{N}}\p{{Pc}}\u00ad\u200c\u200d\u2060]--[{SPACELESS}]]"
APOSTROPHES = "'\u2019\u2018\u02bc`\u00b4"
HYPHENS = "-\u2010\u2011"
EDGES = APOSTROPHES + HYPHENS  # of words, if the text has them there
# Between letters: MidLetter, MidNumLet and Single_Quote of UAX #29, and hyphens; between digits also MidNum.
WITHIN = rf"[{regex.escape(EDGES)}.\u00b7:\u2027\u2024\ufe52\uff07\uff0e\u055f\u05f4]"
WITHIN_NUMBER = r"[,;\u066c\u060c]"
TAG = r"</?\p{L}[^<>]*>|<!--.*?-->"
WHOLE = "|".join(
    (
        r"(?:(?:https?|ftp)://|www\.)\S*[\w/=&#%+~-]",
        r"(?<![\w.-])[\w.+-]+@(?:[\w-]+\.)+\p{L}{2,}",
        TAG,
        r"&(?:\p{L}[\p{L}\d]*|\#\d+|\#x[\da-fA-F]+);",
        r"\{\{[^{}\s]*\}\}|\$?\{[^{}\s]*\}",
        r"%(?:\([\w.]+\)|\d+\$)?[-+#0]*\d*(?:\.\d+)?[a-zA-Z](?![\p{L}\d])|%\d+",
        r"\\[nrt](?![\p{L}\d])",
    )
)
CHUNK = regex.compile(rf"(?:{TAG}|\S)+", regex.VERSION1)  # a tag may contain spaces


Kind = Literal["word", "whole", "sign"]


class Piece(NamedTuple):
    """A part of a chunk of text; the next part follows it directly."""

    text: str
    kind: Kind  # "whole": an address, a placeholder, a tag; "sign": any other grapheme cluster


class WordPieces:
    """Divides text into words, which may begin with characters of `leading` and end with those of `trailing`."""

    def __init__(self, leading: str = "", trailing: str = ""):
        self._pattern = _pattern(leading, trailing)

    def chunks(self, line: str) -> list[str]:
        """The parts of a line between spaces; each run of white space counts as one space."""
        chunks = line.split()
        return CHUNK.findall(" ".join(chunks)) if "<" in line else chunks

    def of(self, chunk: str) -> list[Piece]:
        """The pieces of a chunk; their concatenation is the chunk."""
        return [Piece(found.group(), cast(Kind, found.lastgroup)) for found in self._pattern.finditer(chunk)]


@cache
def _pattern(leading: str, trailing: str) -> "regex.Pattern[str]":
    before = f"[{regex.escape(leading)}]?" if leading else ""
    after = rf"(?:[{regex.escape(trailing)}](?!{LETTER}))?" if trailing else ""
    number = rf"(?:(?<=\p{{N}}){WITHIN_NUMBER}(?=\p{{N}}){LETTER}+)"
    word = rf"{before}{LETTER}+(?:{WITHIN}{LETTER}+|{number})*{after}"
    return regex.compile(rf"(?P<whole>{WHOLE})|(?P<word>{word})|(?P<sign>\X)", regex.VERSION1)
