"""Opens a document of any format, as its name indicates."""

from pathlib import Path

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.documents.document import Document, TableDocument, TextDocument
from phrasebeam.decoder.documents.file_formats import named_format
from phrasebeam.decoder.documents.po_document import PoDocument
from phrasebeam.decoder.documents.xliff_document import XliffDocument
from phrasebeam.decoder.marked_text.sentence_division import SentenceDivision


def open_document(
    path: str | Path,
    source: str | int | None = None,
    target: str | int | None = None,
    division: SentenceDivision | None = None,
) -> Document:
    """Open a PO, XLIFF 1.2 or 2 or TSV file, or plain text, compressed or not, as its name indicates.

    `source`, `target`: for TSV the columns, named by a header or numbered from 1, by default the first two; for other
    formats the languages (BCP 47). `division`: for plain text, divides lines into sentences; without it each line is a
    segment. Raises FormatError, which names the line if it is known, ConfigError, OSError.

    >>> with open("hello.tsv", "w") as file:
    ...     _ = file.write("Hello {name}!\\t\\nBye\\tTschüs\\n")
    >>> document = open_document("hello.tsv")
    >>> document.segments, document.n_translated
    ([DocumentSegment(written='Hello {name}!', is_xml=False)], 1)
    >>> document.fill(["Hallo {name}!"])
    >>> document.write("hallo.tsv")
    """
    kind = named_format(path)
    if kind == "tsv":
        return TableDocument(path, source, target)
    codes = str(source) if source else None, str(target) if target else None
    if kind == "po":
        return PoDocument(path, codes[1])
    if kind == "xliff":
        return XliffDocument(path, *codes)
    if kind is not None:
        raise ConfigError(f"{path}: is no document to translate; give a PO, XLIFF, TSV or text file")
    return TextDocument(path, division)
