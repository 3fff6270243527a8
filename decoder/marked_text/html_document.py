"""The sentences of HTML: each run of text and inline tags is one; tags, comments and scripts stay unchanged.

Elements with translate="no" stay unchanged, too. White space within a sentence counts as in a browser.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape, unescape
from typing import NamedTuple

from phrasebeam.decoder.marked_text.html_tokens import HtmlToken, element_names, html_tokens
from phrasebeam.decoder.marked_text.marked_text import Mark, MarkedDocument, MarkedText, with_margins

# Elements before and after which a sentence ends; all others are inline, including unknown elements.
BLOCKS = element_names(
    "address article aside base blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li "
    "link main menu meta nav noscript ol optgroup option p pre section select summary table tbody td template "
    "textarea tfoot th thead title tr ul"
)
EMPTY = element_names("area base br col embed frame hr img input link meta param source track wbr")
WITHIN_WORDS = element_names("wbr")  # all other empty elements separate words
# Not translated: programs, pictures, and text whose white space matters.
KEPT = element_names("iframe math noembed noframes plaintext pre script style svg textarea xmp")
FOREIGN = element_names("math svg")  # elements that may end within their first tag
DEEPEST = 50  # depth of nested elements up to which their ends are searched
SPACE = re.compile("[ \t\n\f\r]+")


class _Node(NamedTuple):
    """A part of a sentence: text, an element, or a tag without its counterpart, a comment and the like."""

    written: str  # text, or the first tag
    end: str = ""  # the last tag of an element
    children: "Sequence[_Node]" = ()
    is_text: bool = False
    is_left: bool = False  # an end tag without its start tag
    is_blank: bool = False  # whether it separates words

    @property
    def has_words(self) -> bool:
        """Whether it has words to translate."""
        if self.is_text:
            return bool(unescape(self.written).strip())
        return any(child.has_words for child in self.children)

    @property
    def whole(self) -> str:
        return self.written + "".join(child.whole for child in self.children) + self.end


def html_document(html: str) -> MarkedDocument:
    """The sentences of HTML and what is between them.

    >>> html_document("<h1>Der Hund</h1><p>Er <b>schläft</b>.").parts[:3]
    ['<h1>', MarkedText(text='Der Hund', marks=()), '</h1>']
    """
    return MarkedDocument(list(html_parts(html)), html_text)


def html_parts(html: str) -> Iterator[str | MarkedText]:
    """The parts of html_document, in order."""
    run, tokens = list[HtmlToken](), html_tokens(html)
    for token in tokens:
        if _is_kept(token):
            token = HtmlToken("other", token.written + _rest_of(token, tokens), token.name)
        if token.name in BLOCKS:
            yield from _sentence(_nodes(run))
            yield token.written
            run = []
        else:
            run.append(token)
    yield from _sentence(_nodes(run))


def html_text(text: str) -> str:
    """Text escaped for HTML."""
    return escape(text, quote=False).replace("\N{NO-BREAK SPACE}", "&nbsp;")


def _is_kept(token: HtmlToken) -> bool:
    """Whether an element stays unchanged."""
    if token.kind != "start" or token.name in EMPTY:
        return False
    return token.name in KEPT or (token.attribute("translate") or "").lower() == "no"


def _rest_of(first: HtmlToken, tokens: Iterator[HtmlToken]) -> str:
    """The part of an element after its first tag; all the rest if it has no end."""
    written, depth = list[str](), 0 if first.name in FOREIGN and first.written.endswith("/>") else 1
    while depth and (token := next(tokens, None)):
        written.append(token.written)
        if token.name == first.name:
            depth += {"start": 1, "end": -1}.get(token.kind, 0)
    return "".join(written)


def _nodes(tokens: Iterable[HtmlToken]) -> list[_Node]:
    """A run of text and inline elements as a tree, in which a tag without its counterpart is a leaf."""
    levels: list[tuple[HtmlToken, list[_Node]]] = [(HtmlToken("other", ""), [])]  # open elements, the root first
    for token in tokens:
        if token.kind == "start" and token.name not in EMPTY and len(levels) <= DEEPEST:
            levels.append((token, []))
        elif token.kind == "end" and token.name in [first.name for first, _ in levels[1:]]:
            first, children = levels.pop()
            while first.name != token.name:
                levels[-1][1].extend([_Node(first.written), *children])
                first, children = levels.pop()
            levels[-1][1].append(_Node(first.written, token.written, children))
        else:
            levels[-1][1].append(_leaf(token))
    return [*levels[0][1], *(node for first, some in levels[1:] for node in (_Node(first.written), *some))]


def _leaf(token: HtmlToken) -> _Node:
    is_element = token.kind == "other" and token.name != ""  # an element that stays unchanged
    is_blank = is_element or (token.kind == "start" and token.name in EMPTY - WITHIN_WORDS)
    return _Node(token.written, is_text=token.kind == "text", is_left=token.kind == "end", is_blank=is_blank)


def _sentence(nodes: Sequence[_Node]) -> Iterator[str | MarkedText]:
    """The sentence of a run, without what surrounds it: white space, and tags that wrap all or none of its words."""
    places = [place for place, node in enumerate(nodes) if node.has_words]
    if not places:
        yield from (node.whole for node in nodes)
        return
    first, last = places[0], places[-1]
    yield from (node.whole for node in nodes[:first])
    if first == last and not nodes[first].is_text:
        yield nodes[first].written
        yield from _sentence(nodes[first].children)
        yield nodes[first].end
    else:
        yield from _with_marks(list(nodes[first : last + 1]))
    yield from (node.whole for node in nodes[last + 1 :])


def _with_marks(nodes: list[_Node]) -> Iterator[str | MarkedText]:
    """A sentence whose first and last nodes have words, without the white space around it."""
    before = behind = ""
    if nodes[0].is_text:
        before, words, space = with_margins(unescape(nodes[0].written))
        nodes[0] = nodes[0]._replace(written=html_text(words + space))
    if nodes[-1].is_text:
        space, words, behind = with_margins(unescape(nodes[-1].written))
        nodes[-1] = nodes[-1]._replace(written=html_text(space + words))
    yield html_text(before)
    yield _Flattening(nodes).sentence
    yield html_text(behind)


class _Flattening:
    """The text of a sentence, with white space collapsed, and its marks."""

    def __init__(self, nodes: Sequence[_Node]):
        self._leaves, self._n_seen = list(_leaves(nodes)), 0
        self._texts, self._size, self._is_after_space = list[str](), 0, True
        marks = self._marks(nodes)
        self.sentence = MarkedText("".join(self._texts).rstrip(" "), tuple(marks))

    def _marks(self, nodes: Sequence[_Node]) -> list[Mark]:
        marks = []
        for node in nodes:
            begin = self._size
            if node.children:
                children = tuple(self._marks(node.children))
                marks.append(Mark(begin, self._size, node.written, node.end, children))
                continue
            self._n_seen += 1
            if node.is_text:
                self._add(SPACE.sub(" ", unescape(node.written)))
            else:
                before, behind = self._spaces(node)
                self._add(" " * node.is_blank)
                opening = before + node.written + behind
                marks.append(Mark(begin, begin, opening, node.end, (), node.is_left, node.is_blank))
        return marks

    def _add(self, text: str) -> None:
        text = text[1:] if self._is_after_space and text[:1] == " " else text
        if text:
            self._texts.append(text)
            self._size, self._is_after_space = self._size + len(text), text[-1] == " "

    def _spaces(self, node: _Node) -> tuple[str, str]:
        """The space before and after a node that separates words; between two such nodes it is after the first."""
        if not node.is_blank:
            return "", ""
        before, behind = self._leaves[: self._n_seen - 1][-2:], self._leaves[self._n_seen : self._n_seen + 1]
        is_taken = len(before) == 2 and before[0].is_blank and not before[1].has_words
        has_space = bool(before) and not is_taken and before[-1].is_text and before[-1].written[-1:].isspace()
        return " " * has_space, " " * bool(behind and behind[0].is_text and behind[0].written[:1].isspace())


def _leaves(nodes: Iterable[_Node]) -> Iterator[_Node]:
    for node in nodes:
        if node.children:
            yield from _leaves(node.children)
        else:
            yield node
