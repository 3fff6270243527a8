"""Tokenization of raw lines and back: Moses' punctuation normalizer, tokenizer and detokenizer, by sacremoses."""

import re
from collections.abc import Iterable

from sacremoses import MosesDetokenizer, MosesPunctNormalizer, MosesTokenizer

# Not split, so that the decoder copies them: URLs (without the punctuation after them) and e-mail addresses.
ADDRESSES = [r"(?:(?:https?|ftp)://|www\.)\S*[\w/=&#%+~-]", r"(?<![\w.-])[\w.-]+@(?:[\w-]+\.)+[a-z]{2,}"]
HAS_ADDRESS = re.compile("://|www\\.|@", re.IGNORECASE)


class Tokenizer:
    """Splits raw lines of one language into tokens; threads may share a tokenizer."""

    def __init__(self, language: str, normalize: bool = True, escape: bool = True):
        self.escape = escape
        self._normalizer = MosesPunctNormalizer(language) if normalize else None
        self._tokenizer = MosesTokenizer(language)

    def tokens(self, line: str) -> list[str]:
        """The tokens of a line, without white space and control characters and, with `escape`, & | < > ' " [ ]."""
        if self._normalizer:
            line = self._normalizer.normalize(line)
        protected = ADDRESSES if _has_addresses(line) else None
        tokens: list[str] = self._tokenizer.tokenize(line, escape=self.escape, protected_patterns=protected)
        return tokens


def _has_addresses(line: str) -> bool:
    """Whether the line has addresses, but no more than sacremoses can protect."""
    if not HAS_ADDRESS.search(line):
        return False
    n_found = sum(len(re.findall(pattern, line, re.IGNORECASE)) for pattern in ADDRESSES)
    return 0 < n_found <= MosesTokenizer.MAX_PROTECTED_TOKENS


class Detokenizer:
    """Joins tokens of one language into raw lines."""

    def __init__(self, language: str, unescape: bool = True):
        self.unescape = unescape
        self._detokenizer, self._plain = MosesDetokenizer(language), MosesDetokenizer("en")

    def line(self, tokens: list[str]) -> str:
        """The text of `tokens`, with spaces as the language sets them."""
        try:
            text: str = self._detokenizer.detokenize(tokens, unescape=self.unescape)
        except TypeError:  # in sacremoses 0.2, from Czech "x' - li"
            text = self._plain.detokenize(tokens, unescape=self.unescape)
        return text


class MosesText:
    """Moses' tokenizer and detokenizer of a language."""

    def __init__(self, language: str, normalize: bool = True, escape: bool = True):
        self._tokenizer, self._detokenizer = Tokenizer(language, normalize, escape), Detokenizer(language, escape)

    def tokens(self, line: str) -> list[str]:
        """The tokens of a line."""
        return self._tokenizer.tokens(line)

    def text(self, tokens: Iterable[str]) -> str:
        """The text of tokens."""
        return self._detokenizer.line(list(tokens))
