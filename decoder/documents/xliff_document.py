"""XLIFF 1.2 and 2: segments with inline tags, which are filled in and marked for review."""

import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from phrasebeam.base.errors import ConfigError, FormatError, excerpt
from phrasebeam.decoder.documents.document import Document
from phrasebeam.decoder.documents.file_formats import parsed_bytes, read_bytes, toolkit
from phrasebeam.decoder.documents.language_codes import nearest
from phrasebeam.decoder.documents.po_document import FUZZY, UNTRANSLATED
from phrasebeam.decoder.documents.protected_segment import DocumentSegment
from phrasebeam.decoder.documents.segment_markup import CODE_ELEMENTS

EXPECTED = "XLIFF 1.2 or 2"
REVIEW, SUB_STATE, REVIEWED = "needs-review-translation", "phrasebeam:machine", "translated"
KEPT = "locked"
LONGEST_PROLOG = 1 << 16  # bytes before the root element
# States of targets to be translated anew: such a target is usually a copy of the source
UNFINISHED = ("new", "needs-translation", "needs-l10n", "initial")
ROOT_END = re.compile(rb"</(?:\w+:)?xliff\s*>|<(?:\w+:)?xliff\b[^>]*/>")


class XliffFile:
    """An XLIFF file, read by translate-toolkit; its languages are those of the file."""

    def __init__(self, path: str | Path, source: str | None = None, target: str | None = None):
        """Raises ConfigError if the languages of the file are not `source` and `target`."""
        self.path, self.bytes = path, read_bytes(path)
        self.is_2 = re.search(rb"<(?:\w+:)?xliff\b[^>]*\bversion\s*=\s*[\"']2", self.bytes) is not None
        if b"xliff" not in self.bytes.replace(b"\0", b"")[:LONGEST_PROLOG]:
            raise FormatError(path, f"not a supported XLIFF file, expected {EXPECTED}; rename it, or give another file")
        store = toolkit("storage.xliff2").Xliff2File if self.is_2 else toolkit("storage.xliff").xlifffile
        self.store = parsed_bytes(path, self.bytes, store, EXPECTED)
        for code, wanted in ((self.store.sourcelanguage, source), (self.store.targetlanguage, target)):
            if code and wanted and not (nearest(wanted, [code]) or nearest(code, [wanted])):
                sides = f"from {self.store.sourcelanguage} to {self.store.targetlanguage or 'any language'}"
                raise ConfigError(f"{path}: is {sides}, not from {source} to {target}; give the languages of the file")

    def units(self) -> Iterator["XliffUnit"]:
        """Its segments, in their order."""
        for unit in self.store.units:
            source = unit.source_dom
            if source is None:
                raise FormatError(
                    self.path, f"a segment without <source>, expected {EXPECTED}", unit.xmlelement.sourceline
                )
            yield XliffUnit(unit, self.is_2)


class XliffUnit:
    """A segment of XLIFF."""

    def __init__(self, unit: Any, is_2: bool):
        self.element, self.source, self.target, self._is_2 = unit.xmlelement, unit.source_dom, unit.target_dom, is_2
        self._namespaced = unit.namespaced

    @property
    def state(self) -> str:
        """UNTRANSLATED; FUZZY if the target needs a review; KEPT if it must stay; "" if it is finished."""
        states = [one.get("state") or "" for one in (self.element, self.target) if one is not None]
        if any(one.get("translate") == "no" for one in (self.element, *self.element.iterancestors())):
            return KEPT
        has_text = self.target is not None and (has_words(self.target) or len(self.target) > 0)
        is_copy = has_text and plain_text(self.target) == plain_text(self.source)
        if not has_text or (is_copy and any(one in UNFINISHED for one in states)):
            return UNTRANSLATED
        is_unsure = any(one in UNFINISHED or one.startswith("needs-") for one in states)
        return FUZZY if is_unsure or self.element.get("subState") == SUB_STATE else ""

    @property
    def origin(self) -> Any:
        """The element to be translated: <seg-source>, in which sentences are divided, or <source>."""
        divided = self.element.find(self._namespaced("seg-source"))
        return self.source if divided is None else divided

    def fill(self, xml: str) -> None:
        """Insert a target with the given inner XML, marked for review."""
        target = _element("target", xml, self.origin)
        for name, value in self.target.attrib.items() if self.target is not None else ():
            target.set(name, value)
        if self._is_2:
            self.element.set("state", REVIEWED)
            self.element.set("subState", SUB_STATE)
        else:
            target.set("state", REVIEW)
        if self.target is not None:
            target.tail = self.target.tail
            self.element.replace(self.target, target)
        else:
            before, tail = self.origin, self.origin.tail
            before.tail = None
            before.addnext(target)
            before.tail, target.tail = self.element.text, tail  # on its own line, if the source is
        self.target = target

    def mark_reviewed(self) -> None:
        """Mark the target as a translation that somebody has confirmed."""
        if self._is_2:
            self.element.attrib.pop("subState", None)
        else:
            self.target.set("state", REVIEWED)


