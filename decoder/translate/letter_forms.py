"""The likeliest translations of a word by a model of letters."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np

from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.output.search_result import SearchResult
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.tokenizers.spelling import OF_WORDS

LETTER_SEARCH = SearchSettings(algorithm="cube", pop_limit=100, stack=50, distortion_limit=0)
LISTED = MbrSettings(size=20, scale=1.0)  # forms among which probability is divided
Search = Callable[[Input], AbstractContextManager[SearchResult]]


class LetterForms:
    """Translates single words with a search of letters; threads may share it."""

    def __init__(self, search: Search):
        self._search = search

    def __call__(self, word: str) -> list[tuple[str, float]]:
        """The likeliest forms of `word`, and ln of their probabilities, the likeliest first."""
        with self._search(Input(tuple(OF_WORDS.tokens(word)))) as result:
            _, texts, probability = result.compared(LISTED)
        forms = zip(map(OF_WORDS.word, texts), np.log(probability).tolist())
        return [(form, ln_probability) for form, ln_probability in forms if form]
