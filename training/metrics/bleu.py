"""BLEU of tokenized text from sufficient statistics (Papineni et al. 2002), which are counted as sacrebleu does.

The statistics of a hypothesis are [length, reference length, matches of 1- to 4-grams, totals of 1- to 4-grams]; those
of a corpus are their sum. Matches are clipped at the largest count in any one reference.
"""

from collections.abc import Sequence
from itertools import chain, repeat
from typing import Literal, NamedTuple

import numpy as np

from phrasebeam.kernels.jit import inlined_kernel, kernel
from phrasebeam.kernels.trie import NO_ROOM, ROOT, Trie, child, new_trie

ORDER = 4
LENGTH, REFERENCE_LENGTH, MATCHES, TOTALS = 0, 1, 2, 2 + ORDER
N_STATISTICS = 2 + 2 * ORDER
UNKNOWN = -1  # a word that is in no reference

ReferenceLength = Literal["closest", "shortest", "average"]


class TokenizedTexts(NamedTuple):
    """K translations as word ids: translation k, of sentence[k], is words[first[k]:first[k + 1]]."""

    words: np.ndarray  # int32[W], UNKNOWN for words that are in no reference
    first: np.ndarray  # int64[K + 1]
    sentence: np.ndarray  # int64[K]


class ReferenceGrams(NamedTuple):
    """Clipping limits of n-grams by sentence, in a trie whose paths begin with an id for the sentence itself."""

    trie: Trie  # full: it takes no further nodes
    limit: np.ndarray  # int32[nodes], largest count in any one reference of the sentence
    root: np.ndarray  # int64[M], node of each sentence


class References:
    """The references of M sentences; their n-grams are counted once."""

    def __init__(self, references: Sequence[Sequence[str]], lowercase: bool = False):
        """`references`: one list of M sentences for each set of references."""
        self.lowercase = lowercase
        self.ids: dict[str, int] = {}
        sets = [[self._words(line) for line in lines] for lines in references]
        for lines in sets:
            for words in lines:
                for word in words:
                    self.ids.setdefault(word, len(self.ids))
        self.lengths = np.array([[len(words) for words in lines] for lines in sets], np.int64).T  # [M, R]
        n_sentences, n_sets = self.lengths.shape
        sentences = np.repeat(np.arange(n_sentences), n_sets)
        texts = self._texts(sentences, [lines[i] for i in range(n_sentences) for lines in sets])
        self.grams = _count(texts, n_sentences, len(self.ids))

    def statistics(
        self, sentences: np.ndarray, texts: Sequence[str], length: ReferenceLength = "closest"
    ) -> np.ndarray:
        """The statistics of `texts` as translations of `sentences` (int64[K]), as float32[K, N_STATISTICS]."""
        tokenized = self._texts(sentences, [self._words(text) for text in texts])
        statistics = np.zeros((len(texts), N_STATISTICS), np.float32)
        fill_statistics(tokenized, self.grams, np.zeros(self.grams.limit.size, np.int32), statistics)
        statistics[:, REFERENCE_LENGTH] = reference_lengths(self.lengths[sentences], np.diff(tokenized.first), length)
        return statistics

    def _words(self, text: str) -> list[str]:
        return (text.lower() if self.lowercase else text).split()  # at any white space, as sacrebleu does

    def _texts(self, sentences: np.ndarray, texts: list[list[str]]) -> TokenizedTexts:
        first = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        ids = map(self.ids.get, chain.from_iterable(texts), repeat(UNKNOWN))
        words = np.fromiter(ids, np.int32, int(first[-1]))
        return TokenizedTexts(words, first, np.ascontiguousarray(sentences, np.int64))


