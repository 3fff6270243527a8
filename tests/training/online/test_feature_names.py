"""Names of features, computed from the derivations of updates, are those of n-best lists."""

import random

import numpy as np
import pytest

from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.sparse.levels import WordEdges
from phrasebeam.decoder.sparse.templates import Templates
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.online import feature_names
from phrasebeam.training.online.update_log import Record
from tests.decoder.features.test_sparse_features import WITHOUT_TAGS, add_templates
from tests.decoder.models import random_toy
from tests.naive.phrase_templates import PHRASE_GROUPS

pytestmark = pytest.mark.kernels

LINES = ["a b c", "c x a", "b d"]
GROUPS = [*PHRASE_GROUPS, "rule_id", "rule_bigram", "rule_history", "rule_reordering", "class_reordering"]


@pytest.fixture(scope="module")
def updates(tmp_path_factory):
    """A model, sentences, records of derivations in random order, and the names in the n-best lists by sentence."""
    toy, rng = random_toy(tmp_path_factory.mktemp("toys") / "toy", 5, most=3), random.Random(5)
    edges, groups = WordEdges(budget=8, most_words=2), dict.fromkeys(GROUPS, True)
    add_templates(toy, Templates(levels=WITHOUT_TAGS, word_edges=edges, **groups), 5)
    decoder = Decoder(open_model(toy.directory))
    sentences, records, names = [decoder.input_of(line) for line in LINES], [], []
    for number, given in enumerate(sentences):
        with decoder.searcher.search(given) as result:
            found = result.derivations(6, distinct=False)
            listed = [found.derivation(i) for i in range(found.score.size)]
            names.append({})
            for derivation in listed:
                result.sparse_values(derivation, names[-1], with_names=True)
            records += [Record(number, *map(result.with_model_pairs, pair)) for pair in zip(listed, reversed(listed))]
    rng.shuffle(records)
    return decoder.model, dict(enumerate(sentences)), records, names


def keys_of(names):
    return np.array([*names], np.uint64)


@pytest.mark.parametrize("together", [3, 1 << 15])
def test_names_are_those_of_lists(updates, monkeypatch, together):
    model, sentences, records, names = updates
    monkeypatch.setattr(feature_names, "READ_TOGETHER", together)
    expected = names[0] | names[1] | names[2]
    assert len(expected) > 500
    assert feature_names.names_of(keys_of(expected), records, sentences, model) == expected


def test_only_those_that_are_asked_for(updates):
    model, sentences, records, names = updates
    asked = dict(random.Random(1).sample(sorted(names[1].items()), 20))
    absent = np.array([1, 2], np.uint64)
    keys = np.concatenate([keys_of(asked), absent])
    assert feature_names.names_of(keys, records, sentences, model) == asked


def test_no_more_records_are_read_when_all_are_found(updates, monkeypatch):
    model, sentences, records, names = updates
    monkeypatch.setattr(feature_names, "READ_TOGETHER", 1)
    of_first = [record for record in records if record.number == 0]
    first = feature_names.Namer(model).names(sentences[0], of_first[0][1:], set(names[0]))
    reading = iter(of_first)
    assert feature_names.names_of(keys_of(first), reading, sentences, model) == first
    assert len([*reading]) == len(of_first) - 1
