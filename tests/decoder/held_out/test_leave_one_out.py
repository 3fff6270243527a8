"""Leave-one-out against retraining without the sentence pair, on small random bitexts."""

import random
import tempfile
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.config import save_config
from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.features.dense import dense_weights
from phrasebeam.decoder.features.reordering import orientations
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.held_out.filtered_table import LN_SINGLETON, TableFilter
from phrasebeam.decoder.held_out.leave_one_out import check_frequencies
from phrasebeam.decoder.input.sentence_input import HeldOutPair, Input
from phrasebeam.decoder.model.description import WITHOUT_DIGESTS, ModelDescription
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.options.candidates import RankingWeights
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.sparse_features import no_sparse
from phrasebeam.decoder.tables.language_models import LanguageModels
from phrasebeam.decoder.tables.phrase_table import (
    ABSENT,
    find_source,
    longest,
    open_phrase_table,
    open_reordering_table,
)
from phrasebeam.decoder.tables.score_smoothing import open_discounting
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.scoring import PhraseTableSettings, build_phrase_table
from phrasebeam.training.model_building.train_model import train_model
from tests.naive.phrase_smoothing import SMOOTHED
from tests.training.model_building.bitexts import HARD, arrays, bitexts, realigned, sentence_pairs

pytestmark = pytest.mark.kernels

MODELS = st.builds(
    Reordering,
    orientation=st.sampled_from(["word", "phrase", "hier"]),
    kind=st.sampled_from(["msd", "mslr", "monotonicity", "leftright"]),
    direction=st.sampled_from(["backward", "forward", "bidirectional"]),
    condition=st.sampled_from(["f", "fe"]),
)


class Numbers:
    """A vocabulary whose words are their ids."""

    def ids(self, words):
        return np.array([int(word) for word in words], np.int32)


def build(bitext, max_length, reordering, smoothing="none", seeds=(), agreement=1):
    """A model without language models; with seeds, each pair has further alignments, drawn for it alone."""
    with tempfile.TemporaryDirectory() as directory:
        query = PhraseTableSettings(
            max_phrase_length=max_length, reordering=reordering, score_smoothing=smoothing, agreement=agreement
        )
        source, target, first = arrays(bitext)
        more = [arrays([realigned([pair], seed)[0] for pair in bitext])[2] for seed in seeds]
        built = build_phrase_table(source, target, [first, *more], Path(directory), query)
        table = open_phrase_table(Path(directory) / "phrases")
        scores = open_reordering_table(Path(directory) / "reordering", table.joint_counts.size)
        discounting = open_discounting(Path(directory), built.smoothing, table.joint_counts.size)
        phrases, scores = (type(part)(*(np.array(array) for array in part)) for part in (table, scores))
        discounting = discounting._replace(target_types=np.array(discounting.target_types))
    description = ModelDescription(
        format=WITHOUT_DIGESTS,
        version="0",
        signature="",
        sentence_pairs=1,
        source_words=1,
        target_words=1,
        max_source_phrase_length=max(longest(phrases.source_offsets), 1),
        max_target_phrase_length=max(longest(phrases.target_offsets), 1),
        language_model_order=2,
        smoothing=built.smoothing,
        alignments=1 + len(seeds),
        agreement=agreement,
        reordering=reordering,
        settings={},
        data={},
    )
    tables = Tables(phrases, scores.ln_scores, orientations(reordering), None, no_sparse())
    return Model(description, Weights(), Numbers(), Numbers(), (), tables, 1, scores.counts, discounting)


def new_filter(model, longest_phrase):
    """TableFilter without a table limit, for which the language model is not asked."""
    models, floats, ids = np.ones(1, np.int64), np.zeros(1, np.float32), np.zeros((1, 1), np.int32)
    numbers = np.zeros((1, 7), np.uint64)
    lms = LanguageModels(
        models, floats.view(np.uint32), floats, numbers.view(np.int64), numbers, numbers, ids[0], ids, ids, np.zeros(1)
    )
    weights = dense_weights(Weights(reordering=[]), 4, None, 1)
    ranking = RankingWeights(weights, lms.ln_weights, is_own=False)
    return TableFilter(model, model.tables._replace(lms=lms), ranking, longest_phrase, table_limit=0)


