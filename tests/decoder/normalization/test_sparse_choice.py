"""Scores by sparse features, and what a pass of learning makes of their weights, against dicts and lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.normalization.running_text import tokens_of
from phrasebeam.decoder.normalization.sparse_choice import places_of, token_scores
from phrasebeam.training.normalization.normalizer_settings import SparseSettings
from phrasebeam.training.normalization.sparse_learning import FIRST_SQUARE, learn_sparse
from tests.decoder.normalization.words import LISTS, choices, letters
from tests.naive.normalization import adagrad_step, neighbour_features, slots

pytestmark = pytest.mark.kernels
SIZE = 64


def fired(lists, sentence):
    """For each word of a sentence, the slots of the features of each candidate."""
    found = []
    around = ["", *sentence, ""]
    for place, word in enumerate(sentence):
        before, after, rows = around[place], around[place + 2], []
        for form in lists[word]:
            texts = word, form, before, after
            rows.append(slots(neighbour_features(texts, [letters(text) if text else [] for text in texts]), SIZE))
        found.append(rows)
    return found


@given(LISTS, st.data())
def test_scores(lists, data):
    sentence = data.draw(st.lists(st.sampled_from(sorted(lists)), min_size=1, max_size=6))
    made = choices(lists, len(lists))
    weights = np.random.default_rng(1).normal(size=SIZE).astype(np.float32)
    tokens = tokens_of([sentence], list(lists))
    scores, place = token_scores(made, tokens, weights), places_of(made, tokens)
    for t, rows in enumerate(fired(lists, sentence)):
        begin = made.first[tokens.word[t]]
        expected = [made.ln_prob[begin + k] + sum(float(weights[slot]) for slot in row) for k, row in enumerate(rows)]
        assert scores[place[t] : place[t + 1]] == pytest.approx(expected)


@given(LISTS, st.data())
def test_learning(lists, data):
    sentence = data.draw(st.lists(st.sampled_from(sorted(lists)), min_size=1, max_size=5))
    right = np.array([data.draw(st.integers(-1, len(lists[word]) - 1)) for word in sentence])
    made = choices(lists, len(lists))
    given_settings = SparseSettings(passes=1, bits=6, rate=0.5, penalty=0.1)
    tokens = tokens_of([sentence], list(lists))
    found = learn_sparse(made, tokens, right, given_settings)
    weights, squares, rows = [0.0] * SIZE, [FIRST_SQUARE] * SIZE, fired(lists, sentence)
    learned = [t for t, word in enumerate(sentence) if right[t] >= 0 and len(lists[word]) > 1]
    for t in np.random.default_rng(1).permutation(np.array(learned, np.int64)).tolist():
        begin = made.first[tokens.word[t]]
        base = made.ln_prob[begin : begin + len(rows[t])].tolist()
        adagrad_step(base, rows[t], right[t], weights, squares, 0.5, 0.1)
    assert found.tolist() == pytest.approx(weights, abs=2e-3)
