"""Development data: scores on one scale, tuned before where that is wanted; settings that trainers share."""

import jiwer
import numpy as np
import pytest
import sacrebleu

from phrasebeam.base.errors import FormatError
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.development_set import DevelopmentScorer, TunedWeights, read_development
from phrasebeam.training.common.settings import ScoringSettings, settings_with_effect
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.tuning.config import TuneConfig
from tests.decoder.models import random_toy

SOURCES = ["a b c", "b d a a", "c b", "a b d"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A toy model, and references that are like its translations."""
    directory = tmp_path_factory.mktemp("development")
    decoder = Decoder.load(random_toy(directory / "model", 7, most=3).directory)
    lists = [decoder.nbest(line, 20, distinct=True) for line in SOURCES]
    (directory / "source").write_text("".join(f"{line}\n" for line in SOURCES))
    for i, name in enumerate(("first", "second")):
        (directory / name).write_text("".join(f"{found[min(2 * i, len(found) - 1)].text}\n" for found in lists))
    return directory


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter", "wer", "cer"])
def test_scores_are_those_of_sacrebleu_and_higher_is_better(data, metric):
    decoder = Decoder.load(data / "model")
    texts = [translation.text for translation in decoder.translate_all(SOURCES)]
    corpus = BitextFiles(data / "source", [data / "second"])
    development = read_development(corpus, ScoringSettings(metric=metric))
    found = development.score(decoder)
    assert found.n_words == sum(len(text.split()) for text in texts)
    references = [(data / "second").read_text().splitlines()]
    if metric in ("wer", "cer"):
        expected = 100 * getattr(jiwer, metric)(references[0], texts)
    else:
        arguments = {"bleu": {"tokenize": "none"}, "chrf": {}, "ter": {"case_sensitive": True}}[metric]
        expected = getattr(sacrebleu, f"corpus_{metric}")(texts, references, **arguments).score
    assert development.reported(found.score) == pytest.approx(expected)
    sign = 1 if metric in ("bleu", "chrf") else -1
    assert found.score == sign * development.reported(found.score)
    assert found.chrfpp == pytest.approx(sacrebleu.corpus_chrf(texts, references, word_order=2).score)


def test_weights_are_tuned_before_they_are_scored_if_that_is_wanted(data):
    decoder = Decoder.load(data / "model")
    development = read_development(BitextFiles(data / "source", [data / "first"]), ScoringSettings(threads=1))
    weights, sparse = decoder.model.weights, decoder.tables.sparse.weights
    tuned, asked = weights.model_copy(update={"distortion": 3.0}), []

    def tune(name, model):
        asked.append((name, model.weights))
        return TunedWeights(tuned, 0.0)

    plain, dense = DevelopmentScorer(development, decoder).score_tuned("no", weights, sparse)
    assert plain == development.score(Decoder.load(data / "model"))
    assert plain.score == 100.0
    scorer = DevelopmentScorer(development, decoder, tune)
    score, found = scorer.score_tuned("yes", weights, sparse)
    assert asked == [("yes", weights)]
    assert score == scorer.score(tuned, sparse)
    assert found.tolist() == weight_vector(decoder.dense_weights, decoder.features).tolist()
    assert np.count_nonzero(found != dense) == 1


def test_files_must_be_parallel(data, tmp_path):
    (tmp_path / "short").write_text("a\n")
    for source, references in ((data / "source", [data / "first", tmp_path / "short"]), (tmp_path / "short", [])):
        corpus = BitextFiles(source, [*references, data / "first"])
        with pytest.raises(FormatError, match="expected the same number"):
            read_development(corpus, ScoringSettings())


def test_settings_without_effect_are_left_out():
    for config, left_out in (
        (TuneConfig(), {"iterations", "threads", "memory", "seeds", "c"}),
        (MaxforceConfig(), {"iterations", "patience", "checkpoint", "threads", "names", "memory", "seeds"}),
        (ExpectedBleuConfig(), {"iterations", "score_every", "threads", "memory"}),
    ):
        assert {*config.model_dump()} - {*settings_with_effect(config)} == left_out
