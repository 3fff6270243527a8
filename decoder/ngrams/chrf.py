"""chrF and chrF++ between texts, from counts of their n-grams of characters and of words (Popović 2015, 2017).

Counted as in sacrebleu: characters without white space in n-grams of 1 to 6; words in n-grams of 1 and 2, where a sign
at the edge of a word is a separate word; F with beta 2, of precision and recall averaged over the orders.
"""

import string
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.kernels.trie import ROOT, Trie, child, new_trie

CHARACTER_ORDERS, WORD_ORDERS = np.int64(6), np.int64(2)
ORDERS = int(CHARACTER_ORDERS + WORD_ORDERS)
HYPOTHESIS, REFERENCE, MATCHES = 0, 1, 2  # the statistics of each order
BETA_SQUARED = 4.0  # recall counts twice as much as precision
FIRST_WORD = 0x110000  # numbers of words start after those of all characters
NONE = -1
LEAST_PROBABILITY = 1e-6  # references of lower probability are skipped
SIGNS = frozenset(string.punctuation)


class Symbols(NamedTuple):
    """K texts as numbers of characters (side 0) and of words (side 1); text i starts at first[side, i]."""

    symbols: np.ndarray  # int32[S]
    first: np.ndarray  # int64[2, K + 1]


class TextGrams(NamedTuple):
    """Distinct n-grams of K texts, of characters, then of words; those of text i and order n start at first[i, n]."""

    first: np.ndarray  # int64[K, ORDERS + 1]
    gram: np.ndarray  # int32[G], node of a trie
    times: np.ndarray  # int32[G], count of the n-gram in the text
    size: np.ndarray  # int64[K, ORDERS], n-grams of each order, including repetitions
    n_nodes: np.ndarray  # int64[1], of the trie


def grams_of(texts: Sequence[str]) -> TextGrams:
    """The n-grams of texts; equal n-grams have equal numbers."""
    divided = [text.split() for text in texts]
    joined = ["".join(words) for words in divided]
    characters = np.frombuffer("".join(joined).encode("utf-32-le", "surrogatepass"), np.int32)
    ids: dict[str, int] = {}
    words = [[ids.setdefault(part, FIRST_WORD + len(ids)) for word in one for part in _parts(word)] for one in divided]
    symbols = np.append(characters, np.fromiter(chain.from_iterable(words), np.int32))
    first = np.array([np.cumsum([start, *map(len, side)]) for start, side in ((0, joined), (characters.size, words))])
    room, n_texts = int(CHARACTER_ORDERS) * symbols.size, len(texts)
    trie = new_trie(room + 1)
    grams = TextGrams(
        np.empty((n_texts, ORDERS + 1), np.int64),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.zeros((n_texts, ORDERS), np.int64),
        trie.n_nodes,
    )
    work = np.full(room + 1, NONE, np.int32), np.empty(symbols.size, np.int64)
    fill_text_grams(Symbols(symbols, first), trie, *work, grams)
    return grams


def _parts(word: str) -> Sequence[str]:
    """Split a word into the word and the sign at one of its edges."""
    if len(word) > 1 and word[-1] in SIGNS:
        return word[:-1], word[-1]
    if len(word) > 1 and word[0] in SIGNS:
        return word[0], word[1:]
    return (word,)


@kernel
def fill_text_grams(texts: Symbols, trie: Trie, latest, nodes, grams: TextGrams):
    """Fill `grams` with the n-grams of all texts, counted per text; `grams.size` is 0 at first.

    Work space: `latest` (int32[trie], NONE at first), the last entry of each n-gram; `nodes` (int64[S]).
    """
    end = np.int64(0)
    for i in range(grams.first.shape[0]):
        start, order = end, np.int64(0)
        for side in range(2):
            first, last = texts.first[side, i], texts.first[side, i + 1]
            for k in range(first, last):
                nodes[k] = ROOT
            for n in range(CHARACTER_ORDERS if side == 0 else WORD_ORDERS):
                grams.first[i, order] = end
                for k in range(first, last - n):
                    nodes[k] = child(trie, nodes[k], np.int64(texts.symbols[k + n]))
                    index = np.int64(latest[nodes[k]])
                    grams.size[i, order] += 1
                    if index >= start:
                        grams.times[index] += 1
                    else:
                        latest[nodes[k]] = end
                        grams.gram[end], grams.times[end] = nodes[k], 1
                        end += 1
                order += 1
        grams.first[i, ORDERS] = end


