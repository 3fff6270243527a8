"""Conversion of text to sentences of a model, and of translations to text, the same for all commands."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.decoder.input.input_settings import Markup
from phrasebeam.decoder.input.markup import read_elements, read_sentence, with_instructions
from phrasebeam.decoder.input.sentence_input import Input, Prefix, Term
from phrasebeam.decoder.marked_text.token_spans import token_spans
from phrasebeam.decoder.model.description import open_description
from phrasebeam.decoder.model.opened_model import check_parts
from phrasebeam.decoder.output.translation import Phrase, Translation
from phrasebeam.decoder.tokenizers.escapes import shown
from phrasebeam.lm.text.corpus import split

if TYPE_CHECKING:
    from phrasebeam.decoder.raw_text.preprocessing import RawText

Span = tuple[int, int]
WORD = re.compile(r"\S+")
RAW_ELEMENT = "<{name}> has span=, which counts tokens, and the text is raw; put the tag around its words"


@dataclass(frozen=True)
class Tokenization:
    """Conversion of text to a model's tokens and back; it changes nothing if the text is already tokenized."""

    before: Callable[[str], str] = str  # converts text of the source language to tokens, separated by spaces
    after: Callable[[str], str] = str  # converts tokens of a translation to text
    target: Callable[[str], str] = str  # converts text of the target language to tokens
    shown: Callable[[str], str] = unescape  # writes a single token as text
    joined: Callable[[str], str] = str  # like `after`, but faster, without capitals at the beginning

    @classmethod
    def of(cls, raw_text: "RawText | None") -> "Tokenization":
        """The tokenization for raw text; for None, that for tokenized text."""
        if raw_text is None:
            return TOKENIZED
        is_as_written = raw_text.settings.source_tokenizer == "moses" and not raw_text.settings.escape
        token = str if is_as_written else shown
        return cls(raw_text.before, raw_text.after, raw_text.target.line, token, raw_text.joined)

    @classmethod
    def of_model(cls, directory: str | Path, raw: bool | None = None) -> "Tokenization":
        """The tokenization for the model in `directory`: by default raw text if the model was made from raw text.

        Raises SmtError, also if `raw` is requested and the model was made from tokenized text.
        """
        if not (is_of_raw_text(directory) if raw is None else raw):
            return TOKENIZED
        # Slow: it compiles patterns of Unicode's tables.
        from phrasebeam.decoder.raw_text.preprocessing import RawText

        return cls.of(RawText.load(directory))

    @property
    def is_raw(self) -> bool:
        """Whether text has to be tokenized."""
        return self.before is not str

    def sentence(
        self,
        line: str,
        markup: Markup = "pass-through",
        path: str | PathLike[str] = "input",
        number: int | None = None,
        has_tags: bool = False,
    ) -> Input:
        """The sentence in a line, raw or tokenized; for the other parameters see read_markup. Raises SmtError."""
        if not self.is_raw:
            return read_sentence(line, markup, path, number, has_tags)
        try:
            if has_tags:
                raise ConfigError("the model has features of tags; give tokens word|TAG, and say so (--no-raw)")
            return Input.read(self.before(line)) if markup == "pass-through" else self._marked(line, markup)
        except ConfigError as error:
            raise FormatError(path, str(error), number) from None

    def sentences(
        self, lines: Iterable[str], markup: Markup, path: str | PathLike[str], has_tags: bool = False
    ) -> Iterator[Input]:
        """Yield the sentences of `lines` of the file `path`, each by `sentence`."""
        return (self.sentence(line, markup, path, number, has_tags) for number, line in enumerate(lines, 1))

    def prefix(self, line: str, partial_word: bool = False) -> Prefix:
        """The required beginning of a translation, see Prefix.read."""
        end = " " if line[-1:].isspace() else ""
        return Prefix.read(self.target(line) + end, partial_word)

    def text_of(self, translation: Translation, given: Input) -> str:
        """The text of a translation of `given`, with terms written as the user gave them."""
        text = self.after(translation.text)
        if not any(term.written for term in given.terms):
            return text
        return with_terms(text, [self.shown(token) for token in split(translation.text)], translation, given.terms)

    def in_text(self, translation: Translation, given: Input) -> Translation:
        """The translation with text instead of tokens; the confidence of a word is the lowest of its tokens."""
        text, values = self.text_of(translation, given), translation.confidences
        if values:
            spans = token_spans([self.shown(token) for token in split(translation.text)], text)
            words = (covered(spans, *word.span()) for word in WORD.finditer(text))
            values = tuple(min(values[first:end], default=min(values)) for first, end in words)
        return replace(translation, text=text, confidences=values)

    def _marked(self, line: str, markup: Markup) -> Input:
        """The sentence of a raw line with markup; tags stand between tokens, so that a tag divides a word into two."""
        pieces, elements = read_elements(line)
        words, borders = self._tokens(pieces)
        for element in elements:
            if "span" in element.attributes:
                raise ConfigError(RAW_ELEMENT.format(name=element.name))
        return with_instructions(words, [one.moved(borders) for one in elements], markup, self.target)

    def _tokens(self, pieces: Sequence[str]) -> tuple[list[str], list[int]]:
        """The tokens of pieces of a text, and the number of tokens before each piece and at the end.

        A token that would belong to two pieces is divided by a space. If that is not enough, as between signs that
        tokenizers omit, each piece is tokenized by itself.
        """
        for _ in range(2):
            text, ends = "".join(pieces), [0, *accumulate(map(len, pieces))]
            words = split(self.before(text))
            spans = token_spans([self.shown(word) for word in words], text)
            torn = {end for end in ends if any(begin < end < behind for begin, behind in spans)}
            if not torn:
                return words, [covered(spans, end, end)[0] for end in ends]
            pieces = [f"{piece} " if end in torn else piece for piece, end in zip(pieces, ends[1:])]
        each = [split(self.before(piece)) for piece in pieces]
        return [word for some in each for word in some], [0, *accumulate(map(len, each))]


