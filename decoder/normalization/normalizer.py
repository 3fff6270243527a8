"""Words in, forms out: a model of letters lists forms, and two log-linear models choose among them."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.checked_arguments import checked
from phrasebeam.decoder.normalization.candidates import CandidateLists, LetterCosts, candidate_lists
from phrasebeam.decoder.normalization.list_choice import KeptCandidates, likeliest, ln_posteriors, normalized
from phrasebeam.decoder.normalization.normalizer_files import (
    LETTER_MODEL,
    NormalizerDescription,
    NormalizerParts,
    open_parts,
)
from phrasebeam.decoder.normalization.running_text import choices_of, distinct_words, tokens_of
from phrasebeam.decoder.normalization.sparse_choice import Choices, Tokens, places_of, token_scores
from phrasebeam.decoder.tokenizers.simple_tokenizers import composed
from phrasebeam.decoder.translate.translator import Decoder


class NormalizedWord(NamedTuple):
    """The chosen form of a word, and its probability by the model."""

    form: str
    confidence: float


class ChosenForms(NamedTuple):
    """The choice for T tokens."""

    candidate: np.ndarray  # int64[T], number in the lists
    confidence: np.ndarray  # float64[T]


def chosen_forms(
    kept: KeptCandidates, choices: Choices, tokens: Tokens, groups: int, sparse: np.ndarray
) -> ChosenForms:
    """The likeliest candidate of each token, the first of several."""
    place = places_of(choices, tokens)
    ln_prob = normalized(token_scores(choices, tokens, groups, sparse), place)
    token = np.repeat(np.arange(tokens.word.size), np.diff(place))
    best = np.lexsort((np.arange(token.size), -ln_prob, token))[place[:-1]]
    within = best - place[:-1]
    return ChosenForms(kept.candidate[choices.first[tokens.word] + within], np.exp(ln_prob[best]))


class Normalizer:
    """A normalizer, which any number of threads may share.

    >>> normalizer = Normalizer.load("normalizer")
    >>> [word.form for word in normalizer.normalize(["vnd", "jn"])]
    ['und', 'in']
    """

    def __init__(self, parts: NormalizerParts, decoder: Decoder):
        self.parts, self.decoder = parts, decoder

    @classmethod
    @checked
    def load(cls, directory: str | Path) -> "Normalizer":
        """The normalizer in `directory`. Raises SmtError, naming the file at fault."""
        return cls(open_parts(Path(directory)), Decoder.load(Path(directory) / LETTER_MODEL))

    @property
    def description(self) -> NormalizerDescription:
        """What its normalizer.yaml says."""
        return self.parts.description

    @checked
    def normalize(self, sentence: Sequence[str]) -> list[NormalizedWord]:
        """The forms of the words of a sentence."""
        return self.normalize_all([sentence])[0]

    @checked
    def normalize_all(self, sentences: Iterable[Sequence[str]], threads: int = 1) -> list[list[NormalizedWord]]:
        """The forms of the words of all sentences; each distinct word is searched once."""
        given = [[composed(word) for word in sentence] for sentence in sentences]
        words = distinct_words(given)
        if not words:
            return [[] for _ in given]
        letters, description = self.parts.letters, self.description
        lists = candidate_lists(words, self.decoder, self.parts.memory, letters, description.candidates, threads)
        forms = self._forms(lists, letters, tokens_of(given, words))
        ends = np.cumsum([len(sentence) for sentence in given]).tolist()
        return [forms[end - len(sentence) : end] for end, sentence in zip(ends, given)]

    def _forms(self, lists: CandidateLists, letters: LetterCosts, tokens: Tokens) -> list[NormalizedWord]:
        kept = likeliest(lists, ln_posteriors(lists, self.description.weights))
        chosen = chosen_forms(
            kept, choices_of(lists, kept, letters), tokens, self.description.groups, self.parts.sparse
        )
        forms = [lists.forms[number] for number in chosen.candidate.tolist()]
        return [NormalizedWord(form, confidence) for form, confidence in zip(forms, chosen.confidence.tolist())]
