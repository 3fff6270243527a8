"""Learns what is written in place of each letter, by AdaGrad (Duchi et al. 2011) on the training pairs."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.normalization.letter_edits import edits_of
from phrasebeam.decoder.normalization.letter_outputs import (
    FEATURES,
    LetterOutputs,
    OutputSpace,
    WrittenLetters,
    output_space,
    weigh_outputs,
    written_letters,
)
from phrasebeam.decoder.normalization.sparse_choice import slot_of
from phrasebeam.decoder.normalization.word_letters import NO_LETTER, Alphabet, LetterTexts
from phrasebeam.kernels.hashing import mix
from phrasebeam.kernels.jit import kernel
from phrasebeam.training.normalization.normalizer_settings import OutputSettings
from phrasebeam.training.normalization.sparse_learning import FIRST_SQUARE, LEAST_GRADIENT, LearningState


class Places(NamedTuple):
    """P places of words: each word has one before its first letter, and one for each letter."""

    word: np.ndarray  # int64[P]
    place: np.ndarray  # int64[P], 0: before the first letter


@kernel
def learn_outputs_pass(
    words: LetterTexts, places: Places, order, written, steps, model: LetterOutputs, squares, space: OutputSpace
):
    """Make a step for each place in `order` (int64); changes model.weights.

    `written` (uint64[P]): the right output at each place; `steps`: float64[2], rate and penalty; `squares`: float32[S],
    sums of squared gradients.
    """
    rate, penalty, size = steps[0], steps[1], np.int64(model.weights.size)
    for number in range(order.size):
        p = order[number]
        word, place = places.word[p], places.place[p]
        letter = np.int64(words.letters[words.first[word] + place - 1]) if place > 0 else np.int64(NO_LETTER)
        count = weigh_outputs(words, word, place, model, space.features, space.ln_prob, np.int64(0))
        for k in range(count):
            output = model.outputs[model.first[letter] + k]
            gradient = np.exp(space.ln_prob[k]) - np.float64(output == written[p])
            if count < 2 or abs(gradient) < LEAST_GRADIENT:
                continue
            for i in range(FEATURES):
                slot = slot_of(space.features[i] ^ mix(output), size)
                slope = gradient + penalty * np.float64(model.weights[slot])
                square = np.float64(squares[slot]) + slope * slope
                squares[slot] = square
                model.weights[slot] -= rate * slope / np.sqrt(square)


def learn_outputs(
    words: list[str], forms: list[str], alphabet: Alphabet, costs: np.ndarray, settings: OutputSettings
) -> LetterOutputs:
    """Find what is written in place of letters if edits of `costs` align words and forms, and learn its weights."""
    texts, owner = (alphabet.texts(words), alphabet.form_texts(forms)), np.arange(len(words))
    written = written_letters(texts[0], owner, texts[1], edits_of(texts[0], owner, texts[1], costs))
    places, size = _places(texts[0], written), 1 << settings.bits
    state = LearningState(np.zeros(size, np.float32), np.full(size, FIRST_SQUARE, np.float32))
    before = places.place == 0
    letters = np.full(places.word.size, NO_LETTER)
    letters[~before] = texts[0].letters
    pairs = np.unique(np.stack([letters.astype(np.uint64), written.output]), axis=1)
    first = np.searchsorted(pairs[0], np.arange(alphabet.size + 1, dtype=np.uint64)).astype(np.int64)
    model = LetterOutputs(first, np.ascontiguousarray(pairs[1]), state.weights)
    steps, rng = np.array([settings.rate, settings.penalty]), np.random.default_rng(settings.seed)
    space = output_space(texts[0], model)
    for _ in range(settings.passes):
        order = rng.permutation(places.word.size)
        learn_outputs_pass(texts[0], places, order, written.output, steps, model, state.squares, space)
    return model


def _places(words: LetterTexts, written: WrittenLetters) -> Places:
    sizes = np.diff(words.first) + 1
    word = np.repeat(np.arange(sizes.size), sizes)
    return Places(word, np.arange(word.size) - written.first[word])