def rows(model, tables):
    """{(source, target): (counts, ln p(f|e), ln p(e|f), ln reordering)}"""
    phrases, found = tables.phrases, {}
    sources = [tuple(phrases.source_words[b:e].tolist()) for b, e in pairwise(phrases.source_offsets)]
    targets = [tuple(phrases.target_words[b:e].tolist()) for b, e in pairwise(phrases.target_offsets)]
    for i, (first, last) in enumerate(pairwise(phrases.pair_offsets)):
        assert find_source(phrases, np.array(sources[i], np.int32), 0, len(sources[i])) == i
        for pair in range(first, last):
            counts = phrases.joint_counts[pair], phrases.source_counts[i], phrases.target_counts[pair]
            scores = phrases.ln_scores[pair, [0, 2]].tolist()
            found[sources[i], targets[pair]] = *map(int, counts), *scores, *tables.ln_reordering[pair].tolist()
    assert find_source(phrases, np.array([9], np.int32), 0, 1) == ABSENT
    return found


def within(table, words, longest_phrase):
    """The pairs of phrases of a sentence."""
    spans = {
        tuple(words[i:j]) for i in range(len(words)) for j in range(i + 1, min(len(words), i + longest_phrase) + 1)
    }
    return {pair: row for pair, row in table.items() if pair[0] in spans}


def held_out_sentence(pair, mode, seeds=()):
    source, target, links = pair
    more = tuple(tuple(realigned([pair], seed)[0][2]) for seed in seeds)
    return np.array(source, np.int32), HeldOutPair(tuple(map(str, target)), tuple(links), mode, more_alignments=more)


@settings(deadline=None, max_examples=60)
@given(bitexts, sentence_pairs(), st.integers(1, 4), MODELS, st.integers(1, 5))
def test_equals_retraining_without_the_sentence_pair(bitext, pair, max_length, reordering, longest_phrase):
    full = build([*bitext, pair], max_length, reordering)
    without = build(bitext, max_length, reordering)
    table_filter = new_filter(full, longest_phrase)
    words, given_pair = held_out_sentence(pair, "drop")
    expected = within(rows(without, without.tables), pair[0], longest_phrase)
    table_filter.filter(words[::-1].copy(), None, None)  # so that scratch arrays are not new
    found = rows(full, table_filter.filter(words, None, given_pair).tables)
    assert found.keys() == expected.keys()
    for name, row in expected.items():
        assert found[name] == pytest.approx(row, abs=1e-6), name
    check_penalties(full, table_filter, pair, expected, longest_phrase)
    check_forced(table_filter, pair, expected)


@settings(deadline=None, max_examples=60)
@given(bitexts, sentence_pairs(), st.integers(1, 4), MODELS, st.integers(1, 3))
def test_with_several_alignments_too(bitext, pair, max_length, reordering, agreement):
    seeds = (1, 2)
    full, without = (
        build(some, max_length, reordering, "none", seeds, agreement) for some in ([*bitext, pair], bitext)
    )
    expected = within(rows(without, without.tables), pair[0], max_length)
    words, given_pair = held_out_sentence(pair, "drop", seeds)
    found = rows(full, new_filter(full, max_length).filter(words, None, given_pair).tables)
    assert found.keys() == expected.keys()
    for name, row in expected.items():
        assert found[name] == pytest.approx(row, abs=1e-6), name


def test_fewer_alignments_than_have_to_agree_are_refused():
    full = build(HARD["one word each"], 3, Reordering(), "none", (1,), 2)
    words, given_pair = held_out_sentence(HARD["one word each"][0], "drop")
    with pytest.raises(ModelError, match="leave-one-out with 1 word alignments, and the model was made of"):
        new_filter(full, 3).filter(words, None, given_pair)


