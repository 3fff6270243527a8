"""Running text as kernels read it: the words of sentences by number, and their candidates with hashes."""

from collections.abc import Sequence

import numpy as np

from phrasebeam.decoder.normalization.candidates import CandidateLists
from phrasebeam.decoder.normalization.list_choice import KeptCandidates
from phrasebeam.decoder.normalization.sparse_choice import Choices, Tokens
from phrasebeam.decoder.normalization.word_letters import Alphabet
from phrasebeam.decoder.tables.text_hashes import hash_texts


def distinct_words(sentences: Sequence[Sequence[str]]) -> list[str]:
    """The distinct words of sentences, in alphabetical order."""
    return sorted({word for sentence in sentences for word in sentence})


def tokens_of(sentences: Sequence[Sequence[str]], words: Sequence[str], first: int = 1) -> Tokens:
    """The words of sentences as numbers; the number of a word is its place in `words`, counted from `first`."""
    numbers = {word: number for number, word in enumerate(words, first)}
    own, before, after = list[int](), list[int](), list[int]()
    for sentence in sentences:
        found = [0, *(numbers[word] for word in sentence), 0]
        own += found[1:-1]
        before += found[:-2]
        after += found[2:]
    return Tokens(*(np.array(one, np.int64) for one in (own, before, after)))


def choices_of(lists: CandidateLists, kept: KeptCandidates, alphabet: Alphabet) -> Choices:
    """The kept candidates of words, with the data of their features; word 0 is the edge of sentences."""
    words = ["", *lists.words]
    forms = [lists.forms[candidate] for candidate in kept.candidate.tolist()]
    first = np.append(np.int64(0), kept.first)
    texts = alphabet.texts(words), alphabet.form_texts(forms)
    return Choices(first, kept.ln_prob, *texts, hash_texts(words), hash_texts(forms))
