"""Held-out words: their candidates are from models that did not see them. Weights of both choices are learned here."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.normalization.candidates import CandidateLists
from phrasebeam.decoder.normalization.list_choice import likeliest, ln_posteriors
from phrasebeam.decoder.normalization.normalizer import weighed_forms
from phrasebeam.decoder.normalization.normalizer_files import CalibrationBin, HeldOutResult
from phrasebeam.decoder.normalization.running_text import choices_of, tokens_of
from phrasebeam.decoder.normalization.sparse_choice import Tokens
from phrasebeam.decoder.normalization.word_letters import Alphabet
from phrasebeam.training.normalization.list_learning import GoldPairs, learn_weights
from phrasebeam.training.normalization.normalizer_settings import NormalizerSettings
from phrasebeam.training.normalization.sparse_learning import learn_sparse
from phrasebeam.training.normalization.word_pairs import Sentences

BINS = (0.0, 0.5, 0.7, 0.9, 0.97, 0.99)  # lower ends of bins of confidence


class HeldOutPart(NamedTuple):
    """Sentences, and the candidate lists of their words by a model that did not learn from them."""

    sentences: Sentences
    lists: CandidateLists


class ChoiceWeights(NamedTuple):
    """The weights of the first (dense) and of the second (sparse) choice."""

    dense: dict[str, float]
    sparse: np.ndarray  # float32[S]


def learn_choice(parts: Sequence[HeldOutPart], alphabet: Alphabet, settings: NormalizerSettings) -> ChoiceWeights:
    """Learn the weights by which the right forms of all parts are likeliest."""
    lists = _joined([part.lists for part in parts])
    dense = learn_weights(lists, _gold_pairs(parts), settings.penalty)
    kept = likeliest(lists, ln_posteriors(lists, dense))
    choices, tokens = choices_of(lists, kept, alphabet), _tokens(parts)
    forms = [form for part in parts for sentence in part.sentences for _, form in sentence]
    right = np.full(len(forms), -1)
    for t, (word, form) in enumerate(zip(tokens.word.tolist(), forms)):
        candidates = kept.candidate[kept.first[word - 1] : kept.first[word]].tolist()
        right[t] = next((k for k, candidate in enumerate(candidates) if lists.forms[candidate] == form), -1)
    return ChoiceWeights(dense, learn_sparse(choices, tokens, right, settings.sparse))


def held_out_result(part: HeldOutPart, weights: ChoiceWeights, alphabet: Alphabet) -> HeldOutResult:
    """The accuracy of the chosen forms in a part from which the weights were not learned."""
    lists, tokens = part.lists, _tokens([part])
    kept = likeliest(lists, ln_posteriors(lists, weights.dense))
    choices = choices_of(lists, kept, alphabet)
    weighed = weighed_forms(kept, choices, tokens, weights.sparse)
    chosen, confidence = (one[weighed.first[:-1]] for one in (weighed.candidate, weighed.confidence))
    gold = [form for sentence in part.sentences for _, form in sentence]
    right = np.array([lists.forms[one] == form for one, form in zip(chosen.tolist(), gold)])
    words = (tokens.word - 1).tolist()
    first_forms = [lists.forms[number] for number in lists.first[:-1].tolist()]
    letters_right = sum(first_forms[word] == form for word, form in zip(words, gold))
    reachable = sum(form in lists.forms_of(word) for word, form in zip(words, gold))
    bins = calibration(confidence, right)
    return HeldOutResult(
        words=len(gold), right=int(right.sum()), letters_right=letters_right, reachable=reachable, calibration=bins
    )


def calibration(confidence: np.ndarray, right: np.ndarray) -> list[CalibrationBin]:
    """For each bin of confidence: the number of words, how many of them are right, and the mean confidence."""
    places, found = np.digitize(confidence, BINS) - 1, []
    for number, least in enumerate(BINS):
        here = places == number
        mean = float(confidence[here].mean()) if here.any() else 0.0
        found.append(CalibrationBin(least=least, words=int(here.sum()), right=int(right[here].sum()), confidence=mean))
    return found


def _joined(lists: Sequence[CandidateLists]) -> CandidateLists:
    """Concatenate lists with the same features; a word may be in several of them."""
    words = [word for one in lists for word in one.words]
    forms = [form for one in lists for form in one.forms]
    sizes = np.concatenate([np.diff(one.first) for one in lists])
    first = np.append(np.int64(0), np.cumsum(sizes))
    return CandidateLists(words, forms, first, np.concatenate([one.features for one in lists]), lists[0].names)


def _gold_pairs(parts: Sequence[HeldOutPart]) -> GoldPairs:
    words, candidates, counts, n_words, n_forms = list[int](), list[int](), list[int](), 0, 0
    for part in parts:
        lists = part.lists
        numbers = {word: number for number, word in enumerate(lists.words)}
        pairs = Counter(pair for sentence in part.sentences for pair in sentence)
        for (word, form), count in sorted(pairs.items()):
            number = numbers[word]
            forms = lists.forms_of(number)
            if form in forms:
                words.append(n_words + number)
                candidates.append(n_forms + int(lists.first[number]) + forms.index(form))
                counts.append(count)
        n_words, n_forms = n_words + len(lists.words), n_forms + len(lists.forms)
    return GoldPairs(np.array(words, np.int64), np.array(candidates, np.int64), np.array(counts, np.float64))


def _tokens(parts: Sequence[HeldOutPart]) -> Tokens:
    """The words of all parts as running text; a word is its number in the joined lists, from 1."""
    found, n_words = list[Tokens](), 1
    for part in parts:
        sentences = [[word for word, _ in sentence] for sentence in part.sentences]
        found.append(tokens_of(sentences, part.lists.words, n_words))
        n_words += len(part.lists.words)
    return Tokens(*(np.concatenate(one) for one in zip(*found)))
