"""Words of few letters with candidates, as hypothesis draws them."""

import numpy as np
from hypothesis import strategies as st

from phrasebeam.decoder.normalization.candidates import CandidateLists
from phrasebeam.decoder.normalization.list_choice import KeptCandidates
from phrasebeam.decoder.normalization.running_text import choices_of
from phrasebeam.decoder.normalization.word_letters import Alphabet

ALPHABET = Alphabet("abc")
WORDS = st.text("abcx", min_size=1, max_size=5)  # x is no letter of the alphabet
LISTS = st.dictionaries(WORDS, st.lists(WORDS, min_size=1, max_size=4, unique=True), min_size=1, max_size=4)


def random_costs(seed):
    return np.random.default_rng(seed).integers(1, 6, (ALPHABET.size, ALPHABET.size)).astype(float)


def choices(lists, seed):
    """Choices of the candidates in a dict of lists, all of which are kept."""
    words, forms = list(lists), [form for found in lists.values() for form in found]
    first = np.cumsum([0, *map(len, lists.values())])
    ln_prob = np.random.default_rng(seed).normal(size=len(forms))
    candidates = CandidateLists(words, forms, first, np.zeros((len(forms), 0)), [])
    kept = KeptCandidates(first, np.arange(len(forms)), ln_prob)
    return choices_of(candidates, kept, ALPHABET)


def letters(word):
    return ALPHABET.texts([word]).letters.tolist()
