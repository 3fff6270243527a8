"""What is written in place of letters, how likely it is, and a pass of learning, against dicts and lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.normalization.letter_edits import edits_of, learn_costs
from phrasebeam.decoder.normalization.letter_outputs import UNSEEN, ln_outputs, written_letters
from phrasebeam.training.normalization.normalizer_settings import OutputSettings
from phrasebeam.training.normalization.output_learning import learn_outputs
from tests.decoder.normalization.words import ALPHABET, WORDS, letters, random_costs
from tests.naive.normalization import FIRST_SQUARE, adagrad_step, output_probabilities, written

pytestmark = pytest.mark.kernels
PAIRS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4)
SETTINGS = OutputSettings(passes=1, bits=8, rate=0.5, penalty=0.1)


def outputs_of_pairs(pairs, costs):
    """The outputs of each pair by its cheapest edits, by the naive way."""
    texts = [ALPHABET.texts([pair[side] for pair in pairs]) for side in (0, 1)]
    edits, found = edits_of(texts[0], np.arange(len(pairs)), texts[1], costs), []
    for i, (word, form) in enumerate(pairs):
        here = slice(edits.first[i], edits.first[i + 1])
        both = zip(edits.word_letter[here].tolist(), edits.form_letter[here].tolist())
        steps = [(a if a >= 0 else None, b if b >= 0 else None) for a, b in both]
        found.append(written(letters(word), letters(form), steps))
    return texts, edits, found


def seen_outputs(pairs, found):
    """The outputs that were seen in place of each letter, 0 before the first one, in their order."""
    seen = {}
    for (word, _), outputs in zip(pairs, found):
        for letter, output in zip([0, *letters(word)], outputs):
            seen.setdefault(letter, set()).add(output)
    return {letter: sorted(outputs) for letter, outputs in seen.items()}


@given(PAIRS, PAIRS, st.integers(0, 100))
def test_what_is_written_and_how_likely_it_is(pairs, others, seed):
    costs = random_costs(seed)
    words, forms = map(list, zip(*pairs))
    model = learn_outputs(words, forms, ALPHABET, costs, SETTINGS)
    seen = seen_outputs(pairs, outputs_of_pairs(pairs, costs)[2])
    texts, edits, found = outputs_of_pairs(others, costs)
    owner = np.arange(len(others))
    assert written_letters(texts[0], owner, texts[1], edits).output.tolist() == [one for row in found for one in row]
    weights = model.weights.tolist()
    for score, (word, _), outputs in zip(ln_outputs(texts, owner, edits, model), others, found):
        expected = 0.0
        for place, (letter, output) in enumerate(zip([0, *letters(word)], outputs)):
            known = seen.get(letter, [])
            ln_prob, _ = output_probabilities(letters(word), place, known, weights) if known else ([], [])
            expected += max(UNSEEN, ln_prob[known.index(output)]) if output in known else UNSEEN
        assert score == pytest.approx(expected)


@given(PAIRS, st.integers(0, 100))
def test_learning(pairs, seed):
    costs = random_costs(seed)
    words, forms = map(list, zip(*pairs))
    _, _, found = outputs_of_pairs(pairs, costs)
    seen, size = seen_outputs(pairs, found), 1 << SETTINGS.bits
    weights, squares = [0.0] * size, [FIRST_SQUARE] * size
    places = [(i, place) for i, row in enumerate(found) for place in range(len(row))]
    for number in np.random.default_rng(1).permutation(len(places)).tolist():
        i, place = places[number]
        word = letters(words[i])
        known = seen[[0, *word][place]]
        if len(known) > 1:
            _, fired = output_probabilities(word, place, known, weights)
            right = known.index(found[i][place])
            adagrad_step([0.0] * len(known), fired, right, weights, squares, 0.5, 0.1)
    model = learn_outputs(words, forms, ALPHABET, costs, SETTINGS)
    assert model.weights.tolist() == pytest.approx(weights, abs=2e-3)


def test_letters_behind_count_whatever_stands_before():
    words = [first + second for first in "ab" for second in "abc"] * 3
    forms = [word.replace("a", "b") if word.endswith("c") else word for word in words]
    costs = learn_costs(words, forms, np.ones(len(words)), ALPHABET)
    model = learn_outputs(words, forms, ALPHABET, costs, OutputSettings(bits=10))
    texts = ALPHABET.texts(["cac", "cac"]), ALPHABET.texts(["cbc", "cac"])
    edits = edits_of(texts[0], np.arange(2), texts[1], costs)
    changed, kept = ln_outputs(texts, np.arange(2), edits, model)
    assert changed > kept