@settings(deadline=None, max_examples=60)
@given(bitexts, sentence_pairs(), st.integers(1, 4), st.sampled_from(list(SMOOTHED)), st.integers(1, 5))
def test_smoothed_scores_are_those_of_the_remaining_counts(bitext, pair, max_length, method, longest_phrase):
    """With the discounts, and the number of all pairs, of the whole corpus."""
    full = build([*bitext, pair], max_length, Reordering(), method)
    check_frequencies(full.tables.phrases, full.discounting)
    whole, remaining = (
        {name: row[0] for name, row in rows(model, model.tables).items()}
        for model in (full, build(bitext, max_length, Reordering()))
    )
    expected = within(SMOOTHED[method](remaining, whole), pair[0], longest_phrase)
    table_filter = new_filter(full, longest_phrase)
    for mode in ("drop", "penalty"):
        words, given_pair = held_out_sentence(pair, mode)
        found = rows(full, table_filter.filter(words, None, given_pair).tables)
        assert {name for name, row in found.items() if row[0]} == expected.keys()
        for name, row in found.items():
            assert row[3:5] == pytest.approx(expected.get(name, (LN_SINGLETON, LN_SINGLETON)), rel=1e-5, abs=1e-5)
    words, given_pair = held_out_sentence(pair, "drop")
    forced = rows(full, table_filter.filter(words, np.array(pair[1], np.int32), given_pair).tables)
    assert all(row[3:5] == pytest.approx(expected[name], rel=1e-5, abs=1e-5) for name, row in forced.items())


def check_penalties(full, table_filter, pair, expected, longest_phrase):
    """With a penalty, those that are left without a count are still there."""
    words, given_pair = held_out_sentence(pair, "penalty")
    found = rows(full, table_filter.filter(words, None, given_pair).tables)
    assert found.keys() == within(rows(full, full.tables), pair[0], longest_phrase).keys()
    for name, row in found.items():
        if name in expected:
            assert row == pytest.approx(expected[name], abs=1e-6)
        else:
            assert (row[0], *row[3:5]) == (0, LN_SINGLETON, LN_SINGLETON)
            if full.description.reordering.condition == "fe":
                n_columns = len(row[5:]) / len(full.description.reordering.directions)
                assert row[5:] == pytest.approx([-np.log(n_columns)] * len(row[5:]))


@settings(deadline=None, max_examples=30)
@given(bitexts, sentence_pairs(), st.integers(1, 4), MODELS)
def test_large_data_lose_all_pairs_that_occur_once(bitext, pair, max_length, reordering):
    full = build([*bitext, pair], max_length, reordering)
    words, given_pair = held_out_sentence(pair, "singletons")
    found = rows(full, new_filter(full, max_length).filter(words, None, given_pair).tables)
    every = within(rows(full, full.tables), pair[0], max_length)
    assert found == {name: row for name, row in every.items() if row[0] > 1}


def check_forced(table_filter, pair, expected):
    """For forced decoding, those whose target phrase occurs in the reference."""
    words, given_pair = held_out_sentence(pair, "drop")
    filtered = table_filter.filter(words, np.array(pair[1], np.int32), given_pair)
    text = " ".join(map(str, ["", *pair[1], ""]))
    occurring = {name: row for name, row in expected.items() if f" {' '.join(map(str, name[1]))} " in text}
    found = rows(None, filtered.tables)
    assert found.keys() == occurring.keys()
    assert all(found[name] == pytest.approx(row, abs=1e-6) for name, row in occurring.items())
    original = table_filter.tables.phrases
    for i, pair_of_model in enumerate(filtered.origin.tolist()):
        assert target(filtered.tables.phrases, i) == target(original, pair_of_model)


def target(phrases, pair):
    return phrases.target_words[slice(*phrases.target_offsets[pair : pair + 2])].tolist()


