"""Selects the sentence pairs of a bitext that resemble in-domain text; reads and writes the files."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.base.progress import stage
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.text.corpus import Words, split
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.selection.config import Budget, SelectionConfig
from phrasebeam.training.selection.domain_ngrams import SentenceNgrams, read_domain, read_sentences
from phrasebeam.training.selection.feature_decay import SelectedSentences, select_by_decay


class NgramCoverage(NamedTuple):
    """The size of a selection, and the share of the distinct in-domain n-grams that occur in it."""

    n_sentences: int
    n_words: int  # number of source words
    shares: list[float]  # of the n-grams of 1, 2, ... words


@kernel
def _mark(sentences: SentenceNgrams, chosen, is_covered):
    """Mark the n-grams of the `chosen` sentences (int64[K]) in `is_covered` (bool[F])."""
    for k in range(chosen.size):
        for i in range(sentences.offsets[chosen[k]], sentences.offsets[chosen[k] + 1]):
            is_covered[sentences.ngrams[i]] = True


def coverage(chosen: np.ndarray, sentences: SentenceNgrams, lengths: np.ndarray) -> NgramCoverage:
    """The coverage of the `chosen` sentences (int64[K]); `lengths`: int64[F], of the in-domain n-grams, in words."""
    is_covered = np.zeros(lengths.size, bool)
    _mark(sentences, chosen, is_covered)
    shares = np.bincount(lengths, is_covered)[1:] / np.bincount(lengths)[1:]
    return NgramCoverage(chosen.size, int(sentences.n_words[chosen].sum(dtype=np.int64)), shares.tolist())


def random_sentences(sentences: SentenceNgrams, budget: Budget, seed: int) -> np.ndarray:
    """Draw sentences with words at random until the budget is used (int64[K])."""
    shuffled = np.random.default_rng(seed).permutation(np.flatnonzero(sentences.n_words))
    n_words = np.cumsum(sentences.n_words[shuffled], dtype=np.int64)
    return shuffled[: min(budget.sentences, int(np.searchsorted(n_words, budget.words)) + 1)]


class SelectionFiles(NamedTuple):
    """The files that a selection is written to."""

    bitext: BitextFiles
    log: Path | None = None  # line number, score and source length of each selected pair, in the order of selection
    in_order: bool = False  # whether pairs are in the order of the bitext, not in that of selection


class SelectionResult(NamedTuple):
    """The coverage of the in-domain text by a selection, and for comparison by other pairs."""

    selected: NgramCoverage
    at_random: NgramCoverage  # of a random selection with the same budget
    all: NgramCoverage  # of all pairs without an empty side


def select_sentences(
    bitext: BitextFiles,
    in_domain: Sequence[Path],
    output: SelectionFiles,
    config: SelectionConfig,
    words: Words = split,
) -> SelectionResult:
    """Select pairs of `bitext`, and write them to files. Pairs with an empty side are never selected.

    All files are written, or none. `words`: splits a line of the source language into words. Raises ConfigError unless
    there is exactly one budget and each output has its own file, and FormatError for files that are not parallel, not
    UTF-8 or without words.
    """
    budget = config.budget
    outputs = [*output.bitext.parallel, *([output.log] if output.log else [])]
    if len(set(outputs)) < len(outputs):
        raise ConfigError(f"{', '.join(map(str, outputs))}: one file for several outputs; give a file for each")
    domain = read_domain(in_domain, config.order, words)
    sentences = read_sentences(bitext, domain, config.order, words)
    selected = select_by_decay(sentences, domain.lengths, config)
    with stage("writing"):
        _write(bitext, output, sentences, selected)
    at_random = random_sentences(sentences, budget, config.seed)
    groups = selected.sentences, at_random, np.flatnonzero(sentences.n_words)
    return SelectionResult(*(coverage(group, sentences, domain.lengths) for group in groups))


def _write(bitext: BitextFiles, output: SelectionFiles, sentences: SentenceNgrams, selected: SelectedSentences) -> None:
    chosen = np.sort(selected.sentences)
    places = None if output.in_order else np.searchsorted(chosen, selected.sentences).tolist()
    with ExitStack() as files:
        for path, copy in zip(bitext.parallel, output.bitext.parallel):
            files.enter_context(atomic_file(copy)).writelines(_lines_of(path, chosen, places))
        if output.log is not None:
            files.enter_context(atomic_file(output.log)).writelines(_log_lines(sentences, selected))


def _lines_of(path: Path, chosen: np.ndarray, places: Sequence[int] | None) -> Iterable[bytes]:
    """The lines `chosen` (int64[K], increasing indices) of a file, rearranged by `places` if given."""
    is_chosen = np.zeros(chosen[-1] + 1, bool)
    is_chosen[chosen] = True
    lines = [f"{line}\n".encode() for line in compress(read_lines(path), is_chosen)]
    if len(lines) < chosen.size:
        raise FormatError(path, "fewer lines than when first read; give a file that can be read twice, not a pipe")
    return lines if places is None else (lines[place] for place in places)


def _log_lines(sentences: SentenceNgrams, selected: SelectedSentences) -> Iterable[bytes]:
    n_words = sentences.n_words[selected.sentences]
    for columns in zip((selected.sentences + 1).tolist(), selected.scores.tolist(), n_words.tolist()):
        yield "{}\t{:.6g}\t{}\n".format(*columns).encode()
