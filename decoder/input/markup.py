"""Sentences with markup, like Moses' xml-input: translations of terms, walls and zones.

    das ist ein <term translation="small house||cottage" prob="0.8||0.2">kleines Haus</term>
    <zone> " Ja " </zone> , sagt er <wall/> und geht .

A tag of any name except wall and zone gives its words the translations that it lists, or none. The attribute span="2-4"
selects words by number (from 0, the last one included) instead of those inside the tag. In attributes \\" is a
quotation mark, in text \\< is a < that begins no tag; a < before anything but a letter or / never does. As in Moses,
&lt; and the like are ordinary words, which a model may know.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from os import PathLike
from typing import cast

from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.decoder.input.input_settings import Markup, TermPolicy
from phrasebeam.decoder.input.sentence_input import Input, Term, check_span, words_and_tags
from phrasebeam.lm.text.corpus import split

WALL, ZONE = "wall", "zone"
UNSUPPORTED = ("ne", "update", "weight-overwrite", "coord")  # Moses' tags that change the model, or need factors
SEPARATOR = "||"  # separates translations, and probabilities
NAME, VALUE = r'[^\s<>"/=]+', r'(?:\\"|\\(?!")|[^"\\])*'
OPENING = re.compile(r"(?<!\\)<(?=[A-Za-z/])")
TAG = re.compile(rf'<(/?)([A-Za-z][^\s<>"/=]{{0,39}})((?:\s+{NAME}\s*=\s*"{VALUE}")*)\s*(/?)>')
ATTRIBUTE = re.compile(rf'({NAME})\s*=\s*"({VALUE})"')
SPAN = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
MOST_ELEMENTS = 1000  # per line, since zones are compared with each other
LONGEST_SHOWN = 40  # characters of a line that an error quotes


@dataclass(frozen=True)
class Tag:
    """<name ...>, </name> or <name .../>."""

    name: str
    attributes: dict[str, str]
    is_closing: bool
    is_empty: bool


@dataclass(frozen=True)
class Element:
    """An element of the markup, which applies to the words begin:end; while it is read, to pieces of text."""

    name: str
    attributes: dict[str, str]
    begin: int
    end: int

    def moved(self, first: Sequence[int]) -> "Element":
        """The same element over words; `first` has the number of words before each piece of text, and at the end."""
        return replace(self, begin=first[self.begin], end=first[self.end])


@checked
def read_markup(
    line: str,
    markup: Markup,
    path: str | PathLike[str] = "input",
    number: int | None = None,
    has_tags: bool = False,
) -> Input:
    """Read a tokenized line with markup as the policy `markup` says; "pass-through" reads tags as text.

    For `has_tags` see words_and_tags. Raises FormatError, naming `path` and the `number` of the line, if the markup is
    malformed or impossible, or if a token has no tag.

    >>> given = read_markup('der <x translation="puppy">hund</x> schläft', "exclusive")
    >>> given.words, given.terms[0].target
    (['der', 'hund', 'schläft'], ('puppy',))
    """
    return read_sentence(line, markup, path, number, has_tags)


def read_all_markup(
    lines: Iterable[str], markup: Markup, path: str | PathLike[str], has_tags: bool = False
) -> Iterator[Input]:
    """Yield the sentences of `lines` of the file `path`, each by read_markup."""
    for number, line in enumerate(lines, 1):
        yield read_sentence(line, markup, path, number, has_tags)


def read_sentence(line: str, markup: Markup, path: str | PathLike[str], number: int | None, has_tags: bool) -> Input:
    """read_markup without checks of its arguments, for many lines."""
    try:
        if markup == "pass-through":
            return Input.read(line, has_tags)
        pieces, elements = read_elements(line)
        first = [0, *accumulate(len(split(piece)) for piece in pieces)]
        words, tags = words_and_tags([word for piece in pieces for word in split(piece)], has_tags)
        return replace(with_instructions(words, [one.moved(first) for one in elements], markup), tags=tags)
    except ConfigError as error:
        raise FormatError(path, str(error), number) from None


def read_elements(line: str) -> tuple[list[str], list[Element]]:
    """The pieces of text between tags, and the elements over such pieces, in the order in which they end."""
    pieces: list[str] = []
    elements: list[Element] = []
    opened: list[tuple[Tag, int]] = []
    for piece in _pieces(line):
        if len(elements) > MOST_ELEMENTS:
            raise ConfigError(f"more than {MOST_ELEMENTS} elements of markup; split the line")
        if isinstance(piece, str):
            pieces.append(piece)
        elif piece.is_closing:
            if not opened:
                raise ConfigError(f"</{piece.name}> closes a tag that was not opened")
            tag, begin = opened.pop()
            if tag.name != piece.name:
                raise ConfigError(f"<{tag.name}> is closed by </{piece.name}>, expected </{tag.name}>")
            elements.append(Element(tag.name, tag.attributes, begin, len(pieces)))
        elif piece.is_empty:
            elements.append(Element(piece.name, piece.attributes, len(pieces), len(pieces)))
        else:
            opened.append((piece, len(pieces)))
    if opened:
        name = opened[-1][0].name
        raise ConfigError(f"<{name}> is not closed, expected </{name}>; a < that begins no tag is written \\<")
    return pieces, elements


def _pieces(line: str) -> Iterator[str | Tag]:
    """Text and tags of a line, alternately."""
    position = 0
    while opening := OPENING.search(line, position):
        yield line[position : opening.start()].replace("\\<", "<")
        tag = TAG.match(line, opening.start())
        if tag is None or (tag[1] and (tag[3] or tag[4])):
            where = f"malformed tag at character {opening.start() + 1}, {line[opening.start() :][:LONGEST_SHOWN]!r}"
            raise ConfigError(f'{where}: expected <name attribute="value">, </name> or <name/>; a plain < is \\<')
        attributes = {name: value.replace('\\"', '"') for name, value in ATTRIBUTE.findall(tag[3])}
        yield Tag(tag[2], attributes, bool(tag[1]), bool(tag[4]))
        position = tag.end()
    yield line[position:].replace("\\<", "<")


def with_instructions(
    words: Sequence[str], elements: Iterable[Element], markup: Markup, target: Callable[[str], str] | None = None
) -> Input:
    """The sentence of the words with these elements; `target` turns translations of terms in raw text into tokens."""
    terms: list[Term] = []
    walls: list[int] = []
    zones: list[tuple[int, int]] = []
    for element in elements:
        begin, end = _span(element)
        if element.name == WALL:
            if begin != end:
                check_span("walls are put around", begin, end, len(words))
            walls += range(begin, end + 1)
        elif element.name == ZONE:
            zones.append((begin, end))
        elif element.name in UNSUPPORTED:
            raise ConfigError(f"<{element.name}> has a meaning in Moses that the decoder does not support; remove it")
        else:
            terms += _terms(element, begin, end, target)
    policy: TermPolicy = "exclusive" if markup in {"pass-through", "ignore"} else cast(TermPolicy, markup)
    sentence = Input(words, tuple(terms), policy, tuple(walls), tuple(zones))
    return replace(sentence, terms=()) if markup == "ignore" else sentence


def _span(element: Element) -> tuple[int, int]:
    """(begin, end) of the words to which the element applies."""
    if "span" not in element.attributes:
        return element.begin, element.end
    span = SPAN.fullmatch(element.attributes["span"])
    if span is None:
        message = f'<{element.name}> has span="{element.attributes["span"][:LONGEST_SHOWN]}"'
        raise ConfigError(f'{message}, expected the numbers of the first and the last word, such as span="2-4"')
    return int(span[1]), int(span[2] or span[1]) + 1


def _terms(element: Element, begin: int, end: int, target: Callable[[str], str] | None) -> list[Term]:
    """The translations in a tag's attribute "translation" or, as in older versions of Moses, "english"."""
    attributes = [element.attributes[name] for name in ("translation", "english") if element.attributes.get(name)]
    written = [text.strip() for texts in attributes for text in texts.split(SEPARATOR)]
    targets = [tuple(split(target(text) if target else text)) for text in written]
    if not all(targets):
        raise ConfigError(f"<{element.name}> gives a translation without words; remove a {SEPARATOR}")
    probabilities = [1.0] * len(targets)
    if texts := element.attributes.get("prob"):
        probabilities = [_probability(element.name, text) for text in texts.split(SEPARATOR)]
    if len(probabilities) != len(targets):
        numbers = f"{len(targets)} translations and {len(probabilities)} probabilities"
        raise ConfigError(
            f"<{element.name}> gives {numbers}, expected the same number of each, separated by {SEPARATOR}"
        )
    return [
        Term(begin, end, words, probability, written=text if target else "")
        for words, probability, text in zip(targets, probabilities, written)
    ]


def _probability(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f'<{name}> has prob="{text[:LONGEST_SHOWN]}", expected a number') from None
