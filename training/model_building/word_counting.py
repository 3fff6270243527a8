"""Counts of the words of a training text, which a model contains for idf and for the list of its frequent words.

docs/reference/model-files.md describes the files; `decoder/tables/word_counts.py` reads them.
"""

from pathlib import Path

import numpy as np

from phrasebeam.base.array_file import ArrayWriter
from phrasebeam.decoder.tables.model_files import WORD_COUNTS
from phrasebeam.decoder.tables.word_counts import FOLDER, SIDES, SideCounts
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.training.bitext.parallel_text import Bitext


@kernel
def count_words_of(corpus: Corpus, last: np.ndarray, occurrences: np.ndarray, sentences: np.ndarray):
    """Count the words of a corpus, whose ids must be below V, in `occurrences` and `sentences` (int64[V], all 0).

    `last` (int64[V], all -1) is work space: the last sentence so far that has the word.
    """
    for i in range(corpus.offsets.size - 1):
        for at in range(corpus.offsets[i], corpus.offsets[i + 1]):
            word = np.int64(corpus.tokens[at])
            occurrences[word] += 1
            if last[word] != i:
                last[word] = i
                sentences[word] += 1


def counts_in(corpus: Corpus, n_words: int) -> SideCounts:
    """The counts of the words of a corpus, which has a vocabulary of `n_words`."""
    counts = SideCounts(np.zeros(n_words, np.int64), np.zeros(n_words, np.int64))
    count_words_of(corpus, np.full(n_words, -1, np.int64), *counts)
    return counts


def write_word_counts(bitext: Bitext, directory: Path) -> None:
    """Write the counts of the words of a bitext to a new folder of the model in `directory`. Raises OSError."""
    (directory / FOLDER).mkdir()
    sides = (bitext.source, bitext.source_vocabulary), (bitext.target, bitext.target_vocabulary)
    counted = {side: counts_in(corpus, len(words)) for side, (corpus, words) in zip(SIDES, sides)}
    for file in WORD_COUNTS:
        side, what = file.name.split("_")
        writer = ArrayWriter(directory / FOLDER / f"{file.name}.npy", file.array.dtype)
        writer.append(getattr(counted[side], what))
        writer.close()
