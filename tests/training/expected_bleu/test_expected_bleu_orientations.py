"""Features by orientation, set (d): in lists, in the gradient, and in the scores of a decoder."""

import random
from collections import Counter

import numpy as np
import pytest

from phrasebeam.base.errors import ConfigError, ModelError
from phrasebeam.decoder.features.reordering import UNSEEN
from phrasebeam.decoder.model.description import accept_files
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.common.derived_model import DerivedModel, Making
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.expected_bleu.learners import FeatureLearner
from phrasebeam.training.expected_bleu.list_store import Events, ListStore, ScoredList
from phrasebeam.training.expected_bleu.scored_model import Scores, write_scored
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from tests.naive.search import KINDS, orientations

N_LISTS, N_BEST = 12, 8
LINES = ["a b c d", "d c b", "b a d c a", "c"]


@pytest.fixture(scope="module", params=[("hier", "msd"), ("hier", "mslr"), ("word", "msd")], ids="-".join)
def model(request, tmp_path_factory):
    """A model of sentences whose words come in any order."""
    directory = tmp_path_factory.mktemp("orientations")
    rng, texts = random.Random(1), {"source": [], "target": [], "alignment": []}
    for _ in range(60):
        source = [rng.choice("abcd") for _ in range(rng.randint(2, 5))]
        order = rng.sample(range(len(source)), len(source))
        texts["source"].append(" ".join(source))
        texts["target"].append(" ".join(source[i].upper() for i in order))
        texts["alignment"].append(" ".join(f"{i}-{j}" for j, i in enumerate(order)))
    for name, lines in texts.items():
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
    kind = dict(zip(("orientation", "kind"), request.param))
    settings = {"reordering": kind, "language_model": {"order": 2}, "threads": 1}
    config = TrainModelConfig.model_validate(settings)
    train_model(directory / "source", directory / "target", directory / "model", config, directory / "alignment")
    return directory / "model"


def store_of(model, directory):
    """Some lists; what BLEU they have does not matter."""
    store = ListStore(directory, "", len(open_model(model).tables.phrases.ln_scores))
    rng, lines = np.random.default_rng(1), (LINES * N_LISTS)[:N_LISTS]
    for i, table in enumerate(Decoder.load(model).nbest_tables(lines, N_BEST + 1)):
        phrases = Events(table.pairs, table.orientations)
        store.add(ScoredList(table.score, rng.random(table.score.size), table.first, phrases))
        if i % 5 == 0:
            store.commit(i)
    store.commit(N_LISTS, is_whole=True)
    return store


def naive_orientations(reordering, spans):
    """(before, after) of each phrase; after the last one comes nothing."""
    found = [orientations(reordering, spans[:i], span) for i, span in enumerate(spans)]
    return list(zip([one[0] for one in found], [*(one[1] for one in found[1:]), int(UNSEEN)]))


@pytest.mark.kernels
def test_lists_know_how_phrases_lie(model):
    decoder, n_found = Decoder.load(model), Counter()
    for line, table in zip(LINES, decoder.nbest_tables(LINES, 50)):
        nbest = decoder.nbest(line, 50)
        assert table.first.size == len(nbest) + 1
        for one, begin, end in zip(nbest, table.first, table.first[1:]):
            spans = [phrase.source_span for phrase in one.phrases]
            expected = naive_orientations(decoder.model.description.reordering, spans)
            assert list(map(tuple, table.orientations[begin:end].tolist())) == expected
            n_found.update(before for before, _ in expected)
    assert len(n_found) > 2


def test_events_are_phrases_in_their_orientations(model, tmp_path):
    store = store_of(model, tmp_path / "lists")
    events, lists, place = store.events(), store.lists(), 0
    assert len(set(zip(events.pair.tolist(), events.codes().tolist()))) == events.pair.size
    assert np.unique(events.pair).size < events.pair.size
    for table in Decoder.load(model).nbest_tables((LINES * N_LISTS)[:N_LISTS], N_BEST + 1):
        found = events.take(lists.event[place : place + table.pairs.size])
        place += table.pairs.size
        assert found.pair.tolist() == table.pairs.tolist()
        assert found.orientations.tolist() == table.orientations.tolist()
    assert place == lists.event.size
    store.close()
    again = ListStore(tmp_path / "lists", "", len(open_model(model).tables.phrases.ln_scores))
    rows, cells = np.nonzero(again._event != -1)
    assert (again._event[again._row[events.pair], events.codes()] == np.arange(events.pair.size)).all()
    assert rows.size == cells.size == events.pair.size
    again.close()


