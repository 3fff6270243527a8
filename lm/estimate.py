"""Estimation of an n-gram model with modified Kneser-Ney smoothing on disk, as lmplz does (Heafield et al. 2013).

It makes three passes over buckets of n-grams: adjusted counts; probabilities, from bigrams up; and backoffs, which the
second pass computes in a bucket other than that of their n-gram. N-grams are pruned by their counts after everything is
estimated: their probability mass goes to the backoffs of their contexts, and discounts do not change, as with lmplz
--prune.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.base.files import scratch_directory
from phrasebeam.base.memory_bound import DEFAULT_MEMORY, memory_left
from phrasebeam.base.progress import Advance, stage
from phrasebeam.base.spill import BucketFiles, RowFile
from phrasebeam.lm.counting import SPECIALS, Windows, group_begins, sorted_counts, spill_windows, text_tokens
from phrasebeam.lm.kneser_ney import (
    LARGEST_COUNT,
    AdjustedOrder,
    adjusted_orders,
    counts_of_counts,
    discounts,
    interpolate,
    log10_backoffs,
    log10_probs,
    place_backoffs,
    unigram_probs,
)
from phrasebeam.lm.ngrams import MAX_ORDER, NgramModel, NgramOrder
from phrasebeam.lm.text.vocabulary import Vocabulary

MIN_ORDER = 2


class Settings(NamedTuple):
    """Settings of estimation."""

    order: int  # words of the longest n-grams
    memory_bytes: int  # peak of the whole process, unless the most frequent word needs more
    scratch: str | Path | None  # directory for temporary files; None: the system's
    thresholds: tuple[int, ...]  # [n - 1]: n-grams of n words with this count or less are pruned

    @property
    def prunes(self) -> bool:
        return any(self.thresholds)


class OrderFiles(NamedTuple):
    """The n-grams of one length on disk, bucket after bucket."""

    words: RowFile  # int32[K, n]
    counts: BucketFiles  # int64, adjusted counts
    suffixes: BucketFiles  # int32, suffixes as in AdjustedOrder
    is_pruned: BucketFiles  # bool
    log10_prob: RowFile  # float32[K]
    log10_backoff: RowFile  # float32[K]
    context_backoffs: BucketFiles  # float32, log10 backoffs sent to the buckets of their n-grams, see place_backoffs
    bucket_ends: list[int]  # bucket b has rows bucket_ends[b]:bucket_ends[b + 1] of `words`


def estimate(
    text: str | Path | Sequence[str | Path],
    order: int,
    memory_bytes: int = DEFAULT_MEMORY,
    scratch: str | Path | None = None,
    classes: Mapping[str, str] | None = None,
    prune: Sequence[int] = (),
) -> NgramModel:
    """The model of `order` (2 to 8) of tokenized text, one sentence per line, as by `lmplz --discount_fallback`.

    Words are <unk>, <s>, </s>, then as they first occur; n-grams above unigrams are in context order (lm/counting.py).
    `text`: one path or several. `memory_bytes` bounds the memory of the process if that can hold the vocabulary and the
    n-grams around the most frequent word. The model's arrays are mapped from unlinked files in `scratch` (None: the
    system's temporary directory).
    With `classes` of words, the model is over these, and words without a class are <unk>. `prune`: thresholds as those
    of `lmplz --prune`, for n-grams of 1 word (which must be 0), 2 words and so on, the last also for all longer ones.
    The words <s>, </s> and <unk> in the text are left out. Raises ConfigError for an invalid `order` or `prune`,
    FormatError for text that is not UTF-8 or too short.
    """
    settings = Settings(order, memory_bytes, scratch, _thresholds(prune, order))
    vocabulary = Vocabulary(SPECIALS)
    paths = [text] if isinstance(text, str | Path) else text
    return _estimate(text_tokens(paths, vocabulary, order, classes), vocabulary, ", ".join(map(str, paths)), settings)


def _thresholds(prune: Sequence[int], order: int) -> tuple[int, ...]:
    """A threshold for each of the orders 1 to `order`. Raises ConfigError if there are none, or if they do not fit."""
    if not MIN_ORDER <= order <= MAX_ORDER:
        raise ConfigError(f"order: found {order}, expected {MIN_ORDER} to {MAX_ORDER}")
    given = tuple(prune) or (0,)
    if len(given) > order or given[0] != 0 or list(given) != sorted(given):
        found = " ".join(map(str, given))
        expected = f"at most {order} counts, 0 for words and then none below the one before, such as 0 0 1"
        raise ConfigError(f"prune: found {found}, expected {expected}")
    return given + given[-1:] * (order - len(given))


def _estimate(chunks: Iterator[np.ndarray], vocabulary: Vocabulary, text: str, settings: Settings) -> NgramModel:
    """The model of padded sentences (int32 `chunks`) of ids in `vocabulary`; errors name `text`."""
    with scratch_directory(settings.scratch) as directory:
        with stage("reading text"):
            windows = spill_windows(chunks, settings.order, lambda: _bucket_rows(settings), directory)
        files = {n: _order_files(directory, n) for n in range(MIN_ORDER, settings.order + 1)}
        with stage("counting n-grams", windows.n_buckets) as advance:
            unigrams, count_histograms = _count(windows, files, len(vocabulary), settings, advance)
        if not files[settings.order].words.n_rows:
            needed = f"order {settings.order} needs a sentence of at least {settings.order - 2} words"
            raise FormatError(text, f"too little text: {needed}; give more text or a lower order")
        with stage("estimating probabilities", windows.n_buckets) as advance:
            unigram_order = _estimate_probs(windows, files, unigrams, count_histograms, settings.prunes, advance)
        with stage("placing backoffs", windows.n_buckets) as advance:
            _place_backoffs(windows, files, len(vocabulary), advance)
        if settings.prunes:
            with stage("pruning", windows.n_buckets) as advance:
                files = _pruned(windows, files, directory, advance)
        return NgramModel(vocabulary, (unigram_order, *(_mapped(order) for order in files.values())))


def _bucket_rows(settings: Settings) -> int:
    """Windows per bucket, from the memory that vocabulary and interpreter leave."""
    # Measured with orders 4 and 6: keys, counts and several copies of the words.
    bytes_per_row = 40 * settings.order
    return max(1, memory_left(settings.memory_bytes) // bytes_per_row)


def _order_files(directory: Path, n: int) -> OrderFiles:
    return OrderFiles(
        words=RowFile(directory / f"{n}.words", np.int32, n),
        counts=BucketFiles(directory / f"{n}.counts", np.int64),
        suffixes=BucketFiles(directory / f"{n}.suffixes", np.int32),
        is_pruned=BucketFiles(directory / f"{n}.is_pruned", np.bool_),
        log10_prob=RowFile(directory / f"{n}.prob", np.float32),
        log10_backoff=RowFile(directory / f"{n}.backoff", np.float32),
        context_backoffs=BucketFiles(directory / f"{n}.context_backoffs", np.float32),
        bucket_ends=[0],
    )


def _count(
    windows: Windows, files: dict[int, OrderFiles], vocabulary_size: int, settings: Settings, advance: Advance
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Fill words, counts, suffixes and is_pruned of `files`.

    Returns int64[V] adjusted counts of unigrams, and int64[5] counts of counts of each higher order.
    """
    unigrams = np.zeros(vocabulary_size, np.int64)
    count_histograms = {n: np.zeros(LARGEST_COUNT + 1, np.int64) for n in files}
    for bucket in range(windows.n_buckets):
        distinct = sorted_counts(windows.files.take(bucket), vocabulary_size)
        for words, counts, suffixes, is_pruned in adjusted_orders(*distinct, settings.thresholds):
            n = words.shape[1]
            files[n].words.append(words)
            files[n].counts.append(bucket, counts)
            files[n].suffixes.append(bucket, suffixes)
            files[n].is_pruned.append(bucket, is_pruned)
            files[n].bucket_ends.append(files[n].words.n_rows)
            count_histograms[n] += counts_of_counts(counts)
            if n == MIN_ORDER:
                unigrams += np.bincount(suffixes, minlength=vocabulary_size)
        advance(1)
    return unigrams, count_histograms


