"""The second choice: sparse features of a candidate in its sentence, hashed to weights that are added to its ln p.

Features describe neighbours: the form with the preceding and following words, and with the letters where they meet.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.normalization.word_letters import LetterTexts
from phrasebeam.kernels.hashing import combine, mix
from phrasebeam.kernels.jit import inner_kernel, kernel

FEATURES = 11  # features of a candidate
OUTSIDE = np.int64(-1)  # replaces a letter before and after a word
FIRST_OF_NEIGHBOURS = np.int64(100)  # the first number of templates of neighbours


class Choices(NamedTuple):
    """W words with K candidates, and the data of their features. Word 0 has no letters and no candidates."""

    first: np.ndarray  # int64[W + 1], candidates of word i are first[i]:first[i + 1]
    ln_prob: np.ndarray  # float64[K], by the first choice
    words: LetterTexts  # W
    forms: LetterTexts  # K
    word_keys: np.ndarray  # uint64[W], hashes
    form_keys: np.ndarray  # uint64[K]


class Tokens(NamedTuple):
    """T words of running text as numbers; 0 means the begin or end of a sentence."""

    word: np.ndarray  # int64[T]
    before: np.ndarray  # int64[T]
    after: np.ndarray  # int64[T]


@inner_kernel
def slot_of(key, size):
    """Index (int64) of the weight of a feature with `key` (uint64) among `size` (int64, a power of two) weights."""
    return np.int64(mix(key) & np.uint64(size - 1))


@inner_kernel
def letter_at(texts: LetterTexts, text: int, position):
    """Letter `position` (int64) of a text, counted from its end if negative; OUTSIDE if there is none."""
    begin, end = texts.first[text], texts.first[text + 1]
    place = begin + position if position >= 0 else end + position
    if place < begin or place >= end:
        return OUTSIDE
    return np.int64(texts.letters[place])


@inner_kernel
def around(texts: LetterTexts, text: int, position):
    """Letter `position` (int64) of a text; OUTSIDE also before its begin."""
    return letter_at(texts, text, position) if position >= 0 else OUTSIDE


@inner_kernel
def fire_neighbours(choices: Choices, tokens: Tokens, t, c, size, slots, count):
    """Write the features of candidate `c` as token `t` to slots[count:] (int32); return the new count (int64).

    `size`: int64, the number of weights.
    """
    words, word, before, after = choices.words, tokens.word[t], tokens.before[t], tokens.after[t]
    form, forms = choices.form_keys[c], choices.forms
    key, before_key, after_key = choices.word_keys[word], choices.word_keys[before], choices.word_keys[after]
    last, first = letter_at(words, before, np.int64(-1)), around(words, after, np.int64(0))
    ending = combine(combine(np.uint64(11), last), letter_at(words, before, np.int64(-2)))
    begin = combine(combine(np.uint64(12), first), around(words, after, np.int64(1)))
    after_ending = letter_at(words, after, np.int64(-1))
    after_end = combine(combine(np.uint64(13), after_ending), letter_at(words, after, np.int64(-2)))
    own = combine(combine(np.uint64(14), letter_at(forms, c, np.int64(-1))), letter_at(forms, c, np.int64(-2)))
    template = FIRST_OF_NEIGHBOURS
    slots[count] = slot_of(combine(form ^ mix(before_key), template), size)
    slots[count + 1] = slot_of(combine(form ^ mix(after_key), template + 1), size)
    slots[count + 2] = slot_of(combine(form ^ mix(ending), template + 2), size)
    slots[count + 3] = slot_of(combine(form ^ mix(begin), template + 3), size)
    slots[count + 4] = slot_of(combine(combine(form, last), template + 4), size)
    slots[count + 5] = slot_of(combine(combine(form, first), template + 5), size)
    slots[count + 6] = slot_of(combine(form ^ mix(before_key ^ mix(key)), template + 6), size)
    slots[count + 7] = slot_of(combine(form ^ mix(after_key ^ mix(key)), template + 7), size)
    slots[count + 8] = slot_of(combine(form ^ mix(after_end), template + 8), size)
    slots[count + 9] = slot_of(combine(own ^ mix(ending), template + 9), size)
    slots[count + 10] = slot_of(combine(own ^ mix(after_end), template + 10), size)
    return count + FEATURES


@kernel
def score_tokens(choices: Choices, tokens: Tokens, weights, slots, place, scores):
    """Fill scores[place[t]:place[t + 1]] (float64): ln_prob plus the weights (float32) of each candidate's features.

    `slots`: int32, work space; `place`: int64[T + 1].
    """
    for t in range(tokens.word.size):
        begin = choices.first[tokens.word[t]]
        for k in range(place[t + 1] - place[t]):
            score = choices.ln_prob[begin + k]
            count = fire_neighbours(choices, tokens, t, begin + k, np.int64(weights.size), slots, np.int64(0))
            for i in range(count):
                score += np.float64(weights[slots[i]])
            scores[place[t] + k] = score


def places_of(choices: Choices, tokens: Tokens) -> np.ndarray:
    """int64[T + 1], where the candidates of each token begin in the concatenation of all."""
    return np.append(np.int64(0), np.cumsum(np.diff(choices.first)[tokens.word]))


def token_scores(choices: Choices, tokens: Tokens, weights: np.ndarray) -> np.ndarray:
    """float64[...], scores of the candidates of all tokens, ordered by token; see places_of."""
    place = places_of(choices, tokens)
    scores = np.empty(int(place[-1]))
    slots = np.empty(FEATURES, np.int32)
    score_tokens(choices, tokens, weights, slots, place, scores)
    return scores
