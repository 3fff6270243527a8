"""Selection of training sentences by feature decay (Biçici & Yuret 2011; formulas of their FDA5, 2015).

Features are the n-grams of the in-domain text. The best sentence is selected repeatedly, and each time the weights of
its n-grams decay, so that sentences with n-grams that were not selected yet become better than others. The weight of an
n-gram f of |f| words, selected C(f) times so far, is

    log(words of the bitext / occurrences of f in it)^i * |f|^l * d^C(f) / (1 + C(f))^c

and the score of a sentence S is the sum of the weights of all occurrences of n-grams in it, divided by |S|^s. The
defaults, i = c = d = s = 1 and l = 0, are those of Phrasal, as Green et al. (2013, section 4.1) used it; those of FDA5
are i = l = s = 1, c = 0 and d = 0.5.

Scores only fall. So a queue has an earlier score of each sentence, and the first sentence is selected if it still comes
first with its current score; otherwise it returns to the queue with this score. Of equal scores, the earlier sentence
is better.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.base.progress import stage
from phrasebeam.kernels.jit import inlined_kernel, kernel
from phrasebeam.kernels.priority_queue import comes_first, dequeue, enqueue
from phrasebeam.training.selection.config import SelectionConfig
from phrasebeam.training.selection.domain_ngrams import SentenceNgrams

BATCH = 1000  # sentences selected between two reports of progress


class Exponents(NamedTuple):
    """The parameters of the formulas above."""

    idf: float  # i
    ngram_length: float  # l
    decay_factor: float  # d
    decay: float  # c
    sentence_length: float  # s


class SelectionState(NamedTuple):
    """Weights of F n-grams, and a queue of N sentences by negative score; its items are N - 1 - sentence number."""

    initial_weights: Annotated[np.ndarray, array(np.float64, "F")]
    weights: Annotated[np.ndarray, array(np.float64, "F")]
    counts: Annotated[np.ndarray, array(np.int64, "F")]  # how often each n-gram was selected
    costs: Annotated[np.ndarray, array(np.float64, "N", fill=None)]
    items: Annotated[np.ndarray, array(np.int32, "N", fill=None)]
    size: Annotated[np.ndarray, array(np.int64, 1)]  # of the queue
    n_words: Annotated[np.ndarray, array(np.int64, 1)]  # number of source words selected so far


class SelectedSentences(NamedTuple):
    """K sentences, in the order of selection."""

    sentences: np.ndarray  # int64[K]
    scores: np.ndarray  # float64[K], at the time of selection


@inlined_kernel
def _cost(state: SelectionState, sentences: SentenceNgrams, sentence, exponents: Exponents):
    """The negative score (float64) of `sentence` (int64)."""
    total = np.float64(0)
    for i in range(sentences.offsets[sentence], sentences.offsets[sentence + 1]):
        total += state.weights[sentences.ngrams[i]]
    return -total / math.pow(np.float64(sentences.n_words[sentence]), exponents.sentence_length)


@kernel
def _fill_weights(state: SelectionState, sentences: SentenceNgrams, lengths, exponents: Exponents):
    """Compute the initial weights of n-grams with `lengths` (int64[F]); n-grams that do not occur keep weight 0."""
    n_words = np.int64(0)
    for sentence in range(sentences.n_words.size):
        n_words += np.int64(sentences.n_words[sentence])
    for i in range(sentences.ngrams.size):
        state.counts[sentences.ngrams[i]] += 1
    for ngram in range(lengths.size):
        if state.counts[ngram] > 0:
            idf = math.log(n_words / state.counts[ngram])
            weight = math.pow(idf, exponents.idf) * math.pow(np.float64(lengths[ngram]), exponents.ngram_length)
            state.initial_weights[ngram] = state.weights[ngram] = weight
            state.counts[ngram] = 0


@kernel
def _fill_queue(state: SelectionState, sentences: SentenceNgrams, exponents: Exponents):
    last = state.items.size - 1
    for sentence in range(state.items.size):
        if sentences.n_words[sentence] > 0:
            cost = _cost(state, sentences, sentence, exponents)
            enqueue(state.costs, state.items, state.size[0], cost, np.int64(last - sentence))
            state.size[0] += 1


@inlined_kernel
def _decay(state: SelectionState, sentences: SentenceNgrams, sentence, exponents: Exponents):
    """Count the n-grams of `sentence` (int64) as selected, and lower their weights."""
    for i in range(sentences.offsets[sentence], sentences.offsets[sentence + 1]):
        ngram = sentences.ngrams[i]
        state.counts[ngram] += 1
        count = np.float64(state.counts[ngram])
        decay = math.pow(exponents.decay_factor, count) / math.pow(1 + count, exponents.decay)
        state.weights[ngram] = state.initial_weights[ngram] * decay


@kernel
def _select(
    state: SelectionState, sentences: SentenceNgrams, exponents: Exponents, most_words, selected: SelectedSentences
):
    """Fill `selected` with the next sentences; returns their number (int64).

    It is not filled completely if the queue is empty or `most_words` (int64) words are selected before.
    """
    n_selected, last = np.int64(0), state.items.size - 1
    while n_selected < selected.sentences.size and state.size[0] > 0 and state.n_words[0] < most_words:
        item = dequeue(state.costs, state.items, state.size[0])
        state.size[0] -= 1
        sentence = last - item
        cost = _cost(state, sentences, sentence, exponents)
        if state.size[0] > 0 and comes_first(state.costs[0], np.int64(state.items[0]), cost, item):
            enqueue(state.costs, state.items, state.size[0], cost, item)
            state.size[0] += 1
            continue
        selected.sentences[n_selected], selected.scores[n_selected] = sentence, -cost
        n_selected += 1
        state.n_words[0] += np.int64(sentences.n_words[sentence])
        _decay(state, sentences, sentence, exponents)
    return n_selected


def select_by_decay(sentences: SentenceNgrams, lengths: np.ndarray, config: SelectionConfig) -> SelectedSentences:
    """Select sentences until the budget is used; all sentences with words if it is larger than the bitext.

    lengths: int64[F], lengths of the n-grams in words. Raises ConfigError if there is not exactly one budget.
    """
    budget = config.budget
    exponents = Exponents(
        config.idf_exponent,
        config.ngram_length_exponent,
        config.decay_factor,
        config.decay_exponent,
        config.sentence_length_exponent,
    )
    n_most = min(budget.sentences, int(np.count_nonzero(sentences.n_words)))
    state = allocate(SelectionState, {"F": lengths.size, "N": sentences.n_words.size})
    selected = SelectedSentences(np.empty(n_most, np.int64), np.empty(n_most))
    n_selected = 0
    with stage("selecting", n_most if config.sentences else None, "sentence pairs") as advance:
        _fill_weights(state, sentences, lengths, exponents)
        _fill_queue(state, sentences, exponents)
        for begin in range(0, n_most, BATCH):
            batch = SelectedSentences(*(values[begin : begin + BATCH] for values in selected))
            n_new = int(_select(state, sentences, exponents, np.int64(budget.words), batch))
            n_selected += n_new
            advance(n_new)
            if n_new < batch.sentences.size:
                break
    return SelectedSentences(*(values[:n_selected].copy() for values in selected))
