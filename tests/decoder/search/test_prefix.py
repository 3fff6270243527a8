"""Translations that begin with what was typed, against brute force."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.sentence_input import Input, Prefix
from phrasebeam.decoder.input.target_constraint import CONTRADICTED, TargetConstraint, fill_rest
from phrasebeam.decoder.options.option_arrays import new_options
from phrasebeam.decoder.search.prefix import LONGEST_PREFIX, with_prefixes
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import (
    REORDERINGS,
    SOURCE,
    TARGET,
    last_workspace,
    random_lm,
    random_toy,
    toy_name,
    write_model,
)
from tests.inner_kernels import follow
from tests.naive.prefix import begins, best_rest, completions
from tests.naive.search import features

pytestmark = pytest.mark.kernels

UNLIMITED = {"stack": 0, "beam_threshold": 0, "table_limit": 0}
SEEDS = st.integers(0, 2**20)
ALGORITHMS = st.sampled_from([{}, {"algorithm": "cube", "pop_limit": 0}])
PREFIXES = st.lists(st.sampled_from([*TARGET, "x", "z"]), max_size=4)
ALL = 10**5


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("toys")


def toy_problem(directory, seed, reordering, longest_sentence):
    toy = random_toy(directory / toy_name(seed, reordering), seed, reordering=reordering)
    rng = random.Random(seed)
    return toy, rng.choices([*SOURCE, "x"], k=rng.randint(1, longest_sentence))


def flat(translation):
    return np.concatenate([np.atleast_1d(value) for value in translation.features.values()])


def check(decoder, translation, weights, prefix, is_partial=False):
    """All that must hold of any completion."""
    assert begins(translation.text.split(" "), prefix, is_partial)
    assert weights @ flat(translation) == pytest.approx(translation.score, abs=1e-6)
    unknown = translation.features["unknown_word_penalty"]
    made_up = sum(len(phrase.target.split()) for phrase in translation.phrases if phrase.is_fallback)
    assert unknown == -100 * (made_up + sum(phrase.is_copied for phrase in translation.phrases))


@given(SEEDS, REORDERINGS, st.integers(-1, 4), PREFIXES, st.booleans(), ALGORITHMS)
@settings(max_examples=40)
def test_without_limits_the_list_is_all_that_begins_so(
    directory, seed, reordering, distortion_limit, prefix, is_own, algorithm
):
    toy, words = toy_problem(directory, seed, reordering, longest_sentence=3)
    decoder = Decoder.load(toy.directory, SearchSettings(distortion_limit=distortion_limit, **algorithm, **UNLIMITED))
    line = " ".join(words)
    if is_own:  # a prefix that can be produced
        prefix = random.Random(seed).choice(decoder.nbest(line, 50)).text.split()[: 1 + len(prefix)]
    expected = completions(toy.table, words, toy.longest, distortion_limit, prefix)
    vectors = [features(derivation, 4, toy.reordering, toy.lm, toy.order) for derivation in expected]
    scores = sorted((np.array(vectors) @ toy.weights).tolist(), reverse=True)
    best = decoder.complete(line, " ".join(prefix))
    check(decoder, best, toy.weights, prefix)
    assert best.score == pytest.approx(scores[0], abs=1e-4)
    found = decoder.nbest(Input(words, prefix=Prefix(tuple(prefix))), ALL)
    assert found[0] == best
    assert [translation.score for translation in found] == pytest.approx(scores, abs=1e-4)
    keys = [tuple((phrase.source_span, phrase.target) for phrase in translation.phrases) for translation in found]
    assert set(keys) == {tuple((span, " ".join(option[0])) for span, option in derivation) for derivation in expected}
    for translation in found:
        check(decoder, translation, toy.weights, prefix)


@given(
    SEEDS, REORDERINGS, PREFIXES, st.integers(1, 4), st.sampled_from([1e-5, 0.5]), st.sampled_from(["stack", "cube"])
)
@settings(max_examples=40)
def test_a_narrow_search_completes_as_well(directory, seed, reordering, prefix, stack, beam_threshold, algorithm):
    toy, words = toy_problem(directory, seed, reordering, longest_sentence=8)
    search = SearchSettings(algorithm=algorithm, pop_limit=2, stack=stack, beam_threshold=beam_threshold)
    decoder = Decoder.load(toy.directory, search)
    prefix = prefix * (1 + seed % 4)
    check(decoder, decoder.complete(" ".join(words), " ".join(prefix)), toy.weights, prefix)


@given(SEEDS, REORDERINGS, ALGORITHMS)
@settings(max_examples=20)
def test_its_own_translation_stays_the_best_however_much_is_typed(directory, seed, reordering, algorithm):
    toy, words = toy_problem(directory, seed, reordering, longest_sentence=5)
    decoder, line = Decoder.load(toy.directory, SearchSettings(**algorithm, **UNLIMITED)), " ".join(words)
    best = decoder.translate(line)
    assert decoder.complete(line, "") == best
    for typed in range(1, len(best.text.split()) + 1):
        completed = decoder.complete(line, " ".join(best.text.split()[:typed]))
        assert completed.score == pytest.approx(best.score, abs=1e-9)


@given(SEEDS, st.lists(st.sampled_from(["s", "st", "stu", "stuv", "x"]), min_size=1, max_size=3), st.booleans())
@settings(max_examples=20)
def test_the_last_word_may_be_unfinished(directory, seed, prefix, is_finished):
    rng, folder = random.Random(seed), directory / f"long-words-{seed}"
    random_lm(folder, rng, 2)
    words = ["s", "st", "stuv", "stuw", "tuv"]
    table = {
        source: [(word, np.log(rng.uniform(0.1, 1)) * np.ones(4, np.float32), None) for word in rng.sample(words, 2)]
        for source in "abc"
    }
    write_model(folder, table, Weights(reordering=[]), 1, 2, None)
    decoder, line = Decoder.load(folder, SearchSettings(**UNLIMITED)), "a b xyz"
    found = decoder.complete(line, " ".join(prefix) + " " * is_finished, partial_word=True)
    expected = completions(table, line.split(), 1, 6, prefix, not is_finished)
    assert found.text in {" ".join(" ".join(option[0]) for _, option in derivation) for derivation in expected}
    assert begins(found.text.split(" "), prefix, not is_finished)


@pytest.mark.parametrize("prefix", ["", "s", "s z x"])
def test_an_empty_sentence_becomes_what_was_typed(directory, prefix):
    toy = random_toy(directory / "empty", 3)
    decoder = Decoder.load(toy.directory)
    found = decoder.complete("", prefix)
    assert found.text == prefix
    assert [phrase.is_fallback for phrase in found.phrases] == [True] * bool(prefix)
    assert toy.weights @ flat(found) == pytest.approx(found.score, abs=1e-6)
    assert decoder.nbest(Input([], prefix=Prefix.read(prefix)), 3) == [found]


def test_a_prefix_longer_than_any_translation(directory):
    toy = random_toy(directory / "empty", 3)
    typed = "z s t " * 20
    assert Decoder.load(toy.directory).complete("a x b", typed).text == typed.strip()


@pytest.mark.parametrize(
    ("source", "typed", "message"),
    [
        (
            3,
            LONGEST_PREFIX + 1,
            r"z z z .*: a prefix of 1001 words, expected at most 1000; give only the last sentence",
        ),
        (300, 300, r"a prefix of 300 words, which no phrases .* is too long for a sentence of 300 words; split both"),
        pytest.param(
            *(10**4, 50, r"a prefix of 50 words, which .* is too long for a sentence of 10000 words"),
            marks=pytest.mark.needs_jit,
        ),
    ],
)
def test_what_would_take_too_much_memory_is_refused(directory, source, typed, message):
    toy = random_toy(directory / "empty", 3)
    decoder = Decoder.load(toy.directory, SearchSettings(stack=1))
    with pytest.raises(ConfigError, match=message):
        decoder.complete("a " * source, "z " * typed)


def test_what_can_be_translated_is_not_made_up(tmp_path):
    random_lm(tmp_path, random.Random(1), 3)
    probable, improbable = np.zeros(4, np.float32), np.full(4, -200, np.float32)
    write_model(tmp_path, {"a": [("s", probable, None), ("t", improbable, None)]}, Weights(reordering=[]), 1, 1, None)
    found = Decoder.load(tmp_path).complete("a a", "t t")
    assert (found.text, [phrase.is_fallback for phrase in found.phrases]) == ("t t", [False, False])


def test_a_word_that_is_needed_later_is_not_used_up(tmp_path):
    """The threshold alone would keep only the hypotheses that spend `a` at once, and then cannot produce u."""
    random_lm(tmp_path, random.Random(1), 2)
    likely, unlikely = np.zeros(4, np.float32), np.full(4, -5, np.float32)
    table = {"a": [("s", likely, None), ("u", likely, None)], "b": [("s", unlikely, None), ("v", likely, None)]}
    write_model(tmp_path, table, Weights(reordering=[], translation=[1.0] * 4), 1, 1, None)
    found = Decoder.load(tmp_path, SearchSettings(beam_threshold=0.5)).complete("a b", "s u")
    assert (found.text, [phrase.is_fallback for phrase in found.phrases]) == ("s u", [False, False])


@pytest.mark.parametrize("threads", [1, 3])
def test_many_lines(directory, threads):
    toy = random_toy(directory / "many", 7, most=3)
    decoder, rng = Decoder.load(toy.directory, SearchSettings(stack=10)), random.Random(5)
    inputs = [Input(rng.choices([*SOURCE, "x"], k=rng.randint(0, 8))) for _ in range(20)]
    prefixes = [Prefix(tuple(rng.choices([*TARGET, "z"], k=rng.randint(0, 4)))) for _ in range(20)]
    expected = [decoder.complete(given, " ".join(prefix.words)) for given, prefix in zip(inputs, prefixes)]
    assert list(decoder.translate_all(with_prefixes(inputs, prefixes), threads)) == expected
    with pytest.raises(ConfigError, match="there are 19 prefixes and more sentences; give one, or an empty line"):
        list(decoder.translate_all(with_prefixes(inputs, prefixes[:-1]), threads))
    with pytest.raises(ConfigError, match="there are 19 sentences and more prefixes"):
        list(decoder.translate_all(with_prefixes(inputs[:-1], prefixes), threads))


def test_what_is_too_small_grows(directory):
    toy = random_toy(directory / "many", 7, most=3)
    line, prefix = "a b c d x", "s z t"
    for algorithm in ({}, {"algorithm": "cube", "pop_limit": 0}):
        decoder = Decoder.load(toy.directory, SearchSettings(**algorithm))
        expected = decoder.complete(line, prefix)
        workspace = last_workspace(decoder)
        workspace.n_states = workspace.n_nodes = workspace.n_edges = workspace.stack_size = workspace.stack_edges = 2
        workspace.n_queued = workspace.n_options = workspace.n_target_words = 2
        workspace.rebuild()
        assert decoder.complete(line, prefix) == expected


WORDS = st.lists(st.integers(0, 5), max_size=6)


@given(st.lists(st.frozensets(st.integers(0, 5)), max_size=5), WORDS, st.integers(0, 5), st.data())
def test_following(allowed, words, position, data):
    first = np.cumsum([0, *map(len, allowed)]).astype(np.int64)
    position = min(position, len(allowed))
    rest = data.draw(st.lists(st.sampled_from([0.0, -100.0, -np.inf]), min_size=first.size, max_size=first.size))
    rest[position], rest[-1] = 0.0, 0.0
    constraint = TargetConstraint(
        first, np.array([i for ids in allowed for i in sorted(ids)], np.int32), np.array(rest)
    )
    fits = all(word in ids for word, ids in zip(words, allowed[position:]))
    end = min(position + len(words), len(allowed))
    expected = end if fits and rest[end] > -np.inf else CONTRADICTED
    found = follow(
        constraint, np.array([9, *words, 9], np.int32), np.int64(1), np.int64(1 + len(words)), np.int64(position), False
    )
    assert found == expected
    if words and position < len(allowed):  # the same words in two steps, as a phrase
        mid = follow(constraint, np.array(words, np.int32), np.int64(0), np.int64(1), np.int64(position), True)
        assert (mid == CONTRADICTED) == (words[0] not in allowed[position])
        if mid != CONTRADICTED:
            assert mid > len(allowed)
            assert (
                follow(constraint, np.array(words, np.int32), np.int64(1), np.int64(len(words)), mid, False) == expected
            )


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=6),
    st.lists(WORDS.map(lambda w: [i % 3 for i in w[:3]]), max_size=6),
)
def test_the_rest(prefix, targets):
    """The first own pairs carry penalties, the other pairs none."""
    penalties = np.array([-10.0, -1.0, -3.0])
    n, words = len(targets), [word for target in targets for word in target]
    phrases = [(target, penalties[i] if i < penalties.size else 0.0) for i, target in enumerate(targets)]
    pair = [-1 - i if i < penalties.size else i for i in range(n)]
    first = np.cumsum([0, *map(len, targets)]).astype(np.int64)
    constraint = TargetConstraint(
        np.arange(len(prefix) + 1), np.array(prefix, np.int32), np.full(len(prefix) + 1, np.nan)
    )
    options = new_options(1, 1, 8, max(len(words), 1), 1)
    options.pair[:n], options.target[:n], options.target_first[: n + 1] = pair, range(n), first
    options.words[: len(words)] = words
    fill_rest(constraint, options, np.int64(n), penalties)
    assert constraint.ln_rest.tolist() == best_rest(prefix, phrases)
