"""PO files of gettext: their messages with plural forms, filled in and marked as fuzzy."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phrasebeam.base.errors import FormatError
from phrasebeam.decoder.documents.document import Document
from phrasebeam.decoder.documents.file_formats import parsed_bytes, read_bytes, toolkit
from phrasebeam.decoder.documents.protected_segment import DocumentSegment

USUAL_FORMS = 2  # plural forms, for languages that neither the header nor translate-toolkit knows
FUZZY, UNTRANSLATED = "fuzzy", "untranslated"


def open_po(path: str | Path) -> Any:
    """The messages of a PO file, parsed by translate-toolkit. Raises FormatError, ConfigError, OSError."""
    content = read_bytes(path)
    try:
        content.decode()  # translate-toolkit guesses other encodings, and fails with some that headers name
    except UnicodeDecodeError as error:
        wrong = content[error.start]
        raise FormatError(path, f"byte 0x{wrong:02x} is not UTF-8; convert it (msgconv --to-code=UTF-8)") from None
    return parsed_bytes(path, content, toolkit("storage.pypo").pofile, "a PO file of gettext")


class PoDocument(Document):
    """A PO file. Messages without a translation are filled in and marked as fuzzy; all others stay unchanged."""

    def __init__(self, path: str | Path, target: str | None = None):
        """`target`: the language, which determines the number of plural forms if the header does not give it."""
        self._store = open_po(path)
        self._n_forms = plural_forms(self._store, target)
        self._units, segments, n_translated = list[tuple[Any, int]](), list[DocumentSegment](), 0
        for unit in self._store.unit_iter():
            if not any(_strings(unit.target)):
                for form, source in enumerate(_strings(unit.source)):
                    if source and not (unit.hasplural() and form == 0 and self._n_forms == 1):
                        self._units.append((unit, form))
                        segments.append(DocumentSegment(source))
            else:
                n_translated += 1
        super().__init__(segments, n_translated)

    def _fill(self, number: int, translation: str) -> None:
        """Fill a message; the first plural form is for one thing, all other forms are alike."""
        unit, form = self._units[number]
        if not unit.hasplural():
            unit.target = translation
        else:
            forms = [translation] * self._n_forms
            unit.target = [*_strings(unit.target)[:1], *forms[1:]] if form and forms[1:] else forms
        unit.markfuzzy()

    def _mark_reviewed(self, number: int) -> None:
        self._units[number][0].markfuzzy(False)

    def content(self) -> bytes:
        return bytes(self._store)


def plural_forms(store: Any, language: str | None) -> int:
    """Number of plural forms of messages in a PO file, from its header or, failing that, from its language."""
    n_forms, _ = store.getheaderplural()
    if n_forms is None:
        language = store.gettargetlanguage() or language
        n_forms = toolkit("lang.factory").getlanguage(language).nplurals if language else 0
    return max(int(n_forms), 0) or USUAL_FORMS


def po_pairs(path: str | Path) -> Iterator[tuple[str, str] | str]:
    """Yield the sentence pairs of a PO file, or why a message is not a pair: FUZZY or UNTRANSLATED."""
    for unit in open_po(path).unit_iter():
        sources, targets = _strings(unit.source), _strings(unit.target)
        if not any(targets):
            yield UNTRANSLATED
        elif unit.isfuzzy():
            yield FUZZY
        elif len(sources) == 1 or len(targets) == 1:
            yield sources[-1], targets[0]
        else:
            yield sources[0], targets[0]
            yield sources[1], targets[-1]


def po_translations(path: str | Path) -> Iterator[str]:
    """Yield the translation of each message, "" if it has none, and all its plural forms."""
    for unit in open_po(path).unit_iter():
        if any(_strings(unit.source)):
            yield from _strings(unit.target)


def _strings(text: Any) -> list[str]:
    """The plural forms of a text of translate-toolkit, or its only form."""
    return [str(one) for one in getattr(text, "strings", [text or ""])]