@inner_kernel
def put_counts(grams: TextGrams, i, counts, is_put):
    """Write the counts of n-grams in text `i` to `counts` (int32[nodes]), or reset them to 0 unless `is_put`."""
    for index in range(grams.first[i, 0], grams.first[i, ORDERS]):
        counts[grams.gram[index]] = grams.times[index] if is_put else np.int32(0)


@inner_kernel
def fill_pair(grams, hypothesis, reference, counts, sums):
    """Write statistics of `hypothesis` for `reference`, whose n-grams `counts` has, to `sums` (float64[3 N]).

    They are those of the first N orders. As in sacrebleu, orders without n-grams in the reference count none in the
    hypothesis.
    """
    for n in range(sums.size // 3):
        matches = np.int64(0)
        begin, end = grams.first[hypothesis, n], grams.first[hypothesis, n + 1]
        gram, times = grams.gram[begin:end], grams.times[begin:end]
        for k in range(gram.size):
            matches += min(np.int64(times[k]), np.int64(counts[gram[k]]))
        size = grams.size[reference, n]
        sums[3 * n + HYPOTHESIS] = grams.size[hypothesis, n] if size > 0 else 0.0
        sums[3 * n + REFERENCE], sums[3 * n + MATCHES] = size, matches


@inlined_kernel
def chrf_of_sums(sums):
    """chrF2 or chrF2++ in [0, 1] from statistics of a text or a corpus, `sums` (float64[3 N]), see fill_pair."""
    precision, recall, orders = 0.0, 0.0, 0
    for i in range(0, sums.size, 3):
        if sums[i] > 0.0 and sums[i + 1] > 0.0:
            precision += sums[i + 2] / sums[i]
            recall += sums[i + 2] / sums[i + 1]
            orders += 1
    if precision + recall <= 0.0:
        return 0.0
    return (1.0 + BETA_SQUARED) * precision * recall / (BETA_SQUARED * precision + recall) / orders


@kernel
def fill_chrf_statistics(grams: TextGrams, n_references, counts, sums, best, statistics):
    """Write the statistics of texts from number `n_references` (int64) on to `statistics` (float32[K, 3 N]).

    The references are the preceding texts; of several, the first one with the largest score counts. Work space:
    `counts` (int32[nodes], all 0), `sums` (float64[3 N]), `best` (float64[K], the scores).
    """
    for reference in range(n_references):
        put_counts(grams, reference, counts, True)
        for k in range(statistics.shape[0]):
            fill_pair(grams, n_references + k, reference, counts, sums)
            score = chrf_of_sums(sums)
            if reference == 0 or score > best[k]:
                best[k] = score
                for s in range(sums.size):
                    statistics[k, s] = sums[s]
        put_counts(grams, reference, counts, False)


@kernel
def fill_chrf_gains(grams: TextGrams, probability: np.ndarray, chosen: np.ndarray, counts, sums, gains):
    """Add the expected chrF++ of each of the texts `chosen` (int64[H]) to `gains` (float64[H]).

    Each of the K texts is right with its `probability`. Work space: `counts` (int32[nodes], all 0), `sums`
    (float64[3 ORDERS]).
    """
    for reference in range(probability.size):
        if probability[reference] < LEAST_PROBABILITY:
            continue
        put_counts(grams, reference, counts, True)
        for k in range(chosen.size):
            fill_pair(grams, chosen[k], reference, counts, sums)
            gains[k] += probability[reference] * chrf_of_sums(sums)
        put_counts(grams, reference, counts, False)


@kernel
def fill_rough_gains(grams: TextGrams, probability: np.ndarray, counts, sizes, sums, gains):
    """Write the chrF++ of each of K texts to `gains` (float64[K]), for one reference: the mean of all texts.

    This reference has as many of each n-gram as are expected if each text is right with its `probability`, which takes
    K comparisons instead of K squared (DeNero et al. 2009; Vamvas and Sennrich 2024). Work space: `counts`
    (float64[nodes]) and `sizes` (float64[ORDERS]), all 0; `sums` (float64[3 ORDERS]).
    """
    for i in range(gains.size):
        for n in range(sizes.size):
            sizes[n] += probability[i] * grams.size[i, n]
        for index in range(grams.first[i, 0], grams.first[i, ORDERS]):
            counts[grams.gram[index]] += probability[i] * grams.times[index]
    for i in range(gains.size):
        for n in range(sizes.size):
            matches = 0.0
            for index in range(grams.first[i, n], grams.first[i, n + 1]):
                matches += min(np.float64(grams.times[index]), counts[grams.gram[index]])
            sums[3 * n + HYPOTHESIS], sums[3 * n + REFERENCE] = grams.size[i, n], sizes[n]
            sums[3 * n + MATCHES] = matches
        gains[i] = chrf_of_sums(sums)