def learner_of(model, directory, features):
    config = ExpectedBleuConfig.model_validate({"features": features, "threads": 1, "tau": 0.01})
    return FeatureLearner(open_model(model), store_of(model, directory), config)


@pytest.mark.parametrize("features", [["d"], ["a", "d"]])
def test_gradient_is_that_of_finite_differences(model, tmp_path, features):
    learner, rng = learner_of(model, tmp_path / "lists", features), np.random.default_rng(2)
    weights = rng.normal(size=learner.size)
    _, gradient = learner.objective.at(weights)
    assert np.count_nonzero(gradient) == gradient.size
    fired = np.unique(np.concatenate([design.feature for design in learner.objective.designs]))
    for feature in rng.choice(fired, 8, replace=False):
        step = np.zeros(learner.size)
        step[feature] = 1e-5
        above, below = (learner.objective.at(weights + sign * step)[0].objective for sign in (1, -1))
        assert gradient[feature] == pytest.approx((above - below) / 2e-5, abs=1e-6)


def learned_model(model, output, learner, weights, tuned):
    """The model with the scores that `weights` of features make."""
    scores = Scores(learner.table_scores(weights), learner.orientation_scores(weights))
    derived = DerivedModel(model, learner.opened, output, output, {})
    write_scored(derived, scores, tuned, Making("train-expected-bleu", {}))


@pytest.mark.kernels
def test_translations_score_what_was_learned(model, tmp_path):
    """Also where scores are learned twice: those of either time are columns and weights of their own."""
    before = open_model(model)
    reordering, n_translation = before.description.reordering, before.tables.phrases.ln_scores.shape[1]
    kinds = list(dict.fromkeys(KINDS[reordering.kind]))
    rng, amounts, learned = np.random.default_rng(3), [], model
    for number in range(2):
        learner = learner_of(learned, tmp_path / f"lists{number}", ["a", "d"])
        weights = rng.normal(size=learner.size)
        amounts.append((learner, weights))
        tuned = learner.model_weights()
        tuned = tuned.model_copy(update={"reordering": rng.normal(size=len(tuned.reordering)).tolist()})
        learned_model(learned, tmp_path / f"model{number}", learner, weights, tuned)
        learned = tmp_path / f"model{number}"
    decoder = Decoder.load(learned)
    vector = np.concatenate([np.atleast_1d(getattr(tuned, name)) for name, _ in decoder.features.groups])
    n_columns, n_scored = 2 * len(kinds), 0
    for table in decoder.nbest_tables(LINES, 20):
        for k in range(table.score.size):
            assert table.features[k] @ vector == pytest.approx(table.score[k])
            phrases = slice(*table.first[k : k + 2])
            expected = np.zeros((2, n_columns))
            for row, (learner, weights) in zip(expected, amounts):
                known = learner.by_orientation.numbers.tolist()
                for pair, sides in zip(table.pairs[phrases].tolist(), table.orientations[phrases].tolist()):
                    for direction, which in enumerate(sides):
                        if which != UNSEEN:
                            column = direction * len(kinds) + kinds.index(KINDS[reordering.kind][which])
                            if (feature := pair * n_columns + column) in known:
                                row[column] += weights[learner.features.size + known.index(feature)]
                                n_scored += 1
            found = table.features[k, n_translation + 2 :][: 3 * n_columns]
            np.testing.assert_allclose(found[n_columns:], expected.ravel(), rtol=1e-4, atol=1e-5)
    assert n_scored > 100
    assert decoder.features.groups[0] == ("translation", n_translation + 2)
    assert decoder.features.groups[1] == ("reordering", 3 * n_columns)


def test_a_table_that_lacks_what_was_learned_is_refused(model, tmp_path):
    learner = learner_of(model, tmp_path / "lists", ["d"])
    learned_model(model, tmp_path / "out", learner, learner.start(), learner.model_weights())
    path = tmp_path / "out" / "reordering" / "ln_scores.npy"
    path.unlink()
    path.write_bytes((model / "reordering" / "ln_scores.npy").read_bytes())
    accept_files(tmp_path / "out")
    with pytest.raises(ModelError, match="1 times learned, has"):
        open_model(tmp_path / "out")


def test_features_of_orientations_need_a_model_of_them(model, tmp_path):
    learner = learner_of(model, tmp_path / "lists", ["d"])
    opened = learner.opened
    without = opened._replace(description=opened.description.model_copy(update={"reordering": None}))
    with pytest.raises(ConfigError, match=r"orientations \(d\), and the model has no lexicalized reordering"):
        FeatureLearner(without, ListStore(tmp_path / "lists", "", len(opened.tables.phrases.ln_scores)), learner.config)
