"""Bitext count, unique rule, idf and phrase-length groups against brute force."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.config import load_config, save_config
from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.features.pair import longest_grouped, weights_by_length
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import SENTENCE_PAIRS, SOURCE, random_toy
from tests.naive.phrase_templates import one_word_counts
from tests.naive.search import derivations, features

pytestmark = pytest.mark.kernels

SEEDS = st.integers(0, 2**20)
UNLIMITED = {"stack": 0, "pop_limit": 0, "beam_threshold": 0, "table_limit": 0}
NAMES = ("bitext_count", "unique_rule", "target_idf", "source_idf", "length_groups")
GIVEN = st.sets(st.sampled_from(NAMES), min_size=1)
LONGEST = 2  # toys have phrases of up to 3 words, so that some are in no group
RANGES = [(a, b) for a in range(1, LONGEST + 1) for b in range(a, LONGEST + 1)]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("toys")


def add_features(toy, rng, given):
    """Give the model's pairs random counts and the features weights; {(source, target): count}, weights."""
    pairs = [(source, target) for source, found in toy.table.items() for target, *_ in found]
    counts = np.array([rng.choice([1, 1, 2, 7]) for _ in pairs], np.int32)
    np.save(toy.directory / "phrases" / "joint_counts.npy", counts)
    added = {}
    for name in NAMES:
        if name in given:
            n = 4 * len(RANGES) if name == "length_groups" else 1
            added[name] = [rng.uniform(-0.5, 0.5) for _ in range(n)]
    weights = load_config(toy.directory / "weights.yaml", Weights)
    values = {name: value if name == "length_groups" else value[0] for name, value in added.items()}
    save_config(weights.model_copy(update=values), toy.directory / "weights.yaml")
    return dict(zip(pairs, counts.tolist())), added


def naive_idf(counts):
    """{word: idf} of both sides of a toy."""
    sides = one_word_counts((*(side.split() for side in pair), count) for pair, count in counts.items())
    return [{w: -math.log(min(max(n, 1), SENTENCE_PAIRS) / SENTENCE_PAIRS) for w, n in side.items()} for side in sides]


def naive_values(derivation, words, counts, name):
    """The values of one of the features."""
    source_idf, target_idf = naive_idf(counts)
    total = np.zeros(4 * len(RANGES) if name == "length_groups" else 1)
    for (begin, end), (target, scores, _, is_copy) in derivation:
        if is_copy:
            continue
        count = counts[" ".join(words[begin:end]), " ".join(target)]
        if name == "bitext_count":
            total += math.log(count)
        elif name == "unique_rule":
            total += count == 1
        elif name.endswith("_idf"):
            q = sum(target_idf[word] for word in target) - sum(source_idf[word] for word in words[begin:end])
            total += max(q if name == "target_idf" else -q, 0)
        else:
            inside = [a <= end - begin <= b and a <= len(target) <= b for a, b in RANGES]
            total += np.outer(scores, inside).ravel()
    return total


@given(SEEDS, GIVEN, st.sampled_from(["stack", "cube"]))
@settings(max_examples=25)
def test_the_list_is_the_full_enumeration(directory, seed, given, algorithm):
    rng = random.Random(seed)
    toy = random_toy(directory / f"{seed}-{'-'.join(sorted(given))}-{algorithm}", seed)
    counts, added = add_features(toy, rng, given)
    words = rng.choices([*SOURCE, "x"], k=rng.randint(1, 4))
    expected = {}
    for derivation in derivations(toy.table, words, toy.longest, 6):
        vectors = [naive_values(derivation, words, counts, name) for name in added]
        vector = np.concatenate([features(derivation, 4, toy.reordering, toy.lm, toy.order), *vectors])
        expected[tuple((span, " ".join(option[0])) for span, option in derivation)] = vector
    weights = np.concatenate([toy.weights, *added.values()])
    found = Decoder.load(toy.directory, SearchSettings(algorithm=algorithm, **UNLIMITED)).nbest(" ".join(words), 10**5)
    assert {tuple((p.source_span, p.target) for p in t.phrases) for t in found} == set(expected)
    for translation in found:
        vector = np.concatenate([np.atleast_1d(value) for value in translation.features.values()])
        naive = expected[tuple((phrase.source_span, phrase.target) for phrase in translation.phrases)]
        assert vector == pytest.approx(naive, abs=1e-4)
        assert translation.score == pytest.approx(weights @ naive, abs=1e-4)
    scores = sorted((weights @ vector for vector in expected.values()), reverse=True)
    assert [translation.score for translation in found] == pytest.approx(scores, abs=1e-4)


@given(st.integers(1, 4), st.integers(0, 5), st.randoms(use_true_random=False))
def test_weights_by_length_are_sums_over_ranges(n_translation, longest, rng):
    ranges = [(a, b) for a in range(1, longest + 1) for b in range(a, longest + 1)]
    weights = np.array([rng.uniform(-1, 1) for _ in range(n_translation * len(ranges))])
    assert longest_grouped(weights.size, n_translation) == longest
    summed = weights_by_length(weights, n_translation)
    for column in range(n_translation):
        for shorter in range(1, longest + 1):
            for longer in range(shorter, longest + 1):
                synthetic = weights[column * len(ranges) :]
                expected = sum(w for (a, b), w in zip(ranges, synthetic) if a <= shorter and longer <= b)
                assert summed[column, shorter, longer] == pytest.approx(expected)


def test_a_wrong_number_of_groups_is_refused(directory):
    toy = random_toy(directory / "wrong", 3)
    weights = load_config(toy.directory / "weights.yaml", Weights).model_copy(update={"length_groups": [1.0] * 13})
    with pytest.raises(ModelError, match=r"length_groups has 13 weights, expected 4 scores times M \(M \+ 1\) / 2"):
        Decoder.load(toy.directory, weights=weights)


def test_a_table_without_counts_is_refused(directory):
    toy = random_toy(directory / "without counts", 3)
    path = toy.directory / "phrases" / "joint_counts.npy"
    np.save(path, np.zeros_like(np.load(path)))
    weights = load_config(toy.directory / "weights.yaml", Weights).model_copy(update={"unique_rule": 0.1})
    with pytest.raises(ModelError, match="the phrase table has no counts"):
        Decoder.load(toy.directory, weights=weights)
