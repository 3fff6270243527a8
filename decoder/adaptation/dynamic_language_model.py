"""A language model of confirmed text, interpolated with the first one of the model (Kuhn & De Mori 1990).

An n-gram (h, w) of confirmed text has the ratio r = 1 - a + a d(w|h) / p(w|h), where p is the model's probability, d
that by its counts (Witten & Bell 1991), and a the share: so ln p + ln r is ln of the interpolation. All other words
have r = 1 - a. Search takes r / `most_ratio`, which is never above 1, as a language model of its own; the weight of the
word penalty makes up for the constant, see `compensated`.
"""

import math
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

LEAST_COUNT = 1e-3  # below that, segments are forgotten


class SegmentNgrams(NamedTuple):
    """The n-grams of one segment, in the order of their last words."""

    ngrams: list[np.ndarray]  # [n - 1]: int32[K, n] word ids
    log10_static: list[np.ndarray]  # [n - 1]: float64[K], of the last word after the others by the model


class DynamicLanguageModel:
    """The text of confirmed segments, and a language model of it."""

    def __init__(self, static: TargetModel, settings: AdaptationSettings):
        """`static`: the language model that is interpolated with."""
        self.static, self.settings = static, settings
        self.vocabulary = Vocabulary([UNKNOWN, BEGIN, END])
        longest = np.log(LEAST_COUNT) / np.log(settings.decay) + 1 if settings.decay < 1 else None
        self._segments = deque[SegmentNgrams](maxlen=int(longest) if longest else None)

    def static_scores(self, words: Sequence[str]) -> list[np.ndarray]:
        """[n - 1]: float64[K] log10 p by the model of each last word of the n-grams of a segment, see _starts."""
        ids = self.static.word_ids([BEGIN, *words, END])
        ids[0], ids[-1] = self.static.model.begin, self.static.model.end
        orders = range(1, self.settings.order + 1)
        return [np.array([self._log10_static(ids[i : i + n]) for i in _starts(ids.size, n)]) for n in orders]

    def add(self, words: Sequence[str], static_scores: list[np.ndarray]) -> None:
        """Add one more segment, whose static_scores are known."""
        ids, orders = self.vocabulary.add_all([BEGIN, *words, END]), range(1, self.settings.order + 1)
        ngrams = [np.array([ids[i : i + n] for i in _starts(ids.size, n)], np.int32).reshape(-1, n) for n in orders]
        self._segments.append(SegmentNgrams(ngrams, static_scores))

    def _log10_static(self, ids: np.ndarray) -> float:
        """log10 p of the last of LM ids (int32[n]) after the others, by the model."""
        begins = bool(ids[0] == self.static.model.begin)
        return float(self.static.model.score_ids(ids[begins:], begins)[0][-1])

    def model(self) -> TargetModel:
        """The language model of the ratios, of the present counts."""
        n_segments = len(self._segments)
        weights = self.settings.weight * self.settings.decay ** np.arange(n_segments - 1, -1, -1.0)
        orders, log10_unseen = [], self._log10(np.zeros(1))[0]
        unigrams = np.full(len(self.vocabulary), log10_unseen)
        lower = dict[bytes, float]()
        for n in range(1, self.settings.order + 1):
            words, counts, log10_static = self._counted(n, weights)
            probabilities = _witten_bell(words, counts, lower)
            lower = dict(zip(_as_bytes(words), probabilities.tolist()))
            values = self._log10(probabilities / 10.0**log10_static)
            if n == 1:
                unigrams[words[:, 0]] = values
                words, values = np.arange(unigrams.size)[:, None], unigrams
            no_backoff = np.zeros(len(words), np.float32)
            orders.append(NgramOrder(words.astype(np.int32), values.astype(np.float32), no_backoff))
        model = LanguageModel.from_ngrams(NgramModel(self.vocabulary, tuple(orders)))
        return TargetModel(model)

    def _log10(self, ratios: np.ndarray) -> np.ndarray:
        """log10 of interpolation over static probability, over most_ratio, for d / p (float64[K])."""
        share, most = self.settings.interpolation, self.settings.most_ratio
        return np.log10(np.minimum((1 - share + share * ratios) / most, 1.0))

    def _counted(self, n: int, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The distinct n-grams (int32[K, n]), their counts and static log10 p (float64[K] each)."""
        if not self._segments:
            return np.zeros((0, n), np.int32), np.zeros(0), np.zeros(0)
        rows = np.concatenate([segment.ngrams[n - 1] for segment in self._segments])
        log10_static = np.concatenate([segment.log10_static[n - 1] for segment in self._segments])
        of_row = np.repeat(weights, [len(segment.ngrams[n - 1]) for segment in self._segments])
        words, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return words, np.bincount(inverse.ravel(), of_row, len(words)), log10_static[first]


def _starts(n_words: int, n: int) -> range:
    """Where the n-grams of a text of `n_words` words begin: all whose last word is not the first of the text."""
    return range(1 if n == 1 else 0, n_words - n + 1)


def _as_bytes(rows: np.ndarray) -> list[bytes]:
    """The rows of int32[K, n] as keys of dictionaries."""
    data, width = rows.tobytes(), rows.shape[1] * rows.itemsize
    return [data[i : i + width] for i in range(0, len(data), width)] if width else [b""] * len(rows)


def _witten_bell(words: np.ndarray, counts: np.ndarray, lower: dict[bytes, float]) -> np.ndarray:
    """float64[K] probabilities of the n-grams `words` (int32[K, n]) by their counts and those one word shorter.

    Of unigrams, which `lower` lacks, the mass of unseen words is left to the model that they are interpolated with.
    """
    if not len(words):
        return np.zeros(0)
    contexts, inverse = np.unique(words[:, :-1], axis=0, return_inverse=True)
    inverse = inverse.ravel()
    totals, types = np.bincount(inverse, counts, len(contexts)), np.bincount(inverse, minlength=len(contexts))
    shorter = np.array([lower.get(row, 0.0) for row in _as_bytes(words[:, 1:])])
    return (counts + types[inverse] * shorter) / (totals + types)[inverse]


def compensated(weights: Weights, settings: AdaptationSettings) -> Weights:
    """The weights of a model for searches that have the language model of ratios behind the model's own.

    It has the weight of the first one, so that both together are the interpolation. Each word loses ln most_ratio by
    it, which the word penalty gives back.
    """
    first = weights.language_model[0]
    penalty = weights.word_penalty - first * math.log(settings.most_ratio)
    return weights.model_copy(update={"language_model": [*weights.language_model, first], "word_penalty": penalty})
