"""Translation options against dicts and sorted lists."""

import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.features.reordering import MONOTONE
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import (
    ALL_REORDERINGS,
    REORDERINGS,
    SOURCE,
    TARGET,
    random_lm,
    random_toy,
    toy_name,
    write_model,
)
from tests.naive import ngrams
from tests.naive.search import KINDS, LN10, best_options, options

pytestmark = pytest.mark.kernels

SEEDS = st.integers(0, 2**20)
LM_WEIGHTS = st.sampled_from([-0.5, 0.0, 0.7])
LANGUAGE_MODEL = -5  # place in the weight vector


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("toys")


def fill(directory, seed, reordering, table_limit=0, lm_weight=0.7):
    """A random model with many ties, a random sentence, and the decoder that looked up its options."""
    toy = random_toy(directory / toy_name(seed, reordering), seed, most=8, reordering=reordering, coarse=True)
    toy.weights[LANGUAGE_MODEL] = lm_weight
    words = random.Random(seed).choices([*SOURCE, "x", "s"], k=6)
    decoder = Decoder.load(toy.directory, SearchSettings(table_limit=table_limit))
    decoder = Decoder(
        decoder.model,
        decoder.search_settings,
        decoder.model.weights.model_copy(update={"language_model": [lm_weight]}),
    )
    return toy, words, decoder


def decode(decoder, words):
    """The options of a sentence and their number, where lists are remembered and hash tables are crowded."""
    with decoder.searcher.prepare(Input(words)) as search:
        search.look_up()
        search.workspace.n_options = 2
        search.workspace.rebuild()
        search.look_up()
        found = search.workspace.options
    return found, int(found.first[len(words) * found.longest])


def spans(found, n_words):
    """(begin, end, first option, last + 1) of every span."""
    for begin in range(n_words):
        for length in range(1, min(found.longest, n_words - begin) + 1):
            place = begin * found.longest + length - 1
            yield begin, begin + length, int(found.first[place]), int(found.first[place + 1])


def target_words(decoder, words, found, option):
    if found.pair[option] < 0:
        return [words[found.begin[option]]]
    table = decoder.model.tables.phrases
    pair = found.pair[option]
    ids = table.target_words[table.target_offsets[pair] : table.target_offsets[pair + 1]]
    return [decoder.model.target.words[i] for i in ids]


@given(SEEDS, REORDERINGS, st.sampled_from([0, 1, 2, 20]), LM_WEIGHTS)
@settings(max_examples=40)
def test_the_best_of_every_span(directory, seed, reordering, table_limit, lm_weight):
    toy, words, decoder = fill(directory, seed, reordering, table_limit, lm_weight)
    found, _ = decode(decoder, words)
    for begin, end, first, last in spans(found, len(words)):
        here = slice(first, last)
        naive = best_options(toy.table, words, begin, end, toy.weights, toy.lm, toy.order, table_limit)
        assert found.estimate[here] == pytest.approx([estimate for _, estimate in naive], abs=1e-4)
        ranked = list(zip(-found.estimate[here], found.pair[here]))
        assert ranked == sorted(ranked)
        assert np.all(found.begin[here] == begin)
        assert np.all(found.end[here] == end)
        if table_limit == 0:
            assert sorted(found.score[here]) == pytest.approx(sorted(score for score, _ in naive), abs=1e-4)


@given(SEEDS, REORDERINGS, LM_WEIGHTS)
@settings(max_examples=25)
def test_every_pair_is_there_once(directory, seed, reordering, lm_weight):
    toy, words, decoder = fill(directory, seed, reordering, 0, lm_weight)
    found, _ = decode(decoder, words)
    for begin, end, first, last in spans(found, len(words)):
        texts = sorted(target_words(decoder, words, found, option) for option in range(first, last))
        naive = options(toy.table, words, begin, end)
        assert texts == sorted(target for target, _, _, _ in naive)
        assert [found.pair[option] < 0 for option in range(first, last)] == [copy for _, _, _, copy in naive]


