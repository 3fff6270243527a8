"""The tokenizer `moses`: raw lines to tokens and back as in Moses' scripts; URLs and e-mail addresses stay whole."""

import re
import unicodedata
from collections.abc import Iterable

from phrasebeam.decoder.tokenizers.moses_detokenizer import MosesJoiner
from phrasebeam.decoder.tokenizers.moses_normalizer import PunctuationNormalizer
from phrasebeam.decoder.tokenizers.moses_tokenizer import PLACEHOLDER, MosesRules

# Not split, so that the decoder copies them: URLs (without the punctuation after them) and e-mail addresses.
ADDRESSES = [r"(?:(?:https?|ftp)://|www\.)\S*[\w/=&#%+~-]", r"(?<![\w.-])[\w.-]+@(?:[\w-]+\.)+[a-z]{2,}"]
ADDRESS = re.compile("|".join(ADDRESSES), re.IGNORECASE)
CONTROLS = dict.fromkeys(set(range(32)) - set(b"\t\n\v\f\r"))
# The ampersand comes first, since the other escapes contain it.
ESCAPES = {"&": "&amp;", "|": "&#124;", "<": "&lt;", ">": "&gt;"}
ESCAPES |= {"'": "&apos;", '"': "&quot;", "[": "&#91;", "]": "&#93;"}
ESCAPED = {escape: sign for sign, escape in ESCAPES.items()} | {"&bar;": "|", "&bra;": "[", "&ket;": "]"}
ESCAPE = re.compile("|".join(ESCAPED))


class MosesTokenizer:
    """Converts raw lines of one language to tokens, and tokens to raw lines; threads may share a tokenizer."""

    def __init__(self, language: str, normalize: bool = True, escape: bool = True):
        self.escape = escape
        self._joiner = MosesJoiner(language)
        self._normalizer = PunctuationNormalizer(language) if normalize else None
        self._rules = MosesRules(language)

    def tokens(self, line: str) -> list[str]:
        """The tokens of a line without white space, control characters and, with `escape`, & | < > ' " [ ]."""
        if self._normalizer:
            line = self._normalizer.normalize(unicodedata.normalize("NFC", line))
        if not line.isprintable():
            line = line.translate(CONTROLS)
        text = self._separated(" ".join(line.split()))
        if self.escape:
            for sign, escape in ESCAPES.items():
                text = text.replace(sign, escape)
        return text.split()

    def text(self, tokens: Iterable[str]) -> str:
        """The text of `tokens`, with spaces by the rules of the language."""
        text = f" {' '.join(tokens)} ".replace(" @-@ ", "-")
        if self.escape and "&" in text:
            text = ESCAPE.sub(lambda escape: ESCAPED[escape[0]], text)
        return self._joiner.text(text.split())

    def _separated(self, text: str) -> str:
        """Separate tokens by spaces, except within addresses."""
        if "@" not in text and "://" not in text and "www." not in text.lower():
            return self._rules.separated(text)
        addresses = iter(ADDRESS.findall(text))
        return re.sub(PLACEHOLDER, lambda _: next(addresses), self._rules.separated(ADDRESS.sub(PLACEHOLDER, text)))
