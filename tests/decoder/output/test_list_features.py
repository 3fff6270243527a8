"""The features of n-best lists for learning, against the translations that people get."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.input.sentence_input import HeldOutPair, Input, Prefix
from phrasebeam.decoder.output.list_features import hypothesis_list, scores_of
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.sparse.levels import WordEdges
from phrasebeam.decoder.sparse.templates import GROUPS, Templates
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.features.test_sparse_features import add_templates, all_vectors, random_sentence, templates_of
from tests.decoder.held_out.test_leave_one_out import LINES, trained
from tests.decoder.models import random_toy
from tests.decoder.search.test_search import flat

pytestmark = pytest.mark.kernels
NO_PREFIX = Prefix()


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("lists")


def list_of(decoder, given, n, distinct):
    with decoder.searcher.search(given) as result:
        return hypothesis_list(result, n, distinct)


def group_of(name):
    """Index of the group of a sparse feature, by its name."""
    return next(i for i, group in enumerate(GROUPS) if name.startswith(f"{group}_"))


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**20), templates=templates_of(), distinct=st.booleans())
def test_lists_are_those_of_translations(directory, seed, templates, distinct):
    toy = random_toy(directory / f"{seed}-{hash(templates.model_dump_json())}", seed)
    maps, scales = add_templates(toy, templates, seed)
    sentence = random_sentence(seed, 0, 4)
    if sentence.words:
        all_vectors(toy, templates, maps, scales, sentence, seed)
    decoder = Decoder.load(toy.directory)
    expected = decoder.answer(sentence, Request(n=20, distinct=distinct, sparse="names")).nbest
    found = list_of(decoder, sentence, 20, distinct)
    features, weights = found.features, decoder.dense_weights
    assert found.texts == [one.text for one in expected]
    assert found.score.tolist() == [one.score for one in expected]
    plain = [name not in GROUPS for name in decoder.features.names()]
    assert features.dense.tolist() == [np.where(plain, flat(one.features), 0.0).tolist() for one in expected]
    names = {key: name for one in expected for key, name in one.sparse_names.items()}
    keys = list(dict.fromkeys(key for one in expected for key in one.sparse))
    assert features.keys.tolist() == keys
    assert features.groups.tolist() == [group_of(names[key]) for key in keys]
    for one, begin, end in zip(expected, features.first[:-1], features.first[1:], strict=True):
        columns = features.column[begin:end].tolist()
        values = features.value[begin:end]
        assert [keys[column] for column in columns] == list(one.sparse)
        scaled = [weights.sparse[group_of(names[key])] * value for key, value in one.sparse.items()]
        assert values == pytest.approx(scaled, rel=1e-12)
    scores = scores_of(features, weight_vector(weights, decoder.features), decoder.tables.sparse.weights)
    assert scores == pytest.approx(found.score, abs=2e-4)


@pytest.mark.needs_jit
def test_pairs_are_those_of_the_model_where_a_sentence_is_held_out(tmp_path):
    decoder = Decoder.load(trained(tmp_path, LINES))
    source, reference, alignment = LINES[0]
    points = tuple(tuple(map(int, point.split("-"))) for point in alignment.split())
    given = Input(source.split(), held_out=HeldOutPair(tuple(reference.split()), points))
    (table,) = decoder.nbest_tables([given], 10)
    with decoder.searcher.search(given) as result:
        assert result.source.tables.origin is not None
        found = hypothesis_list(result, 10, False)
    phrases, target = decoder.model.tables.phrases, decoder.model.target
    derivations = found.derivations
    for i, text in enumerate(found.texts):
        spans = [phrases.target_offsets[pair : pair + 2] for pair in derivations.derivation(i).pair.tolist()]
        assert text == " ".join(target.word(w) for span in spans for w in phrases.target_words[slice(*span)].tolist())
    assert derivations.phrases.pair.tolist() == table.pairs.tolist()
    assert derivations.offsets.tolist() == table.first.tolist()
    assert found.features.dense.tolist() == table.features.tolist()
    assert (found.features.first.tolist(), found.features.keys.size) == ([0] * (len(found.texts) + 1), 0)


def test_an_empty_sentence_has_what_was_typed(directory):
    toy = random_toy(directory / "typed", 6)
    add_templates(toy, Templates(rule_id=True, word_edges=WordEdges()), 6)
    decoder, prefix = Decoder.load(toy.directory), Prefix.read("s x")
    expected, found = decoder.complete("", "s x"), list_of(decoder, Input([], prefix=prefix), 5, True)
    assert (found.texts, found.score.tolist()) == (["s x"], [expected.score])
    weights = weight_vector(decoder.dense_weights, decoder.features)
    scores = scores_of(found.features, weights, decoder.tables.sparse.weights)
    assert scores == pytest.approx([expected.score])