def test_what_was_not_in_the_training_data_is_refused():
    pair = [1, 2], [1, 2], {(0, 0), (1, 1)}
    full = build([pair], 3, Reordering())
    words, given_pair = held_out_sentence(([1, 2], [1, 2], {(0, 1), (1, 0)}), "drop")
    with pytest.raises(ModelError, match="leave-one-out: 2 phrase pairs of the sentence pair are not in the model"):
        new_filter(full, 3).filter(words, None, given_pair)


def test_probabilities_that_are_no_frequencies_are_refused():
    full = build([([1, 2], [1, 2], {(0, 0), (1, 1)})], 3, Reordering())
    check_frequencies(full.tables.phrases)
    phrases = full.tables.phrases._replace(ln_scores=full.tables.phrases.ln_scores - 0.1)
    with pytest.raises(ModelError, match="leave-one-out needs a phrase table whose probabilities are relative"):
        check_frequencies(phrases)


LINES = [
    ("das haus ist klein", "the house is small", "0-0 1-1 2-2 3-3"),
    ("das haus", "the house", "0-0 1-1"),
    ("ist das klein", "is this small", "0-0 1-1 2-2"),
    ("das buch ist klein", "the book is small", "0-0 1-1 2-2 3-3"),
    ("klein ist das haus", "small is the house", "0-0 1-1 2-2 3-3"),
]


def trained(directory, lines, smoothing="none"):
    files = [directory / name for name in ("source", "target", "alignment")]
    for file, column in zip(files, zip(*lines)):
        file.write_text("".join(f"{line}\n" for line in column), encoding="utf-8")
    config = TrainModelConfig.model_validate({"language_model": {"order": 2}, "phrases": {"smoothing": smoothing}})
    train_model(files[0], files[1], directory / "model", config, files[2])
    # Lexical weights and the language model are those of the whole corpus.
    weights = Weights(translation=[0.3, 0, 0.2, 0], language_model=[0], distortion=0.1)
    save_config(weights, directory / "model" / "weights.yaml")
    return directory / "model"


@pytest.mark.parametrize("i", [0, 2, 3])
def test_translates_like_a_model_that_has_not_seen_the_sentence(tmp_path, i):
    for name in ("full", "less"):
        (tmp_path / name).mkdir()
    limits = SearchSettings(stack=0, beam_threshold=0, table_limit=3)
    full = Decoder.load(trained(tmp_path / "full", LINES), limits)
    less = Decoder.load(trained(tmp_path / "less", [*LINES[:i], *LINES[i + 1 :]]), limits)
    source, reference, alignment = LINES[i]
    points = tuple(tuple(map(int, point.split("-"))) for point in alignment.split())
    for line in (source, "das haus"):
        full.translate(line)  # what is remembered of frequent phrases must not matter
    found = full.nbest(Input(source.split(), held_out=HeldOutPair(tuple(reference.split()), points)), 50)
    expected = less.nbest(source, 50)
    assert [t.score for t in found] == pytest.approx([t.score for t in expected], abs=1e-5)
    assert full.translate(source).score > found[0].score
    assert {t.text for t in found} == {t.text for t in expected}


def random_lines(rng, n):
    """Sentences of few words, so that phrases have many translations."""
    for _ in range(n):
        n_words = rng.randint(2, 6)
        source, target = (" ".join(rng.choices(words, k=n_words)) for words in ("abc", "stuv"))
        yield source, target, " ".join(f"{i}-{j}" for i, j in enumerate(rng.sample(range(n_words), n_words)))


def n_table_pairs(decoder, given):
    """How many pairs the sentence's own table has."""
    with decoder.searcher.prepare(given) as search:
        return search.source.tables.origin.size


