"""Two texts as one, in which the words that differ are marked: those that went, and those that came."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from xml.etree.ElementTree import Element

from phrasebeam.console.html_page import Child, element


def marked(before: str | None, text: str) -> Element:
    """The text with what differs from the one before: words that went, and those that came."""
    if before is None:
        return element("span", {"dir": "auto"}, text)
    old, new = before.split(), text.split()
    parts: list[Child] = []
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append(" ".join(new[k:m]) + " ")
            continue
        parts += [part for words, tag in ((old[i:j], "del"), (new[k:m], "ins")) for part in _part(words, tag)]
    return element("span", {"dir": "auto"}, *parts)


def _part(words: Sequence[str], tag: str) -> list[Child]:
    return [element(tag, {}, " ".join(words)), " "] if words else []
