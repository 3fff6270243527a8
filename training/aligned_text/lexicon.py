"""Lexicons of aligned text: word translation probabilities, in the formats of Moses, bicleaner and Marian.

A line is "translation word p(translation | word)" in all of them. Moses' lexicon has NULL for unlinked words. That of
bicleaner has lowercased words, sorted, without translations that are more than ten times less likely than the best one
of their word. Marian's lexical shortlist has all linked words, without NULL.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.extraction.pairs import AlignedBitext
from phrasebeam.lm.text.vocabulary import Vocabulary
from phrasebeam.training.bitext.parallel_text import Bitext
from phrasebeam.training.model_building.extraction import align_bitext
from phrasebeam.training.model_building.lexical import LexicalTable, lexical_table
from phrasebeam.training.word_alignment.alignment_points import Alignments

LexiconFormat = Literal["moses", "bicleaner", "marian"]
NULL = "NULL"
LEAST_SHARE = 0.1  # least p relative to the best translation of a word; for bicleaner, which prunes its lexicons so
OF_SOURCE = (".e2f", ".t2s")  # suffixes of files of p(source word | target word)


class LexiconEntry(NamedTuple):
    """A line of a lexicon."""

    translation: str
    word: str
    probability: float


def write_lexicons(paths: list[Path], form: LexiconFormat, bitext: Bitext, alignments: Alignments) -> None:
    """Write a lexicon of p(target | source) to each of the files; p(source | target) if its suffix is in OF_SOURCE."""
    vocabularies = [bitext.source_vocabulary, bitext.target_vocabulary]
    aligned = align_bitext(bitext.source, bitext.target, alignments)
    if form == "bicleaner":
        (source, vocabularies[0]), (target, vocabularies[1]) = map(_lowercased, vocabularies)
        tokens = source[aligned.source_tokens], target[aligned.target_tokens]
        aligned = aligned._replace(source_tokens=tokens[0], target_tokens=tokens[1])
    table = lexical_table(aligned)
    for path in paths:
        entries = _entries(aligned, table, vocabularies, is_of_source(path))
        with atomic_file(path) as file:
            for entry in _in_format(entries, form):
                file.write(f"{entry.translation} {entry.word} {entry.probability:.7f}\n".encode())


def is_of_source(path: Path) -> bool:
    """Whether a lexicon with this file name has p(source word | target word)."""
    return path.name.removesuffix(".gz").removesuffix(".zst").endswith(OF_SOURCE)


def _lowercased(vocabulary: Vocabulary) -> tuple[np.ndarray, Vocabulary]:
    """The id of each word's lowercased form (int32[V]), and the vocabulary of these forms."""
    found = Vocabulary()
    return found.add_all([word.lower() for word in vocabulary.words]), found


def _entries(
    bitext: AlignedBitext, table: LexicalTable, vocabularies: list[Vocabulary], is_reverse: bool
) -> Iterator[LexiconEntry]:
    """Yield all lines of a lexicon, ordered by word; first those of unlinked translations, whose word is NULL."""
    of_translation, of_word = vocabularies[1].words, vocabularies[0].words
    columns, probabilities, null = table.words[:, ::-1], table.target_prob, table.target_null_prob
    if is_reverse:
        of_translation, of_word = of_word, of_translation
        columns, probabilities, null = table.words, table.source_prob, table.source_null_prob
    for translation in np.flatnonzero(null).tolist():
        yield LexiconEntry(of_translation[translation], NULL, float(null[translation]))
    order = np.lexsort((columns[:, 0], columns[:, 1]))
    unlinked = _unlinked_shares(bitext, is_reverse)
    before = -1
    for (translation, word), probability in zip(columns[order].tolist(), probabilities[order].tolist()):
        if word != before and unlinked[word]:
            yield LexiconEntry(NULL, of_word[word], float(unlinked[word]))
            unlinked[word] = 0.0
        before = word
        yield LexiconEntry(of_translation[translation], of_word[word], probability)
    for word in np.flatnonzero(unlinked).tolist():
        yield LexiconEntry(NULL, of_word[word], float(unlinked[word]))


def _unlinked_shares(bitext: AlignedBitext, is_reverse: bool) -> np.ndarray:
    """p(NULL | word) of each word (float64[V]): an unlinked token counts once, others as often as they have links."""
    sides = (bitext.source_tokens, bitext.source_links), (bitext.target_tokens, bitext.target_links)
    tokens, before = sides[1 if is_reverse else 0]
    n_links = np.diff(before)
    unlinked = np.bincount(tokens, n_links == 0)
    return unlinked / np.maximum(unlinked + np.bincount(tokens, n_links), 1)


def _in_format(entries: Iterator[LexiconEntry], form: LexiconFormat) -> Iterator[LexiconEntry]:
    if form == "moses":
        yield from entries
        return
    linked = (entry for entry in entries if NULL not in (entry.translation, entry.word))
    if form == "marian":
        yield from linked
        return
    by_word: dict[str, list[LexiconEntry]] = {}
    for entry in linked:
        by_word.setdefault(entry.word, []).append(entry)
    for word in sorted(by_word):
        least = LEAST_SHARE * max(entry.probability for entry in by_word[word])
        yield from sorted(entry for entry in by_word[word] if entry.probability >= least)
