"""Capitals at the beginning of sentences: which tokens begin a sentence, by the signs around them."""

from collections.abc import Iterable, Iterator

from phrasebeam.decoder.input.raw_text_settings import SideSettings, TokenizerName
from phrasebeam.decoder.raw_text.casing import capitalized, lower
from phrasebeam.decoder.tokenizers.escapes import JOIN, SPACE

ENDS = frozenset(".:?!")  # signs that end sentences in Moses' truecaser
OPENING = frozenset(["(", "[", '"', "'", "&apos;", "&quot;", "&#91;", "&#93;"])  # before words, likewise
ENDS_ANYWHERE = ENDS | frozenset("\u2026\u3002\uff01\uff1f\u0964\u0965\u061f\u06d4\u1362\u0589")


class SentenceCase:
    """Case at the beginning of sentences of a language, for text divided by a tokenizer."""

    def __init__(self, language: str, tokenizer: TokenizerName):
        self.language, self._is_moses = language, tokenizer == "moses"

    @classmethod
    def of(cls, side: SideSettings) -> "SentenceCase":
        """The casing of a side of a model."""
        return cls(side.language, side.tokenizer)

    def starts(self, tokens: Iterable[str]) -> Iterator[tuple[str, bool]]:
        """Yield each token, and whether a word there would begin a sentence."""
        is_first = True
        for token in tokens:
            yield token, is_first
            is_first = self._ends(token) or (is_first and self._opens(token))

    def words_of_own_case(self, tokens: Iterable[str]) -> list[str]:
        """The tokens with cased letters from which a truecaser learns: those that do not begin sentences.

        A word in lower case at the beginning of a sentence counts, too, as in entries of a dictionary (Moses' option
        possiblyUseFirstToken, without its small weight for words with capitals that stand alone).
        """
        words, is_first = [], True
        for token in tokens:
            if self._opens(token):
                continue
            if self._ends(token) and not is_first:
                is_first = True
                continue
            cased = [one for one in token if one.islower() or one.isupper() or one.istitle()]
            if cased and (not is_first or cased[0].islower()):
                words.append(token)
            is_first = False
        return words

    def capitalized(self, tokens: Iterable[str]) -> list[str]:
        """The tokens, with a capital where a sentence begins."""
        return [self._capital(token) if is_first else token for token, is_first in self.starts(tokens)]

    def lower(self, token: str) -> str:
        """The token in lower case, by the rules of the language."""
        return lower(token, self.language)

    def _ends(self, token: str) -> bool:
        return token in ENDS if self._is_moses else token.strip(JOIN + SPACE) in ENDS_ANYWHERE

    def _opens(self, token: str) -> bool:
        """Whether a token may stand before the first word of a sentence."""
        return token in OPENING if self._is_moses else not any(map(str.isalnum, token)) and not self._ends(token)

    def _capital(self, token: str) -> str:
        if self._is_moses:
            return capitalized(token, self.language)
        first = next((i for i, one in enumerate(token) if one.isalpha()), len(token))
        return token[:first] + capitalized(token[first:], self.language)
