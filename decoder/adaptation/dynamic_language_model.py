"""A language model of confirmed text, interpolated with the model's first language model (Kuhn & De Mori 1990).

An n-gram (h, w) of confirmed text has the ratio r = 1 - a + a d(w|h) / p(w|h), where p is the model's probability, d
the probability by the counts of confirmed text (Witten & Bell 1991), and a the share of d; ln p + ln r is therefore ln
of the interpolation. All other words have r = 1 - a. The search uses r / `most_ratio`, which is never above 1, as a
further language model; the word penalty compensates for the constant, see `compensated`.
"""

import math
from array import array
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.tables.language_models import TargetModel
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.ngrams import NgramModel, NgramOrder
from phrasebeam.lm.text.vocabulary import BEGIN, END, UNKNOWN, Vocabulary

LEAST_COUNT = 1e-3  # segments with lower counts are forgotten
MOST_SEGMENTS = 2000  # remembered segments, if counts decay slowly
MOST_FORGOTTEN = 3  # distinct n-grams per remembered segment; if there are more, all are renumbered

Ngram = tuple[str, ...]


class NumberedNgrams:
    """The distinct n-grams of one length n, with their numbers and the data that do not depend on counts."""

    def __init__(self, n: int, shorter: "NumberedNgrams | None"):
        """`shorter`: n-grams of n - 1 words, including the last n - 1 words of each n-gram; None if n is 1."""
        self.n, self.shorter = n, shorter
        self.numbers, self._contexts = dict[Ngram, int](), dict[Ngram, int]()
        self._words, self._log10_static = array("i"), array("d")
        self._context_of, self._lower_of = array("q"), array("q")

    def add(self, ngram: Ngram, ids: Sequence[int] | np.ndarray, log10_static: float) -> int:
        """Add an n-gram of words with these ids and its log10 p in the model's language model; return its number."""
        self.numbers[ngram] = number = len(self.numbers)
        self._words.extend(ids)
        self._log10_static.append(log10_static)
        self._context_of.append(self._contexts.setdefault(ngram[:-1], len(self._contexts)))
        self._lower_of.append(self.shorter.numbers[ngram[1:]] if self.shorter else 0)
        return number

    def static_score(self, ngram: Ngram) -> float | None:
        """log10 p of the last word by the model's language model, if the n-gram has been added."""
        number = self.numbers.get(ngram)
        return None if number is None else self._log10_static[number]

    def probabilities(self, counts: np.ndarray, lower: np.ndarray) -> np.ndarray:
        """float64[K], p of the n-grams by their counts (float64[K]), and `lower`, p of the n-grams one word shorter.

        Witten & Bell smoothing; 0 if the count is 0. For unigrams, `lower` is 0: the mass of unseen words is left to
        the model with which they are interpolated.
        """
        context_of, is_seen = np.array(self._context_of, np.int64), counts > 0
        totals = np.bincount(context_of, counts, len(self._contexts))
        types = np.bincount(context_of, is_seen, len(self._contexts))
        of_types = types[context_of] * lower[np.array(self._lower_of, np.int64)]
        found = np.zeros(counts.size)
        np.divide(counts + of_types, (totals + types)[context_of], out=found, where=is_seen)
        return found

    def rows(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The words (int32[L, n]) and static log10 p (float64[L]) of the n-grams numbered `chosen` (int64[L])."""
        words = np.array(self._words, np.int32).reshape(-1, self.n)
        return words[chosen], np.array(self._log10_static)[chosen]


class SegmentNgrams(NamedTuple):
    """The n-grams of one segment, ordered by their last words."""

    words: Sequence[str]
    numbers: list[np.ndarray]  # [n - 1]: int64[K]


class DynamicLanguageModel:
    """The text of confirmed segments, and its language model."""

    def __init__(self, static: TargetModel, settings: AdaptationSettings):
        """`static`: the language model with which it is interpolated."""
        self.static, self.settings = static, settings
        longest = math.log(LEAST_COUNT) / math.log(settings.decay) + 1 if settings.decay < 1 else MOST_SEGMENTS
        self.most_segments = min(int(longest), MOST_SEGMENTS)
        self._segments = deque[SegmentNgrams](maxlen=self.most_segments)
        self._begin()

    def _begin(self) -> None:
        self.vocabulary = Vocabulary([UNKNOWN, BEGIN, END])
        orders = list[NumberedNgrams]()
        for n in range(1, self.settings.order + 1):
            orders.append(NumberedNgrams(n, orders[-1] if orders else None))
        self._orders = orders

    def add(self, words: Sequence[str]) -> None:
        """Add one more segment."""
        self._number(words, self._orders)
        n_kept = sum(segment.numbers[-1].size for segment in self._segments)
        if len(self._orders[-1].numbers) > MOST_FORGOTTEN * (n_kept + self.most_segments):
            self._number_anew()

    def _number_anew(self) -> None:
        """Renumber n-grams and words, keeping only those of the remembered segments."""
        known, kept = self._orders, [segment.words for segment in self._segments]
        self._begin()
        self._segments.clear()
        for words in kept:
            self._number(words, known)

    def _number(self, words: Sequence[str], known: Sequence[NumberedNgrams]) -> None:
        """Add a segment; scores of `known` n-grams are not looked up again."""
        text = [BEGIN, *words, END]
        ids, static_ids = self.vocabulary.add_all(text), self.static.word_ids(text)
        static_ids[0], static_ids[-1] = self.static.model.begin, self.static.model.end
        numbers = list[np.ndarray]()
        for order, of_known in zip(self._orders, known):
            n, found = order.n, list[int]()
            for i in range(1 if n == 1 else 0, len(text) - n + 1):  # but the unigram of the first word
                ngram = tuple(text[i : i + n])
                number = order.numbers.get(ngram)
                if number is None:
                    score = of_known.static_score(ngram)
                    log10_static = self._log10_static(static_ids[i : i + n]) if score is None else score
                    number = order.add(ngram, ids[i : i + n], log10_static)
                found.append(number)
            numbers.append(np.array(found, np.int64))
        self._segments.append(SegmentNgrams(words, numbers))

    def _log10_static(self, ids: np.ndarray) -> float:
        """log10 p of the last of LM ids (int32[n]) after the preceding ones, by the model."""
        begins = bool(ids[0] == self.static.model.begin)
        return float(self.static.model.score_ids(ids[begins:], begins)[0][-1])

    def model(self) -> TargetModel:
        """The language model of the ratios, by the present counts."""
        n_segments = len(self._segments)
        weights = self.settings.weight * self.settings.decay ** np.arange(n_segments - 1, -1, -1.0)
        log10_unseen, orders = self._log10(np.zeros(1))[0], list[NgramOrder]()
        unigrams, lower = np.full(len(self.vocabulary), log10_unseen), np.zeros(1)
        for i, order in enumerate(self._orders):
            numbers = [segment.numbers[i] for segment in self._segments]
            of_row = np.repeat(weights, [one.size for one in numbers])
            counts = np.bincount(np.concatenate([*numbers, np.zeros(0, np.int64)]), of_row, len(order.numbers))
            lower = order.probabilities(counts, lower)
            chosen = np.flatnonzero(counts > 0)
            words, log10_static = order.rows(chosen)
            values = self._log10(lower[chosen] / 10.0**log10_static)
            if order.n == 1:
                unigrams[words[:, 0]] = values
                words, values = np.arange(unigrams.size)[:, None], unigrams
            no_backoff = np.zeros(len(words), np.float32)
            orders.append(NgramOrder(words.astype(np.int32), values.astype(np.float32), no_backoff))
        return TargetModel(LanguageModel.from_ngrams(NgramModel(self.vocabulary, tuple(orders))))

    def _log10(self, ratios: np.ndarray) -> np.ndarray:
        """log10 of r / most_ratio, where r is interpolated over static probability, for d / p (float64[K])."""
        share, most = self.settings.interpolation, self.settings.most_ratio
        return np.log10(np.minimum((1 - share + share * ratios) / most, 1.0))


def compensated(weights: Weights, settings: AdaptationSettings) -> Weights:
    """The weights of a model for searches that use the language model of ratios after the model's own.

    It has the weight of the first language model, so that the two together are the interpolation. It costs each word ln
    most_ratio, for which the word penalty compensates.
    """
    first = weights.language_model[0]
    penalty = weights.word_penalty - first * math.log(settings.most_ratio)
    return weights.model_copy(update={"language_model": [*weights.language_model, first], "word_penalty": penalty})
