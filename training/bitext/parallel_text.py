"""Parallel text: two corpora with their vocabularies; sentence i of one translates sentence i of the other."""

import logging
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.lm.text.corpus import Corpus, Words, split
from phrasebeam.lm.text.corpus_reader import read_corpus
from phrasebeam.lm.text.vocabulary import Vocabulary

log = logging.getLogger("phrasebeam")


class Bitext(NamedTuple):
    """Sentence i of `source` is translated by sentence i of `target`; both are line i + 1 of their files."""

    source: Corpus
    target: Corpus
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    n_skipped: int  # number of pairs with an empty side; in both corpora they are empty sentences


class TextSide(NamedTuple):
    """How one side of a bitext is read."""

    vocabulary: Vocabulary  # gets the new words
    words_of_line: Words = split


def read_bitext(source: str | Path, target: str | Path, sides: tuple[TextSide, TextSide] | None = None) -> Bitext:
    """Read two files of sentences, one a line. Raises FormatError if they differ in the number of lines.

    `sides`: how each side is read; None: as tokenized text, with new vocabularies. If one side of a pair is empty, the
    other becomes an empty sentence, too, so that sentence numbers remain line numbers.
    """
    one, other = sides or (TextSide(Vocabulary()), TextSide(Vocabulary()))
    source_vocabulary, target_vocabulary = one.vocabulary, other.vocabulary
    source_corpus = read_corpus(source, *one)
    target_corpus = read_corpus(target, *other)
    n_source, n_target = source_corpus.offsets.size - 1, target_corpus.offsets.size - 1
    if n_source != n_target:
        message = f"{n_target} lines, but {source} has {n_source}; line i of one must translate line i of the other"
        raise FormatError(target, message)
    is_complete = (np.diff(source_corpus.offsets) > 0) & (np.diff(target_corpus.offsets) > 0)
    n_skipped = int(is_complete.size - is_complete.sum())
    if n_skipped:
        names = Path(source).name, Path(target).name
        log.warning("%s, %s: %d of %d pairs skipped: one side is empty", *names, n_skipped, is_complete.size)
    source_corpus, target_corpus = _empty_others(source_corpus, is_complete), _empty_others(target_corpus, is_complete)
    return Bitext(source_corpus, target_corpus, source_vocabulary, target_vocabulary, n_skipped)


def check_bars(bitext: Bitext, source: str | Path, target: str | Path) -> None:
    """Raise FormatError if a word of the bitext contains |, which separates factors in Moses' files.

    `source` and `target` are the files from which the bitext was read.
    """
    sides = (source, bitext.source, bitext.source_vocabulary), (target, bitext.target, bitext.target_vocabulary)
    for path, corpus, vocabulary in sides:
        ids = [i for i, word in enumerate(vocabulary.words) if "|" in word]
        positions: np.ndarray = np.flatnonzero(np.isin(corpus.tokens, ids)) if ids else np.zeros(0, np.int64)
        if positions.size:
            lines = np.searchsorted(corpus.offsets, positions, "right")
            word = vocabulary.words[int(corpus.tokens[positions[0]])]
            found = f"{np.unique(lines).size} lines have a |, the first one in the word {excerpt(word)}"
            advice = "write &#124; for it here and in what is translated, as --raw does"
            raise FormatError(path, f"{found}; it sets off factors in Moses' files: {advice}", int(lines[0]))


def _empty_others(corpus: Corpus, is_complete: np.ndarray) -> Corpus:
    """A copy of `corpus` in which sentence i is empty unless `is_complete[i]` (bool[N])."""
    lengths = np.diff(corpus.offsets)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths * is_complete)])
    return Corpus(offsets, corpus.tokens[np.repeat(is_complete, lengths)])