def _estimate_probs(
    windows: Windows,
    files: dict[int, OrderFiles],
    unigrams: np.ndarray,
    count_histograms: dict[int, np.ndarray],
    prunes: bool,
    advance: Advance,
) -> NgramOrder:
    """Fill log10_prob and context_backoffs of `files`; returns the unigrams with their probabilities and backoffs.

    If the model `prunes`, is_pruned is kept for `_pruned`.
    """
    prob_of_word = unigram_probs(unigrams)
    backoff_of_word = np.zeros(unigrams.size, np.float32)
    for bucket in range(windows.n_buckets):
        prob = prob_of_word
        for n, order in files.items():
            words = _words(order, bucket)
            begins = group_begins(words[:, :-1])
            columns = (file.take(bucket) for file in (order.counts, order.suffixes, order.is_pruned))
            adjusted = AdjustedOrder(words, *columns)
            if prunes:
                order.is_pruned.append(bucket, adjusted.is_pruned)
            prob, backoff = interpolate(adjusted, begins, prob, discounts(count_histograms[n]))
            order.log10_prob.append(log10_probs(prob))
            if n == MIN_ORDER:
                backoff_of_word[words[begins, 0]] = log10_backoffs(backoff)
            else:
                buckets = windows.bucket_of_word[words[begins, -3]]
                files[n - 1].context_backoffs.scatter(buckets, log10_backoffs(backoff))
        advance(1)
    ids = np.arange(unigrams.size, dtype=np.int32)[:, None]
    return NgramOrder(ids, log10_probs(prob_of_word), backoff_of_word)


