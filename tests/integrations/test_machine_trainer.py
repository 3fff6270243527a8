"""Models trained from a corpus of sil-machine."""

import pytest
from machine.corpora import ParallelTextCorpus, ParallelTextRow

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import read_lines
from phrasebeam.integrations.machine import PhrasebeamModel
from phrasebeam.integrations.machine_text import SideWords
from phrasebeam.integrations.machine_trainer import ModelTrainer

pytestmark = pytest.mark.needs_jit
RECIPE = {"stages": [{"kind": "train-model"}]}


def rows_of(corpus, n):
    """A corpus of the first lines, as text, of which one is empty."""
    texts = list(zip(*(list(read_lines(path))[:n] for path in corpus)))
    pairs = [*texts[:3], ("", "nothing"), *texts[3:]]
    rows = [ParallelTextRow("text", [i], [i], [source], [target]) for i, (source, target) in enumerate(pairs)]
    return ParallelTextCorpus.from_parallel_rows(rows)


def test_a_trained_model_takes_the_place_of_the_old(corpus, tmp_path):
    path = tmp_path / "model"
    trainer = ModelTrainer(rows_of(corpus, 200), path, (SideWords(lowercase=True), SideWords()), recipe=RECIPE)
    told = []
    with trainer:
        with pytest.raises(ConfigError, match="call train first"):
            trainer.save()
        trainer.train(told.append)
        assert [one.step for one in told] == [0, 1, 2] and not path.exists()
        trainer.save()
    assert trainer.stats.train_corpus_size == 200 and 0 < trainer.stats.metrics["bleu"] <= 100
    assert [one.name for one in tmp_path.iterdir()] == ["model"]
    with PhrasebeamModel(path, journal=tmp_path / "journal") as model:
        model.train_segment("der zwinger schläft .", "the kennel sleeps .")
        before = model.decoder.model.description.sentence_pairs
        with model.create_trainer(rows_of(corpus, 300)) as trainer:
            trainer.recipe = RECIPE
            trainer.train()
            trainer.save()
        assert model.decoder.model.description.sentence_pairs > before
        assert "kennel" in model.translate("der zwinger schläft .").target_tokens


def test_raw_text_stays_raw(corpus, raw_directory, tmp_path):
    with PhrasebeamModel(raw_directory) as model, model.create_trainer(rows_of(corpus, 100)) as trainer:
        assert trainer.languages == ("de", "en")


def test_too_small_a_corpus_leaves_nothing(corpus, tmp_path):
    message = "the corpus has 5 pairs of segments with words, expected at least 40"
    with ModelTrainer(rows_of(corpus, 5), tmp_path / "model") as trainer, pytest.raises(ConfigError, match=message):
        trainer.train()
    assert not list(tmp_path.iterdir())


def test_a_caller_can_stop_it(corpus, tmp_path):
    def stop():
        raise InterruptedError

    with ModelTrainer(rows_of(corpus, 50), tmp_path / "model") as trainer, pytest.raises(InterruptedError):
        trainer.train(check_canceled=stop)
    assert not list(tmp_path.iterdir())
