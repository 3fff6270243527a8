"""Normalizes words: a model of letters lists forms, and two log-linear models choose among them."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.checked_arguments import checked
from phrasebeam.decoder.normalization.candidates import candidate_lists
from phrasebeam.decoder.normalization.list_choice import KeptCandidates, likeliest, ln_posteriors, normalized
from phrasebeam.decoder.normalization.near_words import Lexicon, lexicon_of
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
    """The chosen form of a word, and its probability."""

    form: str
    confidence: float


class WeighedForms(NamedTuple):
    """The forms of T tokens, N in all; the forms of token t are first[t]:first[t + 1], the likeliest first."""

    first: np.ndarray  # int64[T + 1]
    candidate: np.ndarray  # int64[N], number in the lists
    confidence: np.ndarray  # float64[N]; the confidences of a token add up to 1


def weighed_forms(kept: KeptCandidates, choices: Choices, tokens: Tokens, sparse: np.ndarray) -> WeighedForms:
    """The kept candidates of each token, the likeliest in the sentence first; equally likely ones keep their order."""
    first = places_of(choices, tokens)
    ln_prob = normalized(token_scores(choices, tokens, sparse), first)
    token = np.repeat(np.arange(tokens.word.size), np.diff(first))
    order = np.lexsort((-ln_prob, token))
    within = order - first[token]  # token[order] is token
    return WeighedForms(first, kept.candidate[choices.first[tokens.word[token]] + within], np.exp(ln_prob[order]))


class Normalizer:
    """Writes words in another spelling, with a model trained by the recipe normalize; threads may share one.

    >>> normalizer = Normalizer.load("normalizer")
    >>> [word.form for word in normalizer.normalize(["vns", "vnd"])]
    ['uns', 'und']
    """

    def __init__(self, parts: NormalizerParts, decoder: Decoder):
        self.parts, self.decoder = parts, decoder

    @classmethod
    @checked
    def load(cls, directory: str | Path) -> "Normalizer":
        """Load the normalizer in `directory`. Raises SmtError, naming the file at fault."""
        return cls(open_parts(Path(directory)), Decoder.load(Path(directory) / LETTER_MODEL))

    @property
    def description(self) -> NormalizerDescription:
        """The contents of normalizer.yaml."""
        return self.parts.description

    @cached_property
    def lexicon(self) -> Lexicon:
        """The known forms, in the data structure for searching them."""
        return lexicon_of(self.parts.memory.forms, self.parts.letters.alphabet)

    @checked
    def normalize(self, sentence: Sequence[str]) -> list[NormalizedWord]:
        """The forms of the words of a sentence.

        >>> (word,) = Normalizer.load("normalizer").normalize(["vns"])
        >>> word.form, 0.5 < word.confidence <= 1
        ('uns', True)
        """
        return self.normalize_all([sentence])[0]

    @checked
    def normalize_all(self, sentences: Iterable[Sequence[str]], threads: int = 1) -> list[list[NormalizedWord]]:
        """The forms of the words of all sentences; each distinct word is searched once.

        >>> normalizer = Normalizer.load("normalizer")
        >>> [[word.form for word in one] for one in normalizer.normalize_all([["vns"], [], ["vnd", "vns"]])]
        [['uns'], [], ['und', 'uns']]
        """
        return [[forms[0] for forms in sentence] for sentence in self._weighed(sentences, threads, 1)]

    @checked
    def alternatives(self, sentence: Sequence[str], most: int = 8) -> list[list[NormalizedWord]]:
        """The likeliest forms of each word of a sentence, at most `most`, the likeliest first.

        >>> (forms,) = Normalizer.load("normalizer").alternatives(["vns"], most=2)
        >>> forms[0].form, forms[0].confidence >= forms[-1].confidence
        ('uns', True)
        """
        return self._weighed([sentence], 1, most)[0]

    def _weighed(self, sentences: Iterable[Sequence[str]], threads: int, most: int) -> list[list[list[NormalizedWord]]]:
        given = [[composed(word) for word in sentence] for sentence in sentences]
        words = distinct_words(given)
        if not words:
            return [[] for _ in given]
        letters, memory, description = self.parts.letters, self.parts.memory, self.description
        lists = candidate_lists(words, self.decoder, memory, self.lexicon, letters, description.candidates, threads)
        kept, tokens = likeliest(lists, ln_posteriors(lists, description.weights)), tokens_of(given, words)
        found = weighed_forms(kept, choices_of(lists, kept, letters.alphabet), tokens, self.parts.sparse)
        chosen, confidences = found.candidate.tolist(), found.confidence.tolist()
        begins, ends = found.first[:-1].tolist(), np.minimum(found.first[1:], found.first[:-1] + most).tolist()
        forms = iter(
            [NormalizedWord(lists.forms[chosen[i]], confidences[i]) for i in range(begin, end)]
            for begin, end in zip(begins, ends)
        )
        return [list(islice(forms, len(sentence))) for sentence in given]
