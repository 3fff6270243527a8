"""Translation memories in files: translations of identical texts, and similar segments."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.progress import log
from phrasebeam.decoder.documents.file_formats import format_name
from phrasebeam.decoder.documents.protected_segment import DocumentSegment
from phrasebeam.decoder.documents.sentence_pairs import FORMATS, SegmentPairs, read_pairs
from phrasebeam.decoder.marked_text.tokenization import TOKENIZED, Tokenization
from phrasebeam.decoder.translation_memory.segment import MOST_WORDS, Segment
from phrasebeam.decoder.translation_memory.similar_segments import SegmentMatch, SimilarSegments, Words
from phrasebeam.lm.text.corpus import split


class MemoryFile:
    """The segments of one translation memory; threads and projects may share it.

    >>> memory = MemoryFile([("der hund schläft .", "the dog is asleep .")], "team.tmx")
    >>> memory.exact("der hund  schläft .")
    'the dog is asleep .'
    >>> memory.best(["der", "hund", "bellt", "."], 0.5).similarity
    0.75
    """

    def __init__(self, pairs: Iterable[tuple[str, str]], origin: str, tokenization: Tokenization = TOKENIZED):
        """`pairs` are texts of both languages; of several pairs with the same source, the last one counts.

        `tokenization` converts them to tokens of the model, on which similarity is computed.
        """
        self._similar, self._texts = SimilarSegments(origin), dict[str, str]()
        for number, (source, translation) in enumerate(pairs, 1):
            self._texts[_plain(source)] = translation
            if sides := segment_words(source, translation, tokenization):
                self._similar.add(Segment(number, *sides, ()))

    def __len__(self) -> int:
        return len(self._texts)

    def exact(self, text: str) -> str | None:
        """The translation of a text that the memory contains, ignoring white space; None if it does not."""
        return self._texts.get(_plain(text))

    def best(self, words: Sequence[str], least: float) -> SegmentMatch | None:
        """The segment most similar to a tokenized sentence; its words are not aligned. See SimilarSegments.best."""
        return self._similar.best(words, least)


def known_translation(segment: DocumentSegment, files: Sequence[MemoryFile]) -> str | None:
    """The translation of a whole segment in the first file that has it, with the segment's surrounding white space.

    None if no file has it, and for segments with tags or signs that XML must escape.
    """
    text = segment.written
    for file in files:
        found = file.exact(text)
        if found is not None and not (segment.is_xml and any(sign in text + found for sign in "<>&")):
            before = text[: len(text) - len(text.lstrip())]
            return before + found + text[len(text.rstrip()) :]
    return None


def memory_pairs(path: str | Path, source: str | None, target: str | None) -> SegmentPairs:
    """The pairs of a memory, see read_pairs; for a table, whose columns have no languages, the first two columns."""
    return read_pairs(path) if format_name(path, FORMATS) == "tsv" else read_pairs(path, source, target)


def segment_words(source: str, translation: str, tokenization: Tokenization) -> tuple[Words, Words] | None:
    """The tokens of both texts of a pair; None if one side has no words, or too many for a segment."""
    sides = split(tokenization.before(source)), split(tokenization.target(translation))
    return (tuple(sides[0]), tuple(sides[1])) if all(0 < len(words) <= MOST_WORDS for words in sides) else None


def read_memory(path: str | Path, source: str, target: str, tokenization: Tokenization = TOKENIZED) -> MemoryFile:
    """Read a translation memory from a TMX, TSV, PO or XLIFF file.

    `source` and `target` are the languages of a TMX or XLIFF file (BCP 47). Raises FormatError, ConfigError or OSError.

    >>> with open("team.tsv", "w") as file:
    ...     _ = file.write("der hund schläft .\\tthe dog is asleep .\\n")
    >>> memory = read_memory("team.tsv", "de", "en")
    >>> memory.exact("der hund schläft ."), round(memory.best(["der", "hund", "bellt", "."], 0.5).similarity, 2)
    ('the dog is asleep .', 0.75)
    """
    pairs = memory_pairs(path, source, target)
    memory = MemoryFile(pairs, Path(path).name, tokenization)
    if not len(memory):
        raise ConfigError(f"{path}: no segment has a translation; give a memory that has some, or leave it out")
    left_out = sum(pairs.left_out.values())
    log.info("%s: %d segments%s", path, len(memory), f", {left_out} left out" if left_out else "")
    return memory


def _plain(text: str) -> str:
    return " ".join(text.split())
