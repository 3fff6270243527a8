"""Parallel text: two corpora whose sentence i translate each other, with a vocabulary for each side."""

import logging
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError
from phrasebeam.lm.text.corpus import Corpus, read_corpus
from phrasebeam.lm.text.vocabulary import Vocabulary

log = logging.getLogger("phrasebeam")


class BitextFiles(NamedTuple):
    """The files that a model is made of."""

    source: Path
    target: Path
    more: list[Path]  # of the target language, for the language models


class Bitext(NamedTuple):
    """Sentence i of `source` is translated by sentence i of `target`: line i + 1 of both files."""

    source: Corpus
    target: Corpus
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    n_skipped: int  # pairs with an empty side; they keep their place, with no words on either side


def read_bitext(source: str | Path, target: str | Path) -> Bitext:
    """The two files, one tokenized sentence a line. Raises FormatError where they differ in length.

    Pairs with an empty side are emptied on both, so that line numbers go on agreeing with those of other files.
    """
    source_vocabulary, target_vocabulary = Vocabulary(), Vocabulary()
    source_corpus = read_corpus(source, source_vocabulary)
    target_corpus = read_corpus(target, target_vocabulary)
    n_source, n_target = source_corpus.offsets.size - 1, target_corpus.offsets.size - 1
    if n_source != n_target:
        message = f"{n_target} lines, but {source} has {n_source}; line i of one must translate line i of the other"
        raise FormatError(target, message)
    kept = (np.diff(source_corpus.offsets) > 0) & (np.diff(target_corpus.offsets) > 0)
    n_skipped = int(kept.size - kept.sum())
    if n_skipped:
        names = Path(source).name, Path(target).name
        log.warning("%s, %s: %d of %d pairs skipped: one side is empty", *names, n_skipped, kept.size)
    source_corpus, target_corpus = _emptied(source_corpus, kept), _emptied(target_corpus, kept)
    return Bitext(source_corpus, target_corpus, source_vocabulary, target_vocabulary, n_skipped)


def _emptied(corpus: Corpus, kept: np.ndarray) -> Corpus:
    """`corpus` without the words of the sentences that are not `kept` (bool[N])."""
    lengths = np.diff(corpus.offsets)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths * kept)])
    return Corpus(offsets, corpus.tokens[np.repeat(kept, lengths)])
