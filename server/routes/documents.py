"""/v1/documents: the segments of a document that is opened in the page, and the document with their translations.

The server keeps nothing of it: the client sends the document again with the translations.
"""

from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest

from phrasebeam.base.config import Section
from phrasebeam.base.errors import FormatError, SmtError
from phrasebeam.decoder.documents.document import Document
from phrasebeam.decoder.documents.file_formats import ENDINGS, named_format
from phrasebeam.decoder.documents.open_document import open_document
from phrasebeam.decoder.documents.sentence_pairs import read_pairs
from phrasebeam.decoder.marked_text.sentence_division import SentenceDivision
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.process.compression import GZIP_MAGIC, SUFFIXES, ZSTD_MAGIC
from phrasebeam.server.routes.sentence_body import Text
from phrasebeam.server.routes.translate import ModelName
from phrasebeam.server.serving.served_models import ServedModel
from phrasebeam.server.serving.service import Serving, check_size

router = APIRouter(tags=["documents"])
MOST_SEGMENTS = 20_000  # in a document
MEMORY = "tmx"  # the format whose sentence pairs are to be learned, not translated


class DocumentBody(Section):
    """A document as a file."""

    name: str = Field(min_length=1, max_length=200, description="file name; its extension determines the format")
    content: Text = Field(description="contents of the file, in base64")
    model: ModelName = None


class FilledBody(DocumentBody):
    """A document, and translations of its segments."""

    translations: dict[Annotated[int, Field(ge=0)], Text] = Field(
        description="confirmed translations by segment number, from 0; other segments stay unchanged"
    )


class DocumentSegmentAnswer(BaseModel):
    """A segment to translate."""

    text: str
    is_xml: bool  # whether it is from XLIFF, with its tags


class PairAnswer(BaseModel):
    """A pair of a translation memory."""

    source: str
    translation: str


class DocumentAnswer(BaseModel):
    """The segments of a document to translate or, for a translation memory, the pairs to learn."""

    format: str  # text, tsv, po, xliff or tmx
    segments: list[DocumentSegmentAnswer]
    translated: int  # segments that have a translation already
    pairs: list[PairAnswer]


@router.post("/v1/documents")
async def read(body: DocumentBody, http_request: HttpRequest, service: Serving) -> DocumentAnswer:
    """List the untranslated segments of a text, TSV, PO or XLIFF file, or the sentence pairs of a TMX file."""
    served = service.models.get(body.model)

    def job(stop: StopFlag) -> DocumentAnswer:
        kind = named_format(body.name) or "text"
        with _file(body) as path:
            if kind == MEMORY:
                pairs = list(_pairs(path, served, body))
                return DocumentAnswer(format=kind, segments=[], translated=0, pairs=pairs)
            document = _document(path, served)
        check_size("segments in a document", len(document.segments), MOST_SEGMENTS)
        segments = [DocumentSegmentAnswer(text=one.written, is_xml=one.is_xml) for one in document.segments]
        return DocumentAnswer(format=kind, segments=segments, translated=document.n_translated, pairs=[])

    return (await service.run(http_request, [job]))[0]


@router.post("/v1/documents/filled", response_class=Response)
async def filled(body: FilledBody, http_request: HttpRequest, service: Serving) -> Response:
    """Return the document with these translations, as a file."""
    served = service.models.get(body.model)

    def job(stop: StopFlag) -> bytes:
        with _file(body) as path:
            document = _document(path, served)
            if wrong := [number for number in body.translations if number >= len(document.segments)]:
                found = f"translations of segment {wrong[0]}, but the document has {len(document.segments)}"
                raise HTTPException(422, f"{found}, counted from 0; send the document with these segments")
            document.confirm(body.translations)
            return document.content()

    (content,) = await service.run(http_request, [job])
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(body.name, safe='')}"}
    return Response(content, media_type="application/octet-stream", headers=headers)


def _document(path: Path, served: ServedModel) -> Document:
    """The document in a file; its languages are those of the model, where the model has them.

    Segments of plain text are sentences if the model was made from raw text, otherwise lines.
    """
    known = served.languages if named_format(path) != "tsv" else None
    source, target = known or (None, None)
    division = None if served.raw_text is None else SentenceDivision.of(served.raw_text.settings)
    return open_document(path, source, target, division)


def _pairs(path: Path, served: ServedModel, body: DocumentBody) -> Iterator[PairAnswer]:
    if served.languages is None:
        raise HTTPException(422, f"{body.name}: the languages of the model are not known; start with --languages")
    for number, one in enumerate(read_pairs(path, *served.languages)):
        check_size("pairs in a memory", number + 1, MOST_SEGMENTS)
        yield PairAnswer(source=one.source, translation=one.target)


@contextmanager
def _file(body: DocumentBody) -> Iterator[Path]:
    """A temporary file with the content of a document; errors have the document's name."""
    try:
        content = b64decode(body.content, validate=True)
    except ValueError:
        raise HTTPException(422, f"{body.name}: its content is not in base64") from None
    if content.startswith((GZIP_MAGIC, ZSTD_MAGIC)) or body.name.lower().endswith(tuple(SUFFIXES)):
        raise HTTPException(422, f"{body.name}: compressed; send it uncompressed")
    kind = named_format(body.name)
    if kind and b"<!ENTITY" in content.replace(b"\0", b""):
        raise HTTPException(422, f"{body.name}: declares entities; send it without them")
    ending = next((one for one in ENDINGS.get(kind or "", ()) if body.name.lower().endswith(one)), ".txt")
    with TemporaryDirectory(prefix="phrasebeam-") as folder:
        path = Path(folder) / f"document{ending}"
        path.write_bytes(content)
        try:
            yield path
        except FormatError as error:
            raise HTTPException(422, f"{body.name}: {error.without_path()}") from None
        except SmtError as error:
            raise HTTPException(422, str(error).replace(str(path), body.name)) from None
