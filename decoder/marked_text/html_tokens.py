"""HTML as a sequence of tags, comments and text, whose concatenation is the original.

It takes time linear in the length, unlike Python's html.parser, which takes minutes for many repetitions of "<a".
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Literal, NamedTuple

Kind = Literal["text", "start", "end", "other"]
START = re.compile(r"""<([a-zA-Z][^\s/>]*+)(?:=\s*+(?:"[^"]*+"|'[^']*+')|[^>=]|=)*+>""")
END = re.compile(r"</([a-zA-Z][^\s/>]*+)[^>]*+>")
ATTRIBUTE = re.compile(r"""([^\s"'<>/=]++)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"'=<>`]++))?""")


def element_names(names: str) -> frozenset[str]:
    """Names of elements, given with spaces between them."""
    return frozenset(names.split())


# Elements that contain no tags; and those among them whose text is for readers.
RAW_TEXT = element_names("iframe noembed noframes plaintext script style textarea title xmp")


class HtmlToken(NamedTuple):
    """A tag, a comment or declaration ("other"), or text between them."""

    kind: Kind
    written: str
    name: str = ""  # name of a tag, in lower case

    def attribute(self, name: str) -> str | None:
        """The value of an attribute of a tag, "" if it has no value, None if the attribute is missing."""
        for match in ATTRIBUTE.finditer(self.written, 1 + len(self.name)):
            if match[1].lower() == name:
                return unescape((match[2] or "").strip("\"'"))
        return None


def html_tokens(html: str) -> Iterator[HtmlToken]:
    """The tokens of a document or a part of one, however malformed it is.

    >>> [token.written for token in html_tokens("<p>Der <b>Hund</b>")]
    ['<p>', 'Der ', '<b>', 'Hund', '</b>']
    """
    begin = position = 0  # begin of the text, and position of what may end it
    while (position := html.find("<", position)) >= 0:
        token = _tag(html, position)
        if token is None:
            position += 1
            continue
        if begin < position:
            yield HtmlToken("text", html[begin:position])
        yield token
        begin = position = position + len(token.written)
        if token.kind == "start" and token.name in RAW_TEXT:
            end = re.compile(rf"</{token.name}[\s/>]", re.IGNORECASE).search(html, position)
            position = end.start() if end else len(html)
    if begin < len(html):
        yield HtmlToken("text", html[begin:])


def _tag(html: str, position: int) -> HtmlToken | None:
    """The tag or comment that begins at this <, or None if it is text; if not closed, it ends with the document."""
    following = html[position + 1 : position + 3]
    if following[:1].isalpha() and following[:1].isascii():
        return _found("start", START.match(html, position)) or HtmlToken("text", html[position:])
    if following[:1] == "/" and following[1:].isalpha() and following[1:].isascii():
        return _found("end", END.match(html, position)) or HtmlToken("text", html[position:])
    if following[:1] in ("!", "?"):
        end = "-->" if html.startswith("!--", position + 1) else ">"
        behind = html.find(end, position + 2)
        return HtmlToken("other", html[position : behind + len(end)] if behind >= 0 else html[position:])
    return None


def _found(kind: Kind, match: re.Match[str] | None) -> HtmlToken | None:
    return HtmlToken(kind, match[0], match[1].lower()) if match else None