def reference_lengths(lengths: np.ndarray, text_lengths: np.ndarray, length: ReferenceLength) -> np.ndarray:
    """The reference length of each of K texts of `text_lengths` (int64[K]) words, whose references have `lengths`.

    `lengths`: int64[K, R]. If two references are equally close in length, the shorter one counts.
    """
    if length == "shortest":
        return lengths.min(axis=1, initial=np.iinfo(np.int64).max)
    if length == "average":
        return lengths.mean(axis=1)
    ordered = np.sort(lengths, axis=1)
    closest = np.argmin(np.abs(ordered - text_lengths[:, None]), axis=1)
    return np.take_along_axis(ordered, closest[:, None], axis=1)[:, 0]


def _count(texts: TokenizedTexts, n_sentences: int, n_words: int) -> ReferenceGrams:
    capacity = 1 + n_sentences + ORDER * texts.words.size
    grams = ReferenceGrams(new_trie(capacity), np.zeros(capacity, np.int32), np.zeros(n_sentences, np.int64))
    fill_limits(texts, np.int64(n_words), np.zeros(capacity, np.int32), grams)
    trie, size = grams.trie, int(grams.trie.n_nodes[0])
    trie = trie._replace(parent=trie.parent[:size].copy(), word=trie.word[:size].copy())
    return grams._replace(trie=trie, limit=grams.limit[:size].copy())


@kernel
def fill_limits(texts: TokenizedTexts, n_words, count, grams: ReferenceGrams):
    """Fill `grams` with the n-grams of the references `texts`, which have a vocabulary of `n_words` (int64) words.

    `count` (int32[nodes], all 0) is work space.
    """
    for i in range(grams.root.size):
        grams.root[i] = child(grams.trie, ROOT, n_words + i)
    for k in range(texts.sentence.size):
        begin, end = texts.first[k], texts.first[k + 1]
        for step in (1, 0):  # step 1 counts, step 0 resets the counts to 0
            for start in range(begin, end):
                node = grams.root[texts.sentence[k]]
                for position in range(start, min(start + ORDER, end)):
                    node = child(grams.trie, node, np.int64(texts.words[position]))
                    if step:
                        count[node] += 1
                        grams.limit[node] = max(grams.limit[node], count[node])
                    else:
                        count[node] = 0


@kernel
def fill_statistics(texts: TokenizedTexts, grams: ReferenceGrams, used, statistics):
    """Add lengths, matches and totals to `statistics` (float32[K, N_STATISTICS]).

    `used` (int32[nodes], all 0) is work space.
    """
    for k in range(texts.sentence.size):
        begin, end = texts.first[k], texts.first[k + 1]
        statistics[k, LENGTH] += end - begin
        for n in range(ORDER):
            statistics[k, TOTALS + n] += max(end - begin - n, 0)
        for step in (1, 0):
            for start in range(begin, end):
                node = grams.root[texts.sentence[k]]
                for n in range(min(ORDER, end - start)):
                    word = np.int64(texts.words[start + n])
                    node = NO_ROOM if word < 0 else child(grams.trie, node, word)
                    if node == NO_ROOM:
                        break
                    if not step:
                        used[node] = 0
                    elif used[node] < grams.limit[node]:
                        used[node] += 1
                        statistics[k, MATCHES + n] += 1


@inlined_kernel
def bleu_of_sums(sums):
    """BLEU in [0, 1] of a corpus from the sums of its statistics, `sums` (float64[N_STATISTICS]).

    Precisions without a match are smoothed as by sacrebleu's method "exp".
    """
    any_match, ln_precision, halves = False, 0.0, 1.0
    for n in range(ORDER):
        any_match |= sums[MATCHES + n] > 0.0
        if sums[TOTALS + n] <= 0.0:
            ln_precision = -np.inf
        elif sums[MATCHES + n] > 0.0:
            ln_precision += np.log(sums[MATCHES + n] / sums[TOTALS + n])
        else:
            halves *= 2.0
            ln_precision -= np.log(halves * sums[TOTALS + n])
    if not any_match or ln_precision == -np.inf:
        return 0.0
    ln_brevity = min(0.0, 1.0 - sums[REFERENCE_LENGTH] / sums[LENGTH])
    return np.exp(ln_precision / ORDER + ln_brevity)
