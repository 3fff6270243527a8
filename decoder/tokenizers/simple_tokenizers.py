"""The tokenizers `characters` and `whitespace`, which learn nothing from text."""

import unicodedata
from collections.abc import Iterable

import regex

from phrasebeam.decoder.tokenizers.escapes import SPACE, escaped, unescaped

CLUSTER = regex.compile(r"\X")  # a grapheme cluster: a letter with its marks, an emoji


def composed(line: str) -> str:
    """The line with its characters composed (NFC), and each run of white space replaced by one space."""
    return " ".join(unicodedata.normalize("NFC", line).split())


class CharacterTokenizer:
    """One token for each grapheme cluster and, instead of white space, for each space between words."""

    def tokens(self, line: str) -> list[str]:
        return [SPACE if one == " " else escaped(one) for one in CLUSTER.findall(composed(line))]

    def text(self, tokens: Iterable[str]) -> str:
        return "".join(" " if token == SPACE else unescaped(token) for token in tokens)


class WhitespaceTokenizer:
    """The tokens of text that is already tokenized: the parts between its spaces."""

    def tokens(self, line: str) -> list[str]:
        return [escaped(token) for token in unicodedata.normalize("NFC", line).split()]

    def text(self, tokens: Iterable[str]) -> str:
        """The text of tokens, joined with spaces."""
        return " ".join(unescaped(token) for token in tokens)
