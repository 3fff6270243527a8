"""Several trainings of the perceptron, and the mean of what they learn."""

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.config import parse_config
from phrasebeam.cli import main
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.sparse_weights import open_sparse_weights, used
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.common.best_weights import BestWeights
from phrasebeam.training.maxforce.maxforce_model import WORK
from phrasebeam.training.maxforce.mean import mean
from phrasebeam.training.tuning.tune import Tuner
from tests.training.maxforce.maxforce_toy import QUICK, RUN, Killed, learned_with, make_data, options, weights_of


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("maxforce")
    make_data(directory)
    return directory


def best_of(directory):
    """The weights of a training, by feature, and its dense ones."""
    with np.load(directory / "best.npz") as arrays:
        return dict(zip(arrays["keys"].tolist(), arrays["values"].tolist())), arrays["dense"]


def test_of_several_seeds_the_mean_is_written(data, tmp_path, capsys):
    both, alone = tmp_path / "both", tmp_path / "alone"
    assert main(options(data, both, "--seed", "1", "--seed", "2")) == 0
    printed = capsys.readouterr().out
    assert main(options(data, alone, "--seed", "2")) == 0
    (one, dense), (other, other_dense) = (best_of(both / WORK / f"seed-{seed}") for seed in (1, 2))
    assert one != other
    assert best_of(alone / WORK / "seed-2")[0] == other  # whatever was learned before
    expected = {key: (one.get(key, 0.0) + other.get(key, 0.0)) / 2 for key in {*one, *other}}
    keys, values = used(open_sparse_weights(both / "sparse"))
    assert dict(zip(keys.tolist(), values.tolist())) == pytest.approx(expected)
    decoder = Decoder.load(both, parse_config(QUICK["search"], SearchSettings, "settings"))
    assert weight_vector(decoder.dense_weights, decoder.features) == pytest.approx((dense + other_dense) / 2)
    source, target = ((data / f"dev.{name}").read_text().splitlines() for name in ("source", "target"))
    translated = [translation.text for translation in decoder.translate_all(source)]
    score = sacrebleu.corpus_bleu(translated, [target], tokenize="none").score
    assert printed.splitlines()[-1] == f"mean of all seeds: {score:.2f}"
    names = (both / "sparse" / "names").read_text().splitlines()
    assert {int(line.split("\t")[0], 16) for line in names} == {*expected}


def test_seeds_can_be_added_to_what_was_learned(data, tmp_path):
    whole = learned_with(data, tmp_path / "whole", seeds=[1, 2])
    first = learned_with(data, tmp_path / "more", seeds=[1])
    assert first.mean is None
    checkpoint = tmp_path / "more" / RUN / "checkpoint.npz"
    written = checkpoint.stat().st_mtime_ns
    assert learned_with(data, tmp_path / "more", seeds=[1, 2]).mean == whole.mean
    assert checkpoint.stat().st_mtime_ns == written  # nothing was learned again
    assert weights_of(tmp_path / "more") == weights_of(tmp_path / "whole")
    assert learned_with(data, tmp_path / "more", seeds=[2, 3]).mean.best.keys() == {2, 3}
    assert weights_of(tmp_path / "more") != weights_of(tmp_path / "whole")


def test_the_mean_is_tuned(data, tmp_path, monkeypatch):
    tune = {"method": "mert", "iterations": 3, "nbest": 10}
    settings = {"rates": {"word_edges": 1e-3}, "iterations": 1, "seeds": [1, 2]}
    whole = learned_with(data, tmp_path / "whole", tune=tune, **settings)
    assert whole.mean.score > learned_with(data, tmp_path / "plain", **settings).mean.score
    finish = Tuner.finish

    def die_of_the_mean(tuner):
        if tuner.run.directory.parent.name.startswith("mean"):
            raise Killed
        finish(tuner)

    monkeypatch.setattr(Tuner, "finish", die_of_the_mean)
    with pytest.raises(Killed):
        learned_with(data, tmp_path / "killed", tune=tune, **settings)
    monkeypatch.undo()
    assert learned_with(data, tmp_path / "killed", tune=tune, **settings).mean == whole.mean
    assert weights_of(tmp_path / "killed") == weights_of(tmp_path / "whole")


WEIGHTS = st.lists(
    st.tuples(st.floats(-2, 2), st.dictionaries(st.integers(1, 2**64 - 1), st.floats(-2, 2))), min_size=1, max_size=4
)


@pytest.mark.kernels
@given(WEIGHTS)
@settings(deadline=None)
def test_the_mean_is_that_of_all_features(weights):
    def as_best(dense, values):
        keys = np.array(list(values), np.uint64)
        groups = (keys % np.uint64(5)).astype(np.uint8)
        return BestWeights(np.array([dense]), keys, np.array(list(values.values()), float), groups)

    found = mean((as_best(*one) for one in weights), len(weights))
    n = len(weights)
    expected = {
        key: sum(values.get(key, 0.0) for _, values in weights) / n for key in set().union(*(v for _, v in weights))
    }
    assert found.dense[0] == pytest.approx(sum(dense for dense, _ in weights) / n)
    assert {**dict.fromkeys(expected, 0.0), **dict(zip(found.keys.tolist(), found.values.tolist()))} == pytest.approx(
        expected
    )
    assert (found.group == found.keys % np.uint64(5)).all()