@pytest.mark.needs_jit
def test_what_the_table_limit_leaves_out_does_not_matter(tmp_path, monkeypatch):
    lines = list(random_lines(random.Random(1), 80))
    path = trained(tmp_path, lines)
    weights = Weights(translation=[0.3, 0.1, 0.2, 0.1], language_model=[0.4])
    inputs = []
    for source, reference, alignment in lines[:25]:
        points = tuple(tuple(map(int, point.split("-"))) for point in alignment.split())
        for mode in ("drop", "penalty"):
            inputs.append(Input(source.split(), held_out=HeldOutPair(tuple(reference.split()), points, mode)))
    answers, n_pairs = [], []
    for more in (10**6, 0, 1, 3):
        monkeypatch.setattr("phrasebeam.decoder.held_out.filtered_table.EXTRA_PAIRS", more)
        decoder = Decoder.load(path, SearchSettings(table_limit=2, distortion_limit=2), weights)
        answers.append([decoder.nbest(given, 20) for given in inputs])
        n_pairs.append(sum(n_table_pairs(decoder, given) for given in inputs))
    assert answers[0] == answers[1] == answers[2] == answers[3]
    assert min(n_pairs) < n_pairs[0]


def test_a_damaged_table_is_found_out(tmp_path, monkeypatch):
    monkeypatch.setattr("phrasebeam.decoder.held_out.filtered_table.EXTRA_PAIRS", 0)
    decoder = Decoder.load(trained(tmp_path, LINES), SearchSettings(table_limit=1))
    decoder.model.tables.phrases.ln_scores[:, 1] = np.nan  # in memory alone
    source, reference, alignment = LINES[4]
    points = tuple(tuple(map(int, point.split("-"))) for point in alignment.split())
    with pytest.raises(ModelError, match=r"nan .* of a phrase pair, expected finite numbers"):
        decoder.translate(Input(source.split(), held_out=HeldOutPair(tuple(reference.split()), points)))


def held_out_line(i, mode="drop"):
    source, reference, alignment = LINES[i]
    points = tuple(tuple(map(int, point.split("-"))) for point in alignment.split())
    return Input(source.split(), held_out=HeldOutPair(tuple(reference.split()), points, mode))


@pytest.mark.parametrize("value", [-1, 1 << 40])
def test_damaged_offsets_of_pairs_are_found_out(tmp_path, value):
    decoder = Decoder.load(trained(tmp_path, LINES), SearchSettings())
    phrases = decoder.model.tables.phrases
    phrases.pair_offsets[5] = value  # in memory alone
    with pytest.raises(ModelError, match=r"pair_offsets\.npy: expected ascending offsets from 0"):
        check_frequencies(phrases, decoder.model.discounting)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of logarithms, uncompiled
@pytest.mark.parametrize("value", [-(1 << 31), -9, 0])
@pytest.mark.parametrize("smoothing", ["kneser-ney", "good-turing"])
def test_counts_that_cannot_be_do_no_harm(tmp_path, monkeypatch, smoothing, value):
    monkeypatch.setattr("phrasebeam.decoder.held_out.filtered_table.check_frequencies", lambda *given: None)
    decoder = Decoder.load(trained(tmp_path, LINES, smoothing), SearchSettings())
    counts = decoder.model.tables.phrases.joint_counts
    for pair in range(counts.size):
        counts[pair], count = value, counts[pair]  # in memory alone
        for mode in ("drop", "penalty"):
            with suppress(ModelError):
                decoder.translate(held_out_line(4, mode))
        counts[pair] = count


@pytest.mark.parametrize("name", ["pair_offsets", "target_offsets"])
def test_phrases_longer_than_those_of_the_search_are_checked(tmp_path, name):
    decoder = Decoder.load(trained(tmp_path, LINES, "kneser-ney"), SearchSettings(max_phrase_length=1))
    phrases = decoder.model.tables.phrases
    words = decoder.model.source.ids(LINES[4][0].split()[:2])
    source = find_source(phrases, words, 0, 2)
    assert source != ABSENT
    number = source if name == "pair_offsets" else int(phrases.pair_offsets[source])
    getattr(phrases, name)[number + 1] = 1 << 40  # in memory alone
    with pytest.raises(ModelError, match=rf"{name}\.npy: 1099511627776 at"):
        decoder.translate(held_out_line(4))