class XliffDocument(Document):
    """An XLIFF file. Segments without a target are filled in and marked for review; all others stay unchanged."""

    def __init__(self, path: str | Path, source: str | None = None, target: str | None = None):
        self._file = XliffFile(path, source, target)
        units = list(self._file.units())
        states = [unit.state for unit in units]
        self._units = [unit for unit, state in zip(units, states) if state == UNTRANSLATED and has_words(unit.source)]
        segments = [DocumentSegment(inner_xml(unit.origin), is_xml=True) for unit in self._units]
        super().__init__(segments, sum(state in ("", FUZZY) for state in states))

    def _fill(self, number: int, translation: str) -> None:
        try:
            self._units[number].fill(translation)
        except (ValueError, SyntaxError) as error:  # of lxml
            wrong = f"the translation {excerpt(translation)} has what XML cannot have"
            raise FormatError(self._file.path, f"{wrong}; remove control characters from the model's text") from error

    def _mark_reviewed(self, number: int) -> None:
        self._units[number].mark_reviewed()

    def content(self) -> bytes:
        """The file with the same declaration, comments and line ends; only elements are rewritten."""
        from lxml import etree

        tree, content = self._file.store.document, self._file.bytes
        encoding = tree.docinfo.encoding or "UTF-8"
        if encoding.upper().startswith("UTF-16"):
            return bytes(etree.tostring(tree, encoding=encoding, xml_declaration=True))
        begin = toolkit("misc.xml_helpers").extract_xml_prolog(content)
        end = content[max(match.end() for match in ROOT_END.finditer(content)) :]
        root = etree.tostring(tree.getroot(), encoding=encoding, xml_declaration=False, with_tail=False)
        return bytes(begin + (root.replace(b"\n", b"\r\n") if b"\r\n" in content else root) + end)


def xliff_pairs(path: str | Path, source: str | None, target: str | None) -> Iterator[tuple[str, str] | str]:
    """The sentence pairs of an XLIFF file, or why a segment is not a pair, see XliffUnit.state."""
    for unit in XliffFile(path, source, target).units():
        state = unit.state
        yield state if state else (plain_text(unit.source), plain_text(unit.target))


def xliff_translations(path: str | Path) -> Iterator[str]:
    """The text of each segment's target, "" if it has none."""
    for unit in XliffFile(path).units():
        yield "" if unit.target is None else plain_text(unit.target)


def inner_xml(element: Any) -> str:
    """The content of an element as XML; white space is collapsed unless the element preserves it."""
    from lxml import etree

    helpers = toolkit("misc.xml_helpers")
    is_preserved = helpers.getXMLspaceInherited(element, "default") == "preserve"
    copied = deepcopy(element)
    copied.tail = None
    for node in copied.iter(etree.Element):  # now without CDATA and comments
        node.text = _text(node.text, is_preserved)
        if node is not copied:
            node.tail = _text(node.tail, is_preserved)
    written: str = etree.tostring(copied, encoding="unicode")
    return written[written.index(">") + 1 : written.rindex("<")] if not written.endswith("/>") else ""


def plain_text(element: Any) -> str:
    """The text in an element of XLIFF or TMX without tags and their code, with white space collapsed."""
    return " ".join("".join(_texts(element)).split())


def has_words(element: Any) -> bool:
    """Whether an element has text besides tags."""
    return plain_text(element) != ""


def _texts(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if isinstance(child.tag, str) and child.tag.rpartition("}")[2] not in CODE_ELEMENTS:
            yield from _texts(child)
        yield child.tail or ""


def _text(text: str | None, is_preserved: bool) -> str | None:
    return text if is_preserved or not text else re.sub("[ \t\r\n]+", " ", text)


def _element(name: str, xml: str, like: Any) -> Any:
    """An element with this inner XML, in the namespaces of another element."""
    from lxml import etree

    parser = toolkit("misc.xml_helpers").get_safe_xml_parser()
    names = "".join(f' xmlns{":" * bool(prefix)}{prefix or ""}="{uri}"' for prefix, uri in like.nsmap.items())
    tag = f"{like.prefix}:{name}" if like.prefix else name
    return etree.fromstring(f"<{tag}{names}>{xml}</{tag}>", parser)
