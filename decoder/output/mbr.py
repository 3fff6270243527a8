"""Minimum Bayes risk decisions over n-best lists (Kumar & Byrne 2004), with sentence BLEU or chrF++ as the gain.

The translation e is chosen that has the largest sum over all e' of the list of p(e') gain(e, reference e'), where p(e')
is proportional to exp(scale times model score). Sentence BLEU is that of Moses (mbr.cpp): for n > 1, one is added to
matches and counts of n-grams (Lin & Och 2004), without a common word BLEU is zero, and the brevity penalty is that of
BLEU. With chrF++, only the best texts by a rough estimate are compared with all, see fill_rough_gains.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from phrasebeam.base.config import Factor, Section
from phrasebeam.decoder.ngrams.chrf import ORDERS, TextGrams, fill_chrf_gains, fill_rough_gains, grams_of
from phrasebeam.decoder.options.option_arrays import Options
from phrasebeam.decoder.output.nbest import Derivations
from phrasebeam.decoder.tables.ragged import taken
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.kernels.trie import ROOT, Trie, child, new_trie

Gain = Literal["bleu", "chrf++"]
MOST_COMPARED = 10_000  # with BLEU, all are compared with all, which takes a minute a sentence
COMPARED = 20  # number of texts whose expected chrF++ is computed exactly


class MbrSettings(Section):
    """Minimum Bayes risk decoding: choose the translation of a distinct n-best list with the largest expected gain."""

    size: int = Field(default=200, ge=1, le=MOST_COMPARED, description="number of distinct translations to compare")
    scale: Factor = Field(
        default=1.0, description="factor by which model scores are multiplied before they become probabilities"
    )
    gain: Gain = Field(default="bleu", description="metric that compares a translation with the others of the list")
    evidence: float = Field(
        default=0.0,
        ge=0.0,
        lt=1.0,
        description="share of the probability that belongs to the list of the second model, in the folder `evidence` "
        "of the model; only with the gain chrf++",
    )

    @model_validator(mode="after")
    def _evidence_fits(self) -> "MbrSettings":
        if self.evidence and self.gain != "chrf++":
            raise ValueError(
                f"evidence is {self.evidence:g}, but gain is {self.gain}; set gain to chrf++, or leave it out"
            )
        return self


class Evidence(NamedTuple):
    """The list of another model for the same sentence, with which translations are compared but not chosen."""

    texts: Sequence[str]
    probability: np.ndarray  # float64[K]; its sum is 1
    joined: Callable[[str], str]  # converts tokens of the compared translations to text like `texts`


ORDER = 4
NONE = -1


class TargetTexts(NamedTuple):
    """K translations as word ids; translation i is words[offsets[i]:offsets[i + 1]]."""

    words: np.ndarray  # int32[W]
    offsets: np.ndarray  # int64[K + 1]


class Grams(NamedTuple):
    """Distinct n-grams of K texts; the n-grams of n + 1 words of text i are first[i, n]:first[i, n + 1]."""

    first: np.ndarray  # int64[K, ORDER + 1]
    gram: np.ndarray  # int32[G], node of a trie
    times: np.ndarray  # int32[G], count of the n-gram in the text


def texts_of(derivations: Derivations, options: Options) -> TargetTexts:
    ends, columns = taken(options.target_first, options.target[derivations.option])
    return TargetTexts(options.words[columns], ends[derivations.offsets])


def choose(texts: TargetTexts, scores: np.ndarray, settings: MbrSettings) -> int:
    """Number of the text with the largest expected BLEU, the first one in case of ties.

    `scores`, float64[K], are model scores; the texts should be distinct.
    """
    return int(np.argmax(expected_bleu(texts, scores, settings.scale)))


def expected_bleu(texts: TargetTexts, scores: np.ndarray, scale: float) -> np.ndarray:
    """float64[K], the expected BLEU of each text, in [0, 1]."""
    probability = probabilities(scores, scale)
    grams, trie = _extract(texts)
    gains = np.zeros(scores.size)
    fill_gains(grams, np.diff(texts.offsets), probability, np.zeros(trie.parent.size, np.int32), gains)
    return gains


def probabilities(scores: np.ndarray, scale: float) -> np.ndarray:
    """float64[K] probabilities of a list with these model scores (float64[K])."""
    probability = np.exp(scale * (scores - scores.max()))
    return np.asarray(probability / probability.sum())


def with_evidence(
    texts: Sequence[str], probability: np.ndarray, evidence: Evidence, share: float
) -> tuple[list[str], np.ndarray]:
    """The texts and those of `evidence`, with their probabilities, of which `share` belongs to the evidence."""
    joined = [*map(evidence.joined, texts), *evidence.texts]
    return joined, np.concatenate([(1 - share) * probability, share * evidence.probability])


def choose_by_chrf(texts: Sequence[str], probability: np.ndarray, n_candidates: int) -> int:
    """Number of the text with the largest expected chrF++ among the COMPARED best candidates by a rough estimate.

    The candidates are the first `n_candidates` of the K texts, which are right with `probability` (float64[K]).
    """
    grams = grams_of(texts)
    rough = rough_chrf(grams, probability)[:n_candidates]
    chosen = np.sort(np.argsort(-rough, kind="stable")[:COMPARED])
    return int(chosen[np.argmax(expected_chrf(grams, probability, chosen))])


def rough_chrf(grams: TextGrams, probability: np.ndarray) -> np.ndarray:
    """float64[K], chrF++ of each of K texts for the expected counts of n-grams, in [0, 1]; see fill_rough_gains."""
    gains, sums, sizes = np.empty(probability.size), np.empty(3 * ORDERS), np.zeros(ORDERS)
    fill_rough_gains(grams, probability, np.zeros(int(grams.n_nodes[0])), sizes, sums, gains)
    return gains


def expected_chrf(grams: TextGrams, probability: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """float64[H], expected chrF++ of the texts `chosen` (int64[H]) in [0, 1]; each of K is right with `probability`."""
    gains, counts = np.zeros(chosen.size), np.zeros(int(grams.n_nodes[0]), np.int32)
    fill_chrf_gains(grams, probability, chosen, counts, np.empty(3 * ORDERS), gains)
    return gains


def _extract(texts: TargetTexts) -> tuple[Grams, Trie]:
    n_texts, n_grams = texts.offsets.size - 1, ORDER * texts.words.size
    grams = Grams(np.empty((n_texts, ORDER + 1), np.int64), np.empty(n_grams, np.int32), np.empty(n_grams, np.int32))
    trie = new_trie(n_grams + 1)
    fill_grams(texts, trie, np.full(n_grams + 1, NONE, np.int32), np.empty(texts.words.size, np.int64), grams)
    return grams, trie


@kernel
def fill_grams(texts: TargetTexts, trie: Trie, latest, nodes, grams: Grams):
    """Fill `grams` with the n-grams of the texts, counted per text.

    Work space: `latest` (int32[trie], NONE at first), the last entry of each n-gram; `nodes` (int64[W]).
    """
    size = np.int64(0)
    for i in range(grams.first.shape[0]):
        start, begin, end = size, texts.offsets[i], texts.offsets[i + 1]
        for k in range(begin, end):
            nodes[k] = ROOT
        for n in range(ORDER):
            grams.first[i, n] = size
            for k in range(begin, end - n):
                nodes[k] = child(trie, nodes[k], np.int64(texts.words[k + n]))
                index = np.int64(latest[nodes[k]])
                if index >= start:
                    grams.times[index] += 1
                else:
                    latest[nodes[k]] = size
                    grams.gram[size], grams.times[size] = nodes[k], 1
                    size += 1
        grams.first[i, ORDER] = size


@kernel
def fill_gains(grams: Grams, lengths: np.ndarray, probability: np.ndarray, counts, gains):
    """Add the expected BLEU of each text to `gains` (float64[K]); `counts` (int32[trie], all 0) is work space.

    Matches of two texts are the same whichever of them is the reference.
    """
    for i in range(gains.size):
        for index in range(grams.first[i, 0], grams.first[i, ORDER]):
            counts[grams.gram[index]] = grams.times[index]
        for j in range(i):
            matched = _matched(grams, j, counts)
            gains[i] += probability[j] * _bleu(matched, lengths[i], lengths[j])
            gains[j] += probability[i] * _bleu(matched, lengths[j], lengths[i])
        gains[i] += probability[i]
        for index in range(grams.first[i, 0], grams.first[i, ORDER]):
            counts[grams.gram[index]] = 0


@inner_kernel
def _matched(grams, j, counts):
    """Product over n of the number of n-grams of text `j` that match `counts`, plus one for n > 1."""
    product = 1.0
    for n in range(ORDER):
        matches = np.int64(n > 0)
        begin, end = grams.first[j, n], grams.first[j, n + 1]
        gram, times = grams.gram[begin:end], grams.times[begin:end]  # views are three times as fast as offsets
        for k in range(gram.size):
            matches += min(np.int64(times[k]), np.int64(counts[gram[k]]))
        if matches == 0:
            return 0.0
        product *= matches
    return product


@inner_kernel
def _bleu(matched, length, reference_length):
    """BLEU of a text of `length` words, from the product of its matches with a reference."""
    if matched == 0.0:
        return 0.0
    total = float(length)
    for n in range(1, ORDER):
        total *= max(length - n, 0) + 1
    bleu = np.sqrt(np.sqrt(matched / total))  # ORDER is 4
    if length < reference_length:
        bleu *= np.exp(1.0 - reference_length / length)
    return bleu
