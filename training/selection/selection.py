"""Selecting the sentence pairs of a bitext that resemble in-domain text: files in, files out."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.base.progress import stage
from phrasebeam.training.selection.config import SelectionConfig
from phrasebeam.training.selection.domain_ngrams import ParallelFiles, SentenceNgrams, read_domain, read_sentences
from phrasebeam.training.selection.feature_decay import SelectedSentences, select_by_decay


class NgramCoverage(NamedTuple):
    """How many of the distinct in-domain n-grams occur in some sentences."""

    n_sentences: int
    n_words: int
    shares: list[float]  # of the n-grams of 1, 2, ... words; nan where there are none


class SelectionResult(NamedTuple):
    """What was selected, and what it covers beside others."""

    n_pairs: int  # pairs without an empty side, from which it was selected
    selected: NgramCoverage
    at_random: NgramCoverage  # of a random selection by the same budget
    all: NgramCoverage  # of the whole bitext


def select_sentences(
    bitext: ParallelFiles,
    in_domain: Sequence[Path],
    output: ParallelFiles,
    config: SelectionConfig,
    in_order: bool = False,
    log: Path | None = None,
) -> SelectionResult:
    """Write the selected pairs to `output`, the best first or, `in_order`, as in the bitext; pairs with an empty side
    are never selected.

    `log` gets their line numbers, scores and source lengths, the best first. All files are written, or none. Raises
    ConfigError if there is not exactly one budget, FormatError for files that are not parallel, not UTF-8, or, if
    in-domain, without words.
    """
    _ = config.budget  # raises before long work
    domain = read_domain(in_domain, config.order)
    sentences = read_sentences(bitext, domain, config.order)
    selected = select_by_decay(sentences, domain.lengths, config)
    with stage("writing"), ExitStack() as files:
        chosen = np.sort(selected.sentences)
        places = None if in_order else np.searchsorted(chosen, selected.sentences).tolist()
        for source, copy in zip(bitext.paths, output.paths):
            files.enter_context(atomic_file(copy)).writelines(_lines_of(source, chosen, places))
        if log is not None:
            files.enter_context(atomic_file(log)).writelines(_log_lines(sentences, selected))
    possible = np.flatnonzero(sentences.n_words)
    at_random = _first(np.random.default_rng(config.seed).permutation(possible), sentences, config)
    groups = (selected.sentences, at_random, possible)
    return SelectionResult(possible.size, *(_coverage(group, sentences, domain.lengths) for group in groups))


def _lines_of(path: Path, chosen: np.ndarray, places: Sequence[int] | None) -> Iterable[bytes]:
    """The lines of a file whose indices are `chosen` (int64[K], increasing): those at `places`, or all."""
    is_chosen = np.zeros(int(chosen.max(initial=-1)) + 1, bool)
    is_chosen[chosen] = True
    lines = [f"{line}\n".encode() for line, keep in zip(read_lines(path), is_chosen.tolist()) if keep]
    if len(lines) < chosen.size:
        raise FormatError(path, "fewer lines than when it was read before; give a file that can be read twice, no pipe")
    return lines if places is None else (lines[place] for place in places)


def _log_lines(sentences: SentenceNgrams, selected: SelectedSentences) -> Iterable[bytes]:
    lengths = sentences.n_words[selected.sentences].tolist()
    for sentence, score, n_words in zip(selected.sentences.tolist(), selected.scores.tolist(), lengths):
        yield f"{sentence + 1}\t{score:.6g}\t{n_words}\n".encode()


def _first(shuffled: np.ndarray, sentences: SentenceNgrams, config: SelectionConfig) -> np.ndarray:
    """The first of the `shuffled` sentences (int64[K]) that the budget allows."""
    budget = config.budget
    n_words = np.cumsum(sentences.n_words[shuffled], dtype=np.int64)
    return shuffled[: min(budget.sentences, int(np.searchsorted(n_words, budget.words)) + 1)]


def _coverage(chosen: np.ndarray, sentences: SentenceNgrams, lengths: np.ndarray) -> NgramCoverage:
    """The coverage of the `chosen` sentences (int64[K]); `lengths` int64[F] of the in-domain n-grams, in words."""
    covered = np.zeros(lengths.size, bool)
    for sentence in chosen.tolist():
        covered[sentences.ngrams[sentences.offsets[sentence] : sentences.offsets[sentence + 1]]] = True
    with np.errstate(invalid="ignore"):
        shares = np.bincount(lengths, covered) / np.bincount(lengths)
    return NgramCoverage(chosen.size, int(sentences.n_words[chosen].sum(dtype=np.int64)), shares[1:].tolist())
