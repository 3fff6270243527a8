"""A sentence in a request: text or tokens, with instructions for its translation; and the Input made from it."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator
from starlette.exceptions import HTTPException

from phrasebeam.base.config import Section
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.documents.segment_translation import with_term_base
from phrasebeam.decoder.input.input_settings import Markup, TermPolicy
from phrasebeam.decoder.input.sentence_input import Input, Term, words_and_tags
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.lm.text.corpus import split
from phrasebeam.server.serving.served_models import ServedModel
from phrasebeam.server.serving.server_settings import ServerLimits
from phrasebeam.server.serving.service import check_size

LONGEST_RAW = 5000  # characters; Moses' rules take seconds for 10,000 dots, and nothing else runs in that time
MOST_TERMS = 1000  # of a sentence
LONGEST_TEXT = 2**20  # characters; the server's limit in bytes is for the whole request
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Position = Annotated[int, Field(ge=0, lt=2**31)]  # of a token of the sentence, from 0
Word = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT, pattern=r"^[^ \t\n\r\f\v]+$")]


class TermBody(Section):
    """A given translation for the tokens begin:end of the sentence, or for each occurrence of the words `source`."""

    target: Text
    source: Text | None = None
    begin: Position | None = None
    end: Position | None = None
    probability: float = Field(default=1.0, ge=0, le=1e9)

    @model_validator(mode="after")
    def _has_a_place(self) -> Self:
        if (self.begin is None) != (self.end is None) or (self.source is None) == (self.begin is None):
            raise ValueError("give source, or begin and end")
        return self


class SentenceBody(Section):
    """A sentence to translate, with instructions."""

    text: Text | list[Word] = Field(description="a string, or a list of tokens")
    terms: list[TermBody] = Field(default=[], max_length=MOST_TERMS)
    policy: TermPolicy = Field(default="exclusive", description="how terms are used, as in Moses' xml-input")
    walls: list[Position] = Field(
        default=[], max_length=10_000, description="positions of tokens before which there is a wall"
    )
    zones: list[tuple[Position, Position]] = Field(
        default=[], max_length=1000, description="begin and end of each zone, in tokens"
    )
    prefix: Text = Field(default="", description="beginning of the translation")
    partial_word: bool = Field(
        default=False, description="whether the last word of the prefix may be incomplete, unless a space follows"
    )

    @property
    def has_instructions(self) -> bool:
        return bool(self.terms or self.walls or self.zones or self.prefix)

    @property
    def has_places(self) -> bool:
        """Whether it has instructions that refer to a single sentence."""
        return bool(self.walls or self.zones or self.prefix) or any(one.begin is not None for one in self.terms)


def one_line(text: str) -> str:
    """The text. Raises ConfigError if it is more than one line."""
    if "\n" in text:
        raise ConfigError("the text has several lines, expected one sentence; give a list with an element for each")
    return text


def check_nbest(name: str, value: int, limits: ServerLimits) -> None:
    """Raise HTTPException (422) if the n-best list that is requested is longer than the server allows."""
    if value > limits.max_nbest:
        raise HTTPException(422, f"{name} is {value}, at most {limits.max_nbest}")


def input_of(body: SentenceBody, served: ServedModel, is_raw: bool, markup: Markup | None, most_words: int) -> Input:
    """The sentence as the decoder takes it; all its text is either raw or tokens.

    `markup`: how markup in the text is read; None: as the model says, if such text can have markup.

    Raises ConfigError, and HTTPException (413) if the sentence, or its instructions, have more than `most_words` words.
    """
    given = _with_markup(body, served, is_raw, markup) or _as_given(body, served, is_raw, most_words)
    check_size("words in a sentence", len(given.words), most_words)
    check_size("words in a prefix", len(given.prefix.words), most_words)
    check_size("words in a term", max((len(term.target) for term in given.terms), default=0), most_words)
    check_size("terms in a sentence", len(given.terms), MOST_TERMS)
    return with_term_base(given, served.terms, tokenization_of(served, is_raw)) if served.terms else given


def _with_markup(body: SentenceBody, served: ServedModel, is_raw: bool, markup: Markup | None) -> Input | None:
    can_have_markup = not body.has_instructions and isinstance(body.text, str)
    if markup is None and can_have_markup:
        markup = served.decoder.searcher.input_settings.markup
    if markup in (None, "pass-through"):
        return None
    if not can_have_markup or not isinstance(body.text, str):
        raise ConfigError("markup is only for text without other instructions; leave out one of the two")
    tokenization = tokenization_of(served, is_raw)
    if is_raw:
        check_size("characters in a sentence", len(body.text), LONGEST_RAW)
    return tokenization.sentence(one_line(body.text), markup, has_tags=served.decoder.model.has_tags)


def _as_given(body: SentenceBody, served: ServedModel, is_raw: bool, most_words: int) -> Input:
    tokenization = tokenization_of(served, is_raw)
    if is_raw:
        for text in (body.text, body.prefix, *(text for one in body.terms for text in (one.source, one.target))):
            check_size("characters in a sentence", len(text or ""), LONGEST_RAW)
    if isinstance(body.text, str):
        tokens = split(tokenization.before(one_line(body.text)))
    else:
        tokens = body.text
    check_size("words in a sentence", len(tokens), most_words)
    words, tags = words_and_tags(tokens, served.decoder.model.has_tags)
    terms = tuple(term for one in body.terms for term in _terms(one, words, tokenization))
    prefix = tokenization.prefix(one_line(body.prefix), body.partial_word)
    return Input(words, terms, body.policy, tuple(body.walls), tuple(body.zones), prefix, tags=tags)


def tokenization_of(served: ServedModel, is_raw: bool) -> Tokenization:
    """The tokenization of text. Raises ConfigError if text is raw and the model was made from tokenized text."""
    if is_raw and served.raw_text is None:
        raise ConfigError(f"the model {served.name} knows only tokenized text; send tokens, and leave out raw")
    return Tokenization.of(served.raw_text if is_raw else None)


def _terms(body: TermBody, words: Sequence[str], tokenization: Tokenization) -> Iterator[Term]:
    target = tuple(split(tokenization.target(one_line(body.target))))
    written = body.target.strip() if tokenization.is_raw else ""
    if not target:
        raise ConfigError("a term has no words as its target; give some")
    if body.begin is not None and body.end is not None:
        yield Term(body.begin, body.end, target, body.probability, written=written)
        return
    source = split(tokenization.before(one_line(body.source or "")))
    if not source:
        raise ConfigError("a term has no words as its source; give some")
    begin = 0
    while begin + len(source) <= len(words):
        is_there = list(words[begin : begin + len(source)]) == source
        if is_there:
            yield Term(begin, begin + len(source), target, body.probability, written=written)
        begin += len(source) if is_there else 1
