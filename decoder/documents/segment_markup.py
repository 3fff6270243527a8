"""Parts of a segment that are not text: tags, placeholders of programs, code, references, escapes, line ends."""

import re
from collections.abc import Iterator, Sequence
from html import escape, unescape
from typing import Literal, NamedTuple

from phrasebeam.decoder.marked_text.html_document import BLOCKS, EMPTY, KEPT
from phrasebeam.decoder.marked_text.html_tokens import END, START, HtmlToken, html_tokens

Kind = Literal["text", "word", "sign", "space", "break", "start", "end", "tag"]
# Inline elements of XLIFF and TMX that hold code of the document, or nothing
CODE_ELEMENTS = frozenset(["bpt", "ept", "it", "ph", "ut", "x", "bx", "ex", "sc", "ec", "sm", "em", "cp"])
FIRST_CODES, LAST_CODES = ("bpt", "bx", "sc"), ("ept", "ex", "ec")  # elements of which a pair wraps text
SENTENCE = "<mrk-seg"  # the name of an element whose text is a sentence
KNOWN_TAGS = BLOCKS | EMPTY | KEPT  # these have a meaning without the other tag of the element


class MarkupPiece(NamedTuple):
    """A part of a segment.

    text: to be translated, as it is read. word: a placeholder or code that stands for a word. sign: a placeholder or
    code that belongs to the word that it touches. space: replaces a space. break: line ends and tabs. start, end: both
    sides of markup that wraps text; those of a pair have the same name. tag: an HTML tag without its counterpart.
    """

    kind: Kind
    written: str
    name: str = ""


URL = r"""(?:(?:https?|ftp|file)://|www\.|mailto:)[^\s<>"'`|\\^]*[\w/=&\#%+~$-]"""
EMAIL = r"(?<![\w.+-])[\w.+-]*\w@[\w-]+(?:\.[\w-]+)*"
PRINTF = (
    r"%(?:%\w*|\d+%|[A-Za-z_]{2,}%"
    r"|(?:\d+\$|\([^()\n]*\)|<\w+>)?[+\#'-]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?(?:hh|ll|[hlqjztL])?[\w@])"
)
BRACES = r"[$\#%]?\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*+\})*+\})*+\}"
ESCAPED_TAG = r"&lt;/?[A-Za-z](?:(?!&[lg]t;)[^<>\n]){0,200}?&gt;"

# If several begin at the same place, the first in this order is taken. open_N, in_N, close_N: markup that wraps text.
FOUND = re.compile(
    rf"""
    (?:(?<!\w)|(?!\w))(?:                                       # not within a word
    (?P<open_1>(?::[A-Za-z][\w.+-]*)+:`)(?P<in_1>[^`<]*[^`<\s])(?P<close_1>\s*<[^`<>]*>`)
  | (?P<open_2>`)(?P<in_2>[^`\s<](?:[^`<]*[^`<\s])?)(?P<close_2>\s*<[^`<>]*>`__?)
  | (?P<open_3>(?<![\w*\\])\*\*)(?P<in_3>(?![\s*])(?:\\.|[^*\\\n])+)(?P<close_3>(?<![\s\\])\*\*(?![\w*]))
  | (?P<open_4>(?<![\w*\\])\*)(?P<in_4>(?![\s*])(?:\\.|[^*\\\n])+)(?P<close_4>(?<![\s\\])\*(?![\w*]))
  | (?P<open_5>\[)(?P<in_5>[^\[\]\n]+)(?P<close_5>\]\([^()\s]+\))
  | (?P<open_6>&quot;)(?P<in_6>(?!\s)(?:(?!&quot;).)+)(?P<close_6>(?<!\s)&quot;)
  | (?P<tag>{START.pattern} | {END.pattern} | <!--(?:[^-]|-(?!->))*+--> | {ESCAPED_TAG})
  | (?P<space>&(?:nbsp|thinsp|ensp|emsp|\#160|\#[xX][aA]0);)
  | (?P<sign>&(?:[A-Za-z][A-Za-z0-9]*|\#\d+|\#[xX][0-9A-Fa-f]+); | (?<!\w)[&_](?=[^\W\d_])(?!\w*_))
  | (?P<break>\s*[\t\n\r\v\f\x85\u2028\u2029]\s* | \s*(?:\\[nrt])+(?![a-z])\s* | (?<=[^\s({{\[\\])(?:\\[nrt])+\s*)
  | (?P<word>
      (?::[A-Za-z][\w.+-]*)+:`(?:[^`\\]|\\.)+`                  # a role of reStructuredText
    | ``(?:[^`]|`(?!`))++``(?!`) | `[^`\n]+`(?:__?(?!\w))?      # code, references
    | \[(?:\#\w*|\*|\d+|\w+)\]_ | \|\w[\w .-]*\|
    | {URL} | {EMAIL} | {PRINTF} | {BRACES}
    | \$\(\w+\) | \$\w+\$?
    | (?<!\w)[A-Za-z]:\\[^\s"'`|<>]*                            # a path of Windows
    | (?<![\w/.<])~?/(?:[\w.+-]+/)*[\w.+-]*\w/?(?![\w>])        # and of others
    | (?<![\w-])--[A-Za-z][\w-]*
    | (?<![\w.])[A-Za-z_][\w.]*\(\)
    | (?<!\w)(?:\w*[^\W_]_+[^\W_]\w*|__\w+|\w+_(?!\w))          # identifiers
    | (?<![\w*])\*{{1,2}}[A-Za-z_]\w*
    | <[^>]{{1,200}}>
    )
  | (?P<escape>\\(?:[0-7]{{1,3}} | x[0-9A-Fa-f]{{2}} | u[0-9A-Fa-f]{{4}} | [A-Za-z]+ | [^%{{]?))
    )""",
    re.VERBOSE | re.DOTALL,
)
FOUND_KINDS: dict[str, Kind] = {"space": "space", "break": "break", "word": "word"}
# Placeholders that get values by their order alone
IN_ORDER = re.compile(r"%(?![%(<{]|\d+[$%])[+#'.*\dhlqjztL-]*[\w@]|\{(?=[}:!])")


