"""Holds out training pairs to tune on, if there are no development data: the pairs that are most like new text.

Most sentences of small corpora resemble others. Weights that are tuned on a random sample of them trust long phrases
and the language model too much for text of another kind. So the pairs are held out whose source has the largest share
of bigrams that occur in no other sentence. For a model of the other pairs, they are about as new as text from another
origin.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress, pairwise
from pathlib import Path

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import read_lines, write_lines
from phrasebeam.base.progress import stage
from phrasebeam.training.bitext.bitext_files import BitextFiles

LEAST_WORDS, MOST_WORDS = 6, 40  # of source sentences that are held out, including punctuation
MOST_RATIO = 2.5  # maximum factor between the length ratio of a pair and the median length ratio
LEAST_PAIRS = 10  # minimum number of pairs that are held out
WORD = re.compile(r"\w+|[^\w\s]")


def newness(sentences: Sequence[Sequence[str]]) -> np.ndarray:
    """The share of each sentence's bigrams that occur in no other sentence (float64[N])."""
    seen = Counter(pair for words in sentences for pair in {*pairwise(words)})
    return np.array([sum(seen[pair] == 1 for pair in pairwise(words)) / max(1, len(words) - 1) for words in sentences])


def newest_pairs(source: Sequence[str], target: Sequence[str], n_held_out: int) -> np.ndarray:
    """Which of N sentence pairs are held out (bool[N]): of those with usable lengths, the `n_held_out` newest ones.

    Raises ConfigError if there are too few.
    """
    sentences = [WORD.findall(line.lower()) for line in source]
    lengths = np.array([[len(words), len(WORD.findall(line))] for words, line in zip(sentences, target)])
    ratio = (lengths[:, 1] + 1) / (lengths[:, 0] + 1)
    usual = np.median(ratio)
    fits = (lengths[:, 0] >= LEAST_WORDS) & (lengths[:, 0] <= MOST_WORDS) & (lengths[:, 1] > 0)
    fits &= (ratio <= MOST_RATIO * usual) & (ratio >= usual / MOST_RATIO)
    n_held_out = min(n_held_out, int(fits.sum()))
    if n_held_out < LEAST_PAIRS:
        raise ConfigError(
            f"the training data: {n_held_out} of {len(sentences):,} pairs can be held out to tune on, expected "
            f"{LEAST_PAIRS} or more, of {LEAST_WORDS} to {MOST_WORDS} words; give development data"
        )
    order = np.argsort(-np.where(fits, newness(sentences), -1.0), kind="stable")
    chosen = np.zeros(len(sentences), bool)
    chosen[order[:n_held_out]] = True
    return chosen


def hold_out(training: BitextFiles, folds: int, most: int, directory: Path) -> tuple[BitextFiles, BitextFiles]:
    """Hold out 1 / `folds` of the training data, but at most `most` pairs; write both parts to `directory`.

    Returns the training data without these pairs, and the held-out pairs. Raises SmtError.
    """
    source, target = (list(read_lines(path)) for path in (training.source, training.target))
    with stage("holding out sentences to tune on"):
        chosen = newest_pairs(source, target, min(most, len(source) // folds))
    directory.mkdir(parents=True, exist_ok=True)
    places = [directory / f"learned.{name}" for name in ("source", "target", "alignment")]
    held_out = [directory / f"held-out.{name}" for name in ("source", "reference.1")]
    for path, place in zip(training.parallel, places):
        write_lines(place, compress(read_lines(path), ~chosen))
    for path, place in zip((training.source, training.target), held_out):
        write_lines(place, compress(read_lines(path), chosen))
    alignment = places[2] if training.alignment else None
    learned = replace(training, source=places[0], references=[places[1]], alignment=alignment)
    return learned, BitextFiles(held_out[0], held_out[1:])
