"""Segments of text as tokens and as words of a model, by tokenizers of sil-machine or of a model of raw text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from phrasebeam.decoder.marked_text.token_spans import token_spans
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.integrations.sil_machine import WHITESPACE_TOKENIZER, Detokenizer, Range, StringTokenizer, Tokenizer
from phrasebeam.lm.text.corpus import split

Segment = str | Sequence[str]


class SegmentWords(NamedTuple):
    """A segment: its tokens as they are in the text, and the words of the model for them."""

    tokens: list[str]
    words: list[str]


class RawTokenizer(StringTokenizer):
    """The tokenizer of one side of a model; its tokens are the parts of the text that became tokens of the model."""

    def __init__(self, line: Callable[[str], str], shown: Callable[[str], str]):
        """`line` turns text into tokens of the model, separated by spaces; `shown` gives a token as it is in text."""
        self._line, self._shown = line, shown

    @classmethod
    def of_source(cls, tokenization: Tokenization) -> "RawTokenizer":
        """The tokenizer for sentences that are translated."""
        return cls(tokenization.before, tokenization.shown)

    @classmethod
    def of_target(cls, tokenization: Tokenization) -> "RawTokenizer":
        """The tokenizer for translations."""
        return cls(tokenization.target, tokenization.shown)

    def tokenize_as_ranges(self, data: str, data_range: Range | None = None) -> Iterable[Range]:
        """The character ranges of the tokens in a range of the text."""
        begin, end = (data_range.start, data_range.end) if data_range else (0, len(data))
        for first, behind, _ in self._tokens(data[begin:end]):
            yield Range.create(begin + first, begin + behind)

    def with_words(self, text: str) -> SegmentWords:
        """The tokens of a text, and the words of the model for them."""
        found = [(text[begin:end], word) for begin, end, word in self._tokens(text)]
        return SegmentWords([token for token, _ in found], [word for _, word in found])

    def _tokens(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Begin, end and word of each token. A token for which no characters are left has an empty range."""
        words = split(self._line(text))
        for (begin, end), word in zip(token_spans([self._shown(word) for word in words], text), words):
            yield begin, end, word


class RawDetokenizer(Detokenizer):
    """Turns the words of a translation into text as the model does."""

    def __init__(self, tokenization: Tokenization):
        self._tokenization = tokenization

    def detokenize(self, tokens: Iterable[str]) -> str:
        return self._tokenization.after(" ".join(tokens))


class SideWords(NamedTuple):
    """Conversion of one side's segments to words."""

    tokenizer: Tokenizer = WHITESPACE_TOKENIZER
    lowercase: bool = False

    def of(self, segment: Segment) -> SegmentWords:
        """The words of a segment, which is text or tokens."""
        if isinstance(segment, str) and isinstance(self.tokenizer, RawTokenizer):
            return self.tokenizer.with_words(segment)
        tokens = list(self.tokenizer.tokenize(segment)) if isinstance(segment, str) else list(segment)
        return SegmentWords(tokens, [token.lower() for token in tokens] if self.lowercase else tokens)
