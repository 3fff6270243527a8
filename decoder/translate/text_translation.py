"""Text and documents translated as segments: markup is preserved, and terms are translated as in a term base."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from phrasebeam.base.progress import log
from phrasebeam.decoder.documents.protected_segment import DocumentSegment
from phrasebeam.decoder.documents.segment_translation import translate_segments
from phrasebeam.decoder.documents.term_base import TermBase
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.translate.adapted_decoder import AdaptedAnswer, AdaptedDecoder
from phrasebeam.decoder.translate.hints import with_hints
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.decoder.translation_memory.memory_files import known_translation
from phrasebeam.decoder.translation_memory.similar_segments import SegmentMatch

if TYPE_CHECKING:
    from phrasebeam.decoder.raw_text.preprocessing import RawText


def translate_texts(
    decoder: Decoder,
    texts: Iterable[str | DocumentSegment],
    raw_text: "RawText | None" = None,
    terms: TermBase | None = None,
    threads: int = 1,
) -> Iterator[str]:
    """Yield the translations of texts in their order, each as soon as it is ready.

    Each translation contains the placeholders, tags and line ends of its text, see docs/files.md. If a translation
    memory of the decoder contains the whole text, its translation is used. The matches of the memories are logged at
    the end.
    """
    memory = decoder.memory if isinstance(decoder, AdaptedDecoder) else None
    counts = MatchCounts()

    def translate_all(inputs: Iterable[Input]) -> Iterator[Translation]:
        given = with_hints(inputs, decoder.model)
        with closing(decoder.answer_all(given, decoder.request, threads)) as answers:
            for answer in answers:
                counts.add_match(answer.match if isinstance(answer, AdaptedAnswer) else None)
                yield answer.translation

    def known(segment: DocumentSegment) -> str | None:
        found = known_translation(segment, memory.files) if memory else None
        counts.add(found is not None)
        return found

    segments = (DocumentSegment(one) if isinstance(one, str) else one for one in texts)
    yield from translate_segments(segments, translate_all, Tokenization.of(raw_text), terms, known)
    if memory and memory.files:
        log.info("%s", counts)


class MatchCounts:
    """Numbers of texts that translation memories contain as a whole, and of sentences with a similar segment."""

    def __init__(self) -> None:
        self.n_texts = self.n_known = 0
        self._similarities = list[float]()

    def add(self, is_known: bool) -> None:
        """Count a text; `is_known`: a memory contains it as a whole."""
        self.n_texts += 1
        self.n_known += is_known

    def add_match(self, match: SegmentMatch | None) -> None:
        """Count the match of a sentence, if it has one."""
        self._similarities += [match.similarity] if match else []

    def __str__(self) -> str:
        n = len(self._similarities)
        mean = f", {100 * sum(self._similarities) / n:.0f} % on average" if n else ""
        return (
            f"{self.n_texts} segments; the memories have {self.n_known} of them; {n} sentences have similar ones{mean}"
        )