def _place_backoffs(windows: Windows, files: dict[int, OrderFiles], vocabulary_size: int, advance: Advance) -> None:
    """Fill log10_backoff of `files` from context_backoffs; zeros for the highest order."""
    for bucket in range(windows.n_buckets):
        for n, order in files.items():
            last_words = _words(order, bucket)[:, -1]
            if n == max(files):
                backoffs = np.zeros(last_words.size, np.float32)
            else:
                backoffs = place_backoffs(last_words, order.context_backoffs.take(bucket), vocabulary_size)
            order.log10_backoff.append(backoffs)
        advance(1)


def _pruned(windows: Windows, files: dict[int, OrderFiles], directory: Path, advance: Advance) -> dict[int, OrderFiles]:
    """Write new files without the pruned n-grams, and remove the old ones."""
    (directory / "kept").mkdir()
    kept_files = {n: _order_files(directory / "kept", n) for n in files}
    for bucket in range(windows.n_buckets):
        for n, order in files.items():
            is_kept, rows = ~order.is_pruned.take(bucket), order.bucket_ends[bucket : bucket + 2]
            for name in ("words", "log10_prob", "log10_backoff"):
                getattr(kept_files[n], name).append(getattr(order, name).read(*rows)[is_kept])
        advance(1)
    for order in files.values():
        for file in (order.words, order.log10_prob, order.log10_backoff):
            file.path.unlink()
    return kept_files


def _words(order: OrderFiles, bucket: int) -> np.ndarray:
    """int32[K, n] n-grams of `bucket`."""
    return order.words.read(order.bucket_ends[bucket], order.bucket_ends[bucket + 1])


def _mapped(order: OrderFiles) -> NgramOrder:
    return NgramOrder(order.words.map(), order.log10_prob.map(), order.log10_backoff.map())