@given(SEEDS, LM_WEIGHTS, st.lists(st.sampled_from([*TARGET, *SOURCE]), max_size=4))
@settings(max_examples=25)
def test_no_context_lifts_a_score_above_its_bound(directory, seed, lm_weight, context):
    toy, words, decoder = fill(directory, seed, Reordering(), 2, lm_weight)
    found, count = decode(decoder, words)
    for option in range(count):
        history = ["<s>", *context]
        log10_prob = 0.0
        for word in target_words(decoder, words, found, option):
            log10_prob += float(ngrams.score(toy.lm, history[max(0, len(history) - toy.order + 1) :], word)[0])
            history.append(word)
        assert found.score[option] + lm_weight * LN10 * log10_prob <= found.bound[option] + 1e-4


@given(SEEDS, REORDERINGS)
@settings(max_examples=25)
def test_ids_are_equal_where_the_search_sees_no_difference(directory, seed, reordering):
    _, words, decoder = fill(directory, seed, reordering)
    found, count = decode(decoder, words)
    texts = [target_words(decoder, words, found, option) for option in range(count)]
    backward_blocks = reordering and (reordering.orientation, reordering.direction) == ("hier", "backward")
    begins = found.begin if reordering and not backward_blocks else np.zeros_like(found.begin)
    seen = [(int(found.end[o]), int(begins[o]), *found.forward[o]) for o in range(count)]
    for a, b in combinations(range(count), 2):
        assert (found.target[a] == found.target[b]) == (texts[a] == texts[b])
        assert (found.state[a] == found.state[b]) == (seen[a] == seen[b])
    for option, text in enumerate(texts):
        target = found.target[option]
        here = slice(found.target_first[target], found.target_first[target + 1])
        ids = [one.word_ids(text).tolist() for one in decoder.model.language_models]
        assert found.lm_words[here].T.tolist() == ids
        known = [i for i in found.words[here] if i < len(decoder.model.target)]
        assert [decoder.model.target.words[i] for i in known] == [
            word for word in text if word in decoder.model.target.words
        ]


@given(SEEDS, ALL_REORDERINGS)
@settings(max_examples=25)
def test_reordering_scores_are_weighted(directory, seed, reordering):
    toy, words, decoder = fill(directory, seed, reordering)
    found, count = decode(decoder, words)
    names = "".join(dict.fromkeys(KINDS[reordering.kind]))
    expected = {"backward": np.zeros(4), "forward": np.zeros(4)}
    for option in range(count):
        scores = np.array(reordering.ln_default or [0.0] * reordering.n_columns)
        if found.pair[option] >= 0:
            source = " ".join(words[found.begin[option] : found.end[option]])
            target = " ".join(target_words(decoder, words, found, option))
            scores = next(ln for text, _, ln in toy.table[source] if text == target)
        for place, direction in enumerate(reordering.directions):
            columns = [place * len(names) + names.index(which) for which in KINDS[reordering.kind]]
            weights = toy.weights[4 + np.array([place] * 4 if reordering.collapse else columns)]
            expected[direction] = scores[columns] * weights
        for direction, scores in expected.items():
            row = getattr(found, direction)[option]
            assert row == pytest.approx([*scores, scores[MONOTONE]], abs=1e-6)  # the last one: monotone to the block


def test_spans_alone_tell_states_apart(directory):
    for k in range(1, 16):  # other scores, other hashes: some of them collide
        folder = directory / f"equal forward scores {k}"
        random_lm(folder, random.Random(1), order=2)
        equal = np.full(4, -1, np.float32), np.full(6, -k / 7, np.float32)
        table = {" ".join("a" * n): [("s", *equal), ("t", *equal)] for n in range(1, 8)}
        write_model(folder, table, Weights(), longest=7, order=2, reordering=Reordering())
        found, count = decode(Decoder.load(folder), ["a"] * 12)
        places = list(zip(found.begin[:count].tolist(), found.end[:count].tolist()))
        states = found.state[:count].tolist()
        assert len(set(places)) == len(set(states)) == len(set(zip(places, states)))


def test_a_known_word_without_a_phrase_of_its_own_is_copied(directory):
    toy = random_toy(directory / "pairs only", 7)
    decoder = Decoder.load(toy.directory)
    is_oov = next(word for word in decoder.model.source.words if word not in toy.table)
    found, count = decode(decoder, [is_oov])
    assert count == 1
    assert found.pair[0] < 0
