"""Text and documents translated as segments: what is no text stays whole, and terms are as a term base has them."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from phrasebeam.decoder.documents.protected_segment import DocumentSegment
from phrasebeam.decoder.documents.segment_translation import translate_segments
from phrasebeam.decoder.documents.term_base import TermBase
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.translate.hints import with_hints
from phrasebeam.decoder.translate.translator import Decoder

if TYPE_CHECKING:
    from phrasebeam.decoder.raw_text.preprocessing import RawText


def translate_texts(
    decoder: Decoder,
    texts: Iterable[str | DocumentSegment],
    raw_text: "RawText | None" = None,
    terms: TermBase | None = None,
    threads: int = 1,
) -> Iterator[str]:
    """The translations of texts in their order, each as soon as it is ready.

    Placeholders, tags and line ends are in each as in its text, see docs/files.md.
    """

    def translate_all(inputs: Iterable[Input]) -> Iterator[Translation]:
        return decoder.translate_all(with_hints(inputs, decoder.model), threads)

    segments = (DocumentSegment(one) if isinstance(one, str) else one for one in texts)
    return translate_segments(segments, translate_all, Tokenization.of(raw_text), terms)
