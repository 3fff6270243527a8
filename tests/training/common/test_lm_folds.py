"""Folds of language models: each is the model of the other sentences, and decodes its own."""

import shutil
from dataclasses import replace

import pytest

from phrasebeam.base.config import save_config
from phrasebeam.base.errors import ConfigError, FormatError, ModelError
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.held_out.training_sentences import TrainingFiles, with_references
from phrasebeam.decoder.input.sentence_input import HeldOutPair, Input
from phrasebeam.decoder.model.language_model_folds import fold_of, numbers_with_folds, open_folds
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.tables.language_models import LN10
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.lm.estimate import estimate
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.text.word_classes import write_paths
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.build_lm_folds import FoldedModel, build_lm_folds
from phrasebeam.training.common.settings import TrainingDataSettings
from phrasebeam.training.common.training_data import training_folds, training_pairs
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from tests.decoder.held_out.test_leave_one_out import LINES, trained

pytestmark = pytest.mark.kernels

N = 2


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    directory = tmp_path_factory.mktemp("folds")
    path = trained(directory, LINES)
    save_config(Weights(language_model=[0.5]), path / "weights.yaml")
    build_lm_folds(directory / "target", path / "lm-folds", N, {1: FoldedModel(2)})
    return path


def rest(directory, fold, order=2, classes=None):
    lines = [line for i, (_, line, _) in enumerate(LINES) if i % N != fold]
    (directory / "rest").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return LanguageModel.from_ngrams(estimate(directory / "rest", order, classes=classes))


def test_every_sentence_is_decoded_by_a_model_that_has_not_seen_it(model, tmp_path):
    opened = open_model(model)
    decoder = Decoder(opened, folds=open_folds(model / "lm-folds", opened))
    unseen = Decoder(opened)
    for i, (source, target, alignment) in enumerate(LINES):
        points = tuple(tuple(map(int, point.split("-"))) for point in alignment.split())
        held_out = HeldOutPair(tuple(target.split()), points, fold=fold_of(i, N))
        given = Input(source.split(), held_out=held_out)
        found = decoder.translate(given)
        ln_lm = LN10 * rest(tmp_path, i % N).score(found.text.split())
        assert found.features["language_model"] == pytest.approx([ln_lm], abs=1e-5)
        other = unseen.translate(replace(given, held_out=replace(held_out, fold=None)))
        ln_lm = LN10 * LanguageModel.load(model / "lm.bin").score(other.text.split())
        assert other.features["language_model"] == pytest.approx([ln_lm], abs=1e-5)


def test_the_language_model_alone_may_have_not_seen_a_sentence(model, tmp_path):
    opened = open_model(model)
    decoder = Decoder(opened, folds=open_folds(model / "lm-folds", opened))
    (tmp_path / "reference").write_text("".join(f"{target}\n" for _, target, _ in LINES), encoding="utf-8")
    inputs = [Input(source.split()) for source, _, _ in LINES]
    files = TrainingFiles(tmp_path / "reference", None, n_folds=N)
    for i, (given, reference) in enumerate(with_references(inputs, files)):
        assert reference == tuple(LINES[i][1].split())
        found = decoder.translate(given)
        ln_lm = LN10 * rest(tmp_path, i % N).score(found.text.split())
        assert found.features["language_model"] == pytest.approx([ln_lm], abs=1e-5)
        known = [one for one in decoder.nbest(inputs[i], 200) if one.phrases == found.phrases]
        assert found.features["translation"] == pytest.approx(known[0].features["translation"])


def test_all_language_models_of_the_training_data_have_folds(tmp_path):
    words = sorted({word for _, target, _ in LINES for word in target.split()})
    classes = {word: str(number % 2) for number, word in enumerate(words)}
    write_paths(tmp_path / "classes", ((path, word, 1) for word, path in classes.items()))
    files = [tmp_path / name for name in ("source", "target", "alignment", "other")]
    for file, column in zip(files, [*zip(*LINES), [" ".join(reversed(words))]], strict=True):
        file.write_text("".join(f"{line}\n" for line in column), encoding="utf-8")
    further = [{"classes": str(tmp_path / "classes"), "order": 3}, {"text": [str(files[3])]}]
    config = TrainModelConfig.model_validate({"language_model": {"order": 2}, "language_models": further})
    train_model(*files[:2], tmp_path / "model", config, files[2])
    save_config(Weights(language_model=[0.5, 0.2, 0.1]), tmp_path / "model" / "weights.yaml")
    opened, settings = open_model(tmp_path / "model"), TrainingDataSettings(lm_folds=N)
    data = BitextFiles(files[0], [files[1]], files[2])
    decoder = Decoder(opened, folds=training_folds(data, opened, tmp_path / "folds", settings, 1 << 30))
    for i, (given, _) in enumerate(training_pairs(data, settings)):
        found = decoder.translate(given)
        target = found.text.split()
        expected = [
            rest(tmp_path, i % N).score(target),
            rest(tmp_path, i % N, 3, classes).score([classes.get(word, "<unk>") for word in target]),
            opened.language_models[2].model.score(target),
        ]
        assert found.features["language_model"] == pytest.approx([LN10 * score for score in expected], abs=1e-5)


def test_of_a_model_from_elsewhere_only_the_first_is_known(model):
    opened = open_model(model)
    two = opened._replace(language_models=opened.language_models * 2)
    assert numbers_with_folds(two) == [1, 2]
    description = opened.description.model_copy(update={"data": {}})
    assert numbers_with_folds(two._replace(description=description)) == [1]


def test_what_is_not_there_is_refused(model, tmp_path):
    opened = open_model(model)
    given = Input(["das"], held_out=HeldOutPair((), (), fold=N))
    with pytest.raises(ConfigError, match="the sentence is in fold 2, but there are 2 language model folds"):
        Decoder(opened, folds=open_folds(model / "lm-folds", opened)).translate(given)
    with pytest.raises(ModelError, match=r"folds\.yaml: missing; estimate the folds again"):
        open_folds(tmp_path, opened)
    with pytest.raises(ConfigError, match="1 folds of the language model, expected at least 2"):
        build_lm_folds(tmp_path / "text", tmp_path / "folds", 1, {1: FoldedModel(2)})
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_named(model, tmp_path):
    build_lm_folds(model.parent / "target", tmp_path / "folds", 3, {1: FoldedModel(2)}, more=[model.parent / "source"])
    assert sorted(path.name for path in (tmp_path / "folds").iterdir()) == ["0.bin", "1.bin", "2.bin", "folds.yaml"]
    (tmp_path / "folds" / "1.bin").unlink()
    with pytest.raises(ModelError, match=r"1\.bin: missing"):
        open_folds(tmp_path / "folds", open_model(model))


def test_changed_folds_are_refused(model, tmp_path):
    directory = shutil.copytree(model / "lm-folds", tmp_path / "lm-folds")
    data = (directory / "1.bin").read_bytes()
    (directory / "1.bin").write_bytes(data[:200] + bytes([data[200] ^ 1]) + data[201:])
    with pytest.raises(FormatError, match=r"1\.bin: .* bytes, crc32 .*, expected .* bytes, crc32 .*estimate"):
        open_folds(directory, open_model(model))