def text_pieces(text: str) -> list[MarkupPiece]:
    """The pieces of a text that may contain tags of HTML, reStructuredText, Markdown and placeholders.

    The concatenation of their `written` is the text.

    >>> [piece.written for piece in text_pieces("Open %s in <b>{app}</b>") if piece.kind != "text"]
    ['%s', '<b>', '{app}', '</b>']
    """
    return _paired(list(_found(text, 0, len(text))))


def xml_pieces(xml: str) -> list[MarkupPiece]:
    """The pieces of the content of an XLIFF element, whose text may also contain all that text_pieces finds."""
    found, names, tokens = list[MarkupPiece](), list[str](), html_tokens(xml)
    for token in tokens:
        if token.kind == "text":
            text = unescape(token.written)
            found += [_as_xml(piece) for piece in _found(text, 0, len(text))]
        elif token.kind == "end":
            found.append(MarkupPiece("end", token.written, names.pop()))
        else:
            found.append(_element(token, tokens))
            if found[-1].kind == "start" and not found[-1].name.startswith("@"):
                names.append(found[-1].name)
    return _paired(found)


def in_order(piece: MarkupPiece) -> list[str]:
    """The placeholders in a piece that have to keep their order: %s, %d and {}, but neither %(name)s nor %1$s."""
    return IN_ORDER.findall(piece.written) if piece.kind == "word" and piece.written[0] in "%{" else []


def _as_xml(piece: MarkupPiece) -> MarkupPiece:
    """A piece of text with its markup escaped for XML."""
    return piece if piece.kind == "text" else piece._replace(written=escape(piece.written, quote=False))


def _element(first: HtmlToken, tokens: Iterator[HtmlToken]) -> MarkupPiece:
    """An element of XLIFF that is kept unchanged, or the first tag of another element."""
    is_kept = first.attribute("translate") == "no" or first.attribute("mtype") == "protected"
    is_whole = first.kind != "start" or first.written.endswith("/>")
    if not (is_whole or is_kept or first.name in CODE_ELEMENTS):
        is_sentence = first.attribute("mtype") == "seg"
        return MarkupPiece("start", first.written, SENTENCE if is_sentence else f"<{first.name}")
    written, depth = [first.written], 0 if is_whole else 1
    while depth and (token := next(tokens, None)):
        written.append(token.written)
        if token.name == first.name and not token.written.endswith("/>"):
            depth += {"start": 1, "end": -1}.get(token.kind, 0)
    if first.name not in FIRST_CODES + LAST_CODES:
        return MarkupPiece("sign", "".join(written))
    keys = [first.attribute(name) for name in ("startref", "rid", "i", "id")]
    name = next((f"@{key}" for key in keys if key), "@")
    return MarkupPiece("start" if first.name in FIRST_CODES else "end", "".join(written), name)


def _found(text: str, begin: int, end: int) -> Iterator[MarkupPiece]:
    """The pieces of text[begin:end], with tags not yet paired."""
    while match := FOUND.search(text, begin, end):
        if begin < match.start():
            yield MarkupPiece("text", text[begin : match.start()])
        begin = match.end()
        kind = match.lastgroup or ""
        if kind.startswith("close"):
            number = kind.rpartition("_")[2]
            name = f"*{match.start()}"
            yield MarkupPiece("start", match[f"open_{number}"], name)
            yield from _found(text, *match.span(f"in_{number}"))
            yield MarkupPiece("end", match[f"close_{number}"], name)
        elif kind == "tag":
            yield _tag(match[0])
        else:
            yield MarkupPiece(FOUND_KINDS.get(kind, "sign"), match[0])
    if begin < end:
        yield MarkupPiece("text", text[begin:end])


def _tag(written: str) -> MarkupPiece:
    """A tag, not yet paired; tags written with character references have names of their own."""
    if written.startswith("&"):
        tag = next(html_tokens(unescape(written)))
        return MarkupPiece("end" if tag.kind == "end" else "start", written, f"&{tag.name}")
    tag = next(html_tokens(written))
    if tag.kind == "other" or (written.endswith("/>") and tag.name not in KNOWN_TAGS):
        return MarkupPiece("sign", written)
    return MarkupPiece("tag" if tag.name in EMPTY else tag.kind, written, tag.name)


def _paired(found: Sequence[MarkupPiece]) -> list[MarkupPiece]:
    """The pieces; "start" and "end" remain only if they form a pair within the same element of XML."""
    pieces, opened, closed = list(found), list[int](), set[int]()
    for i, piece in enumerate(pieces):
        if piece.kind == "start":
            opened.append(i)
        elif piece.kind == "end":
            names = [pieces[j].name for j in opened]
            last = max((k for k, name in enumerate(names) if name == piece.name), default=None)
            if last is not None and not any(name.startswith("<") for name in names[last + 1 :]):
                closed |= {i, opened[last]}
                del opened[last:]
    for i, piece in enumerate(pieces):
        if piece.kind in ("start", "end") and i not in closed:
            pieces[i] = piece._replace(kind="tag" if piece.name in KNOWN_TAGS else "sign")
    return pieces
