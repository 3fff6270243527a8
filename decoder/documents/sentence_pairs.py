"""Sentence pairs of the files that translators have: tables, translation memories, XLIFF, PO."""

import gzip
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.base.files import open_binary, read_lines
from phrasebeam.decoder.documents.columns import Columns
from phrasebeam.decoder.documents.file_formats import damaged, format_name, named_format, toolkit
from phrasebeam.decoder.documents.language_codes import nearest
from phrasebeam.decoder.documents.po_document import UNTRANSLATED, po_pairs, po_translations
from phrasebeam.decoder.documents.xliff_document import plain_text, xliff_pairs, xliff_translations

EXPECTED = "a translation memory (TMX)"
FORMATS = ("tsv", "tmx", "xliff", "po")


class SegmentPair(NamedTuple):
    """A text and its translation, each in one line."""

    source: str
    target: str


class SegmentPairs(Iterator[SegmentPair]):
    """The pairs of a file; counts the segments that were left out so far, by reason."""

    def __init__(self, found: Iterator[tuple[str, str] | str]):
        self._found = found
        self.left_out = Counter[str]()

    def __next__(self) -> SegmentPair:
        for one in self._found:
            pair = one if isinstance(one, str) else SegmentPair(*(" ".join(text.split()) for text in one))
            if isinstance(pair, SegmentPair) and all(pair):
                return pair
            self.left_out[UNTRANSLATED if isinstance(pair, SegmentPair) else pair] += 1
        raise StopIteration


@checked
def read_pairs(path: str | Path, source: str | int | None = None, target: str | int | None = None) -> SegmentPairs:
    """Read the sentence pairs of a TSV, TMX, XLIFF 1.2 or 2, or PO file, by its name, plain or compressed.

    `source`, `target`: for TSV the columns, named by a header or numbered from 1; by default the first two. For other
    formats the languages (BCP 47): de matches de-DE, and de-DE matches de; TMX needs both. Sequences of white space
    become a space. Inline tags of TMX and XLIFF, segments without a translation, and segments that a translator has to
    review are left out; the attribute `left_out` of the result counts them. TSV and TMX files are read piece by piece,
    others are held in memory. Reading raises FormatError, which names the line if it is known, ConfigError or OSError.

    >>> with open("pairs.tsv", "w") as file:
    ...     _ = file.write("der Hund\\tthe dog\\ndie Katze\\t\\n")
    >>> pairs = read_pairs("pairs.tsv")
    >>> list(pairs), dict(pairs.left_out)
    ([SegmentPair(source='der Hund', target='the dog')], {'untranslated': 1})
    """
    kind = format_name(path, FORMATS)
    if kind == "tsv":
        return SegmentPairs(_tsv_pairs(path, Columns(path, source, target)))
    codes = str(source) if source else None, str(target) if target else None
    if kind == "po":
        return SegmentPairs(po_pairs(path))
    return SegmentPairs(tmx_pairs(path, *codes) if kind == "tmx" else xliff_pairs(path, *codes))


def read_translations(path: str | Path, target: str | int | None = None) -> Iterator[str]:
    """The target side of a TSV, TMX, XLIFF or PO file, or of plain text, one line a segment, as its name indicates.

    Segments without a translation are empty lines, and segments that need a review are included, so that files of one
    document are parallel. `target`: for TSV the column, by default the second; for TMX the language. Raises
    FormatError, ConfigError, OSError.
    """
    kind = named_format(path)
    if kind not in FORMATS:
        return read_lines(path)
    if kind == "tsv":
        column = 2 if target is None else target
        pairs = _tsv_pairs(path, Columns(path, column, column))
        found: Iterator[str] = (pair[1] for pair in pairs)
    elif kind == "tmx":
        found = _tmx_texts(path, target)
    else:
        found = po_translations(path) if kind == "po" else xliff_translations(path)
    return (" ".join(text.split()) for text in found)


def _tmx_texts(path: str | Path, target: str | int | None) -> Iterator[str]:
    """The text in one language of each unit that has this language."""
    if target is None:
        raise ConfigError(
            f"{path}: a translation memory has several languages; give the target language (--target-column de)"
        )
    for unit in _tmx_units(path):
        segments = {code: node for node in unit.getlanguageNodes() if (code := _language(node))}
        if found := nearest(str(target), segments):
            yield _segment_text(unit, segments[found])


def _tsv_pairs(path: str | Path, columns: Columns) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(read_lines(path), 1):
        pair = columns.pair(line.split("\t"), number)
        if pair is not None:
            yield pair


def tmx_pairs(path: str | Path, source: str | None, target: str | None) -> Iterator[tuple[str, str] | str]:
    """The sentence pairs of a translation memory, or "other languages" for units that lack one of the two languages."""
    if source is None or target is None:
        raise ConfigError(f"{path}: a memory has several languages; give both (--source-column en --target-column de)")
    languages, n_pairs = Counter[str](), 0
    for unit in _tmx_units(path):
        segments = {code: node for node in unit.getlanguageNodes() if (code := _language(node))}
        languages.update(list(segments))
        codes = nearest(source, segments), nearest(target, segments)
        if codes[0] is None or codes[1] is None:
            yield "other languages"
        else:
            n_pairs += 1
            yield _segment_text(unit, segments[codes[0]]), _segment_text(unit, segments[codes[1]])
    if not n_pairs:
        found = ", ".join(f"{code} ({count})" for code, count in languages.most_common()) or "none"
        raise ConfigError(f"{path}: has no segments from {source} to {target}; its languages are {found}")


def _tmx_units(path: str | Path) -> Iterator[Any]:
    """Yield the units of a translation memory; only one at a time is in memory."""
    tmx = toolkit("storage.tmx")
    from lxml import etree

    options = {"resolve_entities": False, "no_network": True, "remove_comments": True}
    root = None
    try:
        with open_binary(path) as file:
            for event, element in etree.iterparse(file, ("start", "end"), tag=("tmx", "tu"), **options):
                root = element if element.tag == "tmx" else root
                if event == "end" and element.tag == "tu":
                    yield tmx.tmxunit.createfromxmlElement(element)
                    element.clear()
                    while element.getprevious() is not None:
                        del element.getparent()[0]
    except etree.XMLSyntaxError as error:
        raise damaged(path, error, EXPECTED) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FormatError(path, f"damaged compressed data ({error}); copy the file again") from None
    if root is None:
        raise FormatError(path, f"no element <tmx>, expected {EXPECTED}; rename it, or give another file")


def _language(node: Any) -> str:
    """The language of a variant, by xml:lang or, as in TMX 1.1, by lang."""
    code: str = toolkit("misc.xml_helpers").getXMLlang(node) or node.get("lang") or ""
    return code


def _segment_text(unit: Any, node: Any) -> str:
    segment = node.find(unit.namespaced(unit.textNode))
    return "" if segment is None else plain_text(segment)
