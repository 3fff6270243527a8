"""Translations of unknown words letter by letter: names in another spelling, loans, words that two languages share."""

from collections.abc import Callable
from functools import lru_cache
from unicodedata import category

from phrasebeam.decoder.features.dense import UNKNOWN_WORD
from phrasebeam.decoder.input.synthetic_pairs import SyntheticPair
from phrasebeam.decoder.tables.phrase_table import LEAST_LN
from phrasebeam.decoder.unknown_words.related_pairs import WORDS_KEPT

LEAST_LETTERS, MOST_LETTERS = 4, 60  # of a word whose letters are translated
WITHIN_WORDS = "-'\u2019\u02bc"  # besides letters and their marks: hyphen, apostrophes
MOST_FORMS = 5  # translations of a word
# The likeliest forms of a word by a model of letters, and ln of their probabilities
TranslateLetters = Callable[[str], list[tuple[str, float]]]


class SpelledPairs:
    """Finds pairs for the unknown words of a model by their letters; threads may share it."""

    def __init__(self, translate_letters: TranslateLetters):
        self._forms = lru_cache(WORDS_KEPT)(translate_letters)

    def of(self, word: str, begin: int, end: int) -> list[SyntheticPair]:
        """Pairs of the span begin:end for `word`, other than copies; none for numbers, addresses and short words."""
        found = [one for one in self._forms(word) if one[0] != word][:MOST_FORMS] if has_letters(word) else []
        return [
            SyntheticPair(
                begin,
                end,
                (form,),
                unknown=UNKNOWN_WORD,
                alignment=((0, 0),),
                n_spelled=1,
                ln_spelling=max(ln_probability, LEAST_LN),
            )
            for form, ln_probability in found
        ]

    def ln_copy(self, word: str) -> float:
        """ln of the probability of a copy of `word`; if the list lacks it, that of the least likely form.

        0 for those that have no other translations.
        """
        if not has_letters(word):
            return 0.0
        forms = self._forms(word)
        return max(dict(forms).get(word, forms[-1][1] if forms else 0.0), LEAST_LN)


def has_letters(word: str) -> bool:
    """Whether a word consists of letters, and of so many that a model of letters translates it.

    >>> has_letters("Demokratie"), has_letters("लोकतंत्र"), has_letters("und"), has_letters("covid-19")
    (True, True, False, False)
    """
    if not LEAST_LETTERS <= len(word) <= MOST_LETTERS:
        return False
    return all(letter in WITHIN_WORDS or category(letter)[0] in "LM" for letter in word)