TOKENIZED = Tokenization()


def is_of_raw_text(directory: str | Path) -> bool:
    """Whether the model in `directory` was made from raw text; its input is then raw, too. Raises SmtError."""
    check_parts(Path(directory))
    return open_description(Path(directory), is_verified=False).preprocessing is not None


def with_terms(text: str, shown: Sequence[str], translation: Translation, terms: Iterable[Term]) -> str:
    """The text of a translation with tokens `shown`, in which terms are written as the user gave them."""
    places: dict[Span, str] = {}
    for phrase in translation.phrases:
        for term in terms:
            if term.written and (place := _place_of(term, phrase)):
                places.setdefault(place, term.written)
    spans, limit = token_spans(shown, text), len(text)
    for (first, behind), written in sorted(places.items(), reverse=True):
        begin, end = spans[first][0], spans[behind - 1][1]
        if begin < end <= limit:
            text, limit = text[:begin] + written + text[end:], begin
    return text


def _place_of(term: Term, phrase: Phrase) -> Span | None:
    """The words of a translation that are the target of a term, if `phrase` covers the term."""
    if not (phrase.source_span[0] <= term.begin and term.end <= phrase.source_span[1]):
        return None
    words, n_words = split(phrase.target), len(term.target)
    for i in range(len(words) - n_words + 1):
        if tuple(words[i : i + n_words]) == term.target:
            return phrase.target_span[0] + i, phrase.target_span[0] + i + n_words
    return None


def covered(spans: Sequence[Span], begin: int, end: int) -> Span:
    """The tokens (given as spans of characters) that contain any of the characters begin:end."""
    first = sum(behind <= begin for _, behind in spans)
    return first, max(first, sum(start < end for start, _ in spans))
