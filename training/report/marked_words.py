"""Shows two texts as one, in which deleted and inserted words are marked."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from xml.etree.ElementTree import Element

from phrasebeam.console.html_page import Child, element


def marked(before: str | None, text: str) -> Element:
    """`text` with marks on the words that were deleted from the text `before`, and on those that were inserted."""
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
