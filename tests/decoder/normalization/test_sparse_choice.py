"""Scores by sparse features, and what a pass of learning makes of their weights, against dicts and lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.normalization.running_text import tokens_of
from phrasebeam.decoder.normalization.sparse_choice import LETTERS, NEIGHBOURS, places_of, token_scores
from phrasebeam.training.normalization.normalizer_settings import SparseSettings
from phrasebeam.training.normalization.sparse_learning import FIRST_SQUARE, learn_sparse
from tests.decoder.normalization.words import LISTS, choices, letters
from tests.naive.normalization import adagrad_step, letter_features, neighbour_features, slots

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]
SIZE = 64
GROUPS = st.sampled_from([LETTERS, NEIGHBOURS, LETTERS | NEIGHBOURS])


def fired(lists, sentence, groups, made):
    """For each word of a sentence, the slots of the features of each candidate."""
    found, numbers = [], {word: number for number, word in enumerate(lists, 1)}
    around = ["", *sentence, ""]
    for place, word in enumerate(sentence):
        before, after, rows = around[place], around[place + 2], []
        for k, form in enumerate(lists[word]):
            c, keys = made.first[numbers[word]] + k, []
            if groups & LETTERS:
                here = slice(made.edits.first[c], made.edits.first[c + 1])
                both = zip(made.edits.word_letter[here].tolist(), made.edits.form_letter[here].tolist())
                edits = [(a if a >= 0 else None, b if b >= 0 else None) for a, b in both]
                keys += letter_features(letters(word), letters(form), edits)
            if groups & NEIGHBOURS:
                texts = word, form, before, after
                keys += neighbour_features(texts, [letters(text) if text else [] for text in texts])
            rows.append(slots(keys, SIZE))
        found.append(rows)
    return found


@given(LISTS, st.data(), GROUPS)
def test_scores(lists, data, groups):
    sentence = data.draw(st.lists(st.sampled_from(sorted(lists)), min_size=1, max_size=6))
    made, _ = choices(lists, len(lists))
    weights = np.random.default_rng(1).normal(size=SIZE).astype(np.float32)
    tokens = tokens_of([sentence], list(lists))
    scores, place = token_scores(made, tokens, groups, weights), places_of(made, tokens)
    for t, rows in enumerate(fired(lists, sentence, groups, made)):
        begin = made.first[tokens.word[t]]
        expected = [made.ln_prob[begin + k] + sum(float(weights[slot]) for slot in row) for k, row in enumerate(rows)]
        assert scores[place[t] : place[t + 1]] == pytest.approx(expected)


@given(LISTS, st.data(), GROUPS)
def test_learning(lists, data, groups):
    sentence = data.draw(st.lists(st.sampled_from(sorted(lists)), min_size=1, max_size=5))
    right = np.array([data.draw(st.integers(-1, len(lists[word]) - 1)) for word in sentence])
    made, _ = choices(lists, len(lists))
    chosen = {"letters": bool(groups & LETTERS), "neighbours": bool(groups & NEIGHBOURS)}
    given_settings = SparseSettings(**chosen, passes=1, bits=6, rate=0.5, penalty=0.1)
    tokens = tokens_of([sentence], list(lists))
    found = learn_sparse(made, tokens, right, given_settings)
    weights, squares, rows = [0.0] * SIZE, [FIRST_SQUARE] * SIZE, fired(lists, sentence, groups, made)
    learned = [t for t, word in enumerate(sentence) if right[t] >= 0 and len(lists[word]) > 1]
    for t in np.random.default_rng(1).permutation(np.array(learned, np.int64)).tolist():
        begin = made.first[tokens.word[t]]
        base = made.ln_prob[begin : begin + len(rows[t])].tolist()
        adagrad_step(base, rows[t], right[t], weights, squares, 0.5, 0.1)
    assert found.tolist() == pytest.approx(weights, abs=2e-3)
