"""A log-linear model of the letters written for each letter of a word, which depend on the letters around it.

The cheapest edits determine what is written for a letter: the letter that replaces it, and the letters inserted after
it. Letters inserted before the first letter are written for NO_LETTER. Each output seen in training for a letter is
scored by features of each of the letters around it, and of pairs of the nearest (maximum entropy, as Berger, Della
Pietra & Della Pietra 1996, section 3).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.normalization.letter_edits import Edits
from phrasebeam.decoder.normalization.sparse_choice import around, slot_of
from phrasebeam.decoder.normalization.word_letters import NO_LETTER, LetterTexts
from phrasebeam.kernels.hashing import START, combine, mix
from phrasebeam.kernels.jit import inner_kernel, kernel

WIDTH = 4  # letters before and after a letter that influence its output
FEATURES = 1 + 2 * WIDTH + 4  # the letter alone, with one letter around it, with two of the nearest
UNSEEN = -8.0  # ln probability of outputs that training did not see for a letter; no output has less


class LetterOutputs(NamedTuple):
    """The O outputs that training saw for letters, and the weights that give their probabilities."""

    first: np.ndarray  # int64[A + 1], outputs of letter a: outputs[first[a]:first[a + 1]]; NO_LETTER: before the word
    outputs: np.ndarray  # uint64[O], hashes of letters
    weights: np.ndarray  # float32[S], S a power of two


class WrittenLetters(NamedTuple):
    """Outputs of C pairs of word and form for each letter; the output before the first letter comes first."""

    first: np.ndarray  # int64[C + 1]
    output: np.ndarray  # uint64[P], hashes; those of pair i are output[first[i]:first[i + 1]]


class OutputSpace(NamedTuple):
    """Work space for one word."""

    features: np.ndarray  # uint64[FEATURES], features of a letter
    ln_prob: np.ndarray  # float64[M * O], of M letters, each with room for O outputs


@kernel
def write_letters(forms: LetterTexts, edits: Edits, written: WrittenLetters):
    """Fill written.output with what the edits of each pair write for each letter of its word."""
    for c in range(edits.first.size - 1):
        for place in range(written.first[c], written.first[c + 1]):
            written.output[place] = START
        place = written.first[c]
        for e in range(edits.first[c], edits.first[c + 1]):
            if edits.word_letter[e] >= 0:
                place = written.first[c] + 1 + edits.word_letter[e]
            if edits.form_letter[e] >= 0:
                letter = np.int64(forms.letters[forms.first[c] + edits.form_letter[e]])
                written.output[place] = combine(written.output[place], letter)


@inner_kernel
def letter_of(words: LetterTexts, word: int, place):
    """The letter (int64) at `place` (int64) of a word; place 0, before the first letter, has NO_LETTER."""
    return np.int64(words.letters[words.first[word] + place - 1]) if place > 0 else np.int64(NO_LETTER)


@inner_kernel
def fire_letter(words: LetterTexts, word: int, place, features):
    """Fill `features` (uint64[FEATURES]) from the letter at `place` (int64) and the letters around it."""
    at, own = place - 1, combine(np.uint64(20), letter_of(words, word, place))
    features[0] = own
    for distance in range(1, WIDTH + 1):
        before = combine(own, np.int64(2 * distance))
        behind = combine(own, np.int64(2 * distance + 1))
        features[2 * distance - 1] = combine(before, around(words, word, at - distance))
        features[2 * distance] = combine(behind, around(words, word, at + distance))
    left, left2 = around(words, word, at - 1), around(words, word, at - 2)
    right, right2, right3 = around(words, word, at + 1), around(words, word, at + 2), around(words, word, at + 3)
    count = 2 * WIDTH + 1
    features[count] = combine(combine(combine(own, np.int64(30)), left), right)
    features[count + 1] = combine(combine(combine(own, np.int64(31)), left), left2)
    features[count + 2] = combine(combine(combine(own, np.int64(32)), right), right2)
    features[count + 3] = combine(combine(combine(combine(own, np.int64(33)), right), right2), right3)


@inner_kernel
def weigh_outputs(words: LetterTexts, word: int, place, model: LetterOutputs, features, ln_prob, begin):
    """Write ln probabilities of all outputs of the letter at `place` (int64) to ln_prob (float64) from `begin` (int64).

    Also fills `features` (uint64[FEATURES]). Returns the number of outputs.
    """
    letter = letter_of(words, word, place)
    first, count = model.first[letter], model.first[letter + 1] - model.first[letter]
    fire_letter(words, word, place, features)
    largest, total = -np.inf, 0.0
    for k in range(count):
        output, score = mix(model.outputs[first + k]), 0.0
        for i in range(FEATURES):
            score += np.float64(model.weights[slot_of(features[i] ^ output, np.int64(model.weights.size))])
        ln_prob[begin + k] = score
        largest = max(largest, score)
    for k in range(count):
        total += np.exp(ln_prob[begin + k] - largest)
    for k in range(count):
        ln_prob[begin + k] -= largest + np.log(total)
    return count


@kernel
def score_outputs(
    words: LetterTexts, owner, written: WrittenLetters, model: LetterOutputs, space: OutputSpace, most, scores
):
    """Fill `scores` (float64[C]) with ln probabilities of what each form of word owner[i] (int64[C]) writes.

    Forms of a word must follow each other. `most`: int64, the largest number of outputs of a letter.
    """
    last = np.int64(-1)
    for c in range(owner.size):
        word, n_places = owner[c], written.first[c + 1] - written.first[c]
        for place in range(n_places if word != last else np.int64(0)):
            weigh_outputs(words, word, np.int64(place), model, space.features, space.ln_prob, most * place)
        last, total = word, 0.0
        for place in range(n_places):
            letter = letter_of(words, word, np.int64(place))
            ln_prob = UNSEEN
            for k in range(model.first[letter + 1] - model.first[letter]):
                if model.outputs[model.first[letter] + k] == written.output[written.first[c] + place]:
                    ln_prob = max(UNSEEN, space.ln_prob[most * place + k])
            total += ln_prob
        scores[c] = total


def written_letters(words: LetterTexts, owner: np.ndarray, forms: LetterTexts, edits: Edits) -> WrittenLetters:
    """The outputs that the edits of form i write for each letter of word owner[i]."""
    first = np.append(np.int64(0), np.cumsum(np.diff(words.first)[owner] + 1))
    written = WrittenLetters(first, np.empty(int(first[-1]), np.uint64))
    write_letters(forms, edits, written)
    return written


def output_space(words: LetterTexts, model: LetterOutputs) -> OutputSpace:
    """Work space for the longest of the words."""
    longest, most = int(np.diff(words.first).max(initial=0)) + 1, int(np.diff(model.first).max(initial=0))
    return OutputSpace(np.empty(FEATURES, np.uint64), np.empty(longest * most))


def ln_outputs(texts: Sequence[LetterTexts], owner: np.ndarray, edits: Edits, model: LetterOutputs) -> np.ndarray:
    """float64[C], ln probability of what form i writes for the letters of word owner[i]; `texts`: words, forms."""
    words, forms = texts
    scores, most = np.empty(owner.size), np.int64(np.diff(model.first).max(initial=0))
    written = written_letters(words, owner, forms, edits)
    score_outputs(words, owner, written, model, output_space(words, model), most, scores)
    return scores
