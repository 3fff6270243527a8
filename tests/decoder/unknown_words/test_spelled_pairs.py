"""Unknown words translated by letters: in search, lists, lattices, forced decoding, and where pairs are left out."""

from itertools import product

import numpy as np
import pytest

from phrasebeam.base.config import parse_config
from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.input.sentence_input import HeldOutPair, Input, Term
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.tables.model_files import LETTERS
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.decoder.translate.letter_forms import LetterForms
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from phrasebeam.training.recipe.letter_model import LetterModelStage, build_letter_model
from tests.decoder.unknown_words.test_related_pairs import score

pytestmark = pytest.mark.kernels

WORDS = ["".join(letters) for letters in product("kz", "aio", "mn", "aio", "ks")]  # k is written c, z is written s
PAIRS = [("der hund schläft", "the dog sleeps"), ("die nation spielt", "the nation plays")]
WEIGHTS = {"spelled_words": 0.5, "spelling": 0.7, "word_penalty": -0.1}


def respelled(word):
    """The form of a word; every eighth keeps its spelling."""
    return word if WORDS.index(word) % 8 == 5 else word.replace("k", "c").replace("z", "s")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("spelled")
    pairs = [*PAIRS, *((word, respelled(word)) for word in WORDS)]
    for name, lines in ("source", [f for f, _ in pairs]), ("target", [e for _, e in pairs]):
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
    points = [" ".join(f"{i}-{i}" for i in range(len(f.split()))) for f, _ in pairs]
    (directory / "alignment").write_text("".join(f"{line}\n" for line in points))
    config = parse_config({"phrases": {"max_length": 1}}, TrainModelConfig, "settings")
    files = (directory / name for name in ("source", "target", "model"))
    train_model(*files, config, directory / "alignment")
    model = directory / "model"
    stage = LetterModelStage(kind="letter-model", settings={"fewest_pairs": 10})
    assert build_letter_model(model, directory, stage.settings)
    (directory / LETTERS).rename(model / LETTERS)
    weights = {f"{name}: {value}\n" for name, value in WEIGHTS.items()}
    kept = [line for line in (model / "weights.yaml").read_text().splitlines(True) if "word_penalty: -1" not in line]
    (model / "weights.yaml").write_text("".join([*kept, *weights]))
    return model


@pytest.fixture(scope="module")
def decoder(directory):
    return Decoder.load(directory)


@pytest.mark.parametrize("algorithm", ["stack", "cube"])
def test_letters_of_unknown_words_are_translated(directory, algorithm):
    decoder = Decoder.load(directory, SearchSettings(algorithm=algorithm))
    found = decoder.nbest("der kazik schläft", 1000)
    texts = {one.text: one for one in found}
    assert {"the casic sleeps", "the kazik sleeps"} <= texts.keys()
    features = texts["the casic sleeps"].features
    assert (features["spelled_words"], features["unknown_word_penalty"]) == (1, -100)
    assert np.log(0.2) < features["spelling"] < 0
    copied = texts["the kazik sleeps"].features
    assert copied["spelled_words"] == 0
    assert copied["spelling"] < features["spelling"]
    for one in found:
        assert one.score == pytest.approx(score(decoder, one), abs=1e-6)


def test_the_probabilities_of_the_forms_are_those_of_a_list(decoder):
    forms = {one.phrases[0].target: one for one in decoder.nbest("kazik", 1000)}
    spelled = [one.features["spelling"] for one in forms.values() if one.features["spelled_words"]]
    assert 1 <= len(spelled) <= 5
    assert sum(np.exp(spelled)) <= 1 + 1e-9
    phrase = forms["casic"].phrases[0]
    assert (phrase.is_copied, phrase.is_fallback, phrase.is_unknown) == (False, False, True)
    assert phrase.alignment == ((0, 0),)


@pytest.mark.parametrize("word", ["1980", "kaz", "kazik" * 13, "…", "k1z2", "kazik.org", "kazik@mak", "&kazik;"])
def test_what_is_no_word_is_copied(decoder, word):
    assert [one.text for one in decoder.nbest(word, 1000)] == [word]


@pytest.mark.parametrize("word", ["kazi-kam", "kazi\u2019k", "kazi\u0301k"])
def test_hyphens_apostrophes_and_marks_are_parts_of_words(decoder, word):
    assert len(decoder.nbest(word, 1000)) > 1


def test_each_word_is_translated_once(directory, monkeypatch):
    asked = []
    decoder = Decoder.load(directory)
    monkeypatch.setattr(LetterForms, "__call__", lambda self, word: asked.append(word) or [("x", -1.0)])
    for _ in range(3):
        assert decoder.nbest("kazik", 2)
    assert asked == ["kazik"]


def test_models_without_the_weight_copy(directory):
    decoder = Decoder.load(directory)
    decoder.reweigh(decoder.model.weights.model_copy(update={"spelled_words": None, "spelling": None}))
    assert [one.text for one in decoder.nbest("kazik", 10)] == ["kazik"]
    assert [one.translation.text for one in decoder.answer_several(["kazik", "der kazik"], decoder.request)] == [
        "kazik",
        "the kazik",
    ]


def test_several_sentences_are_translated_as_alone(decoder):
    lines = ["der kazik", "kazik schläft", "der hund"]
    assert [one.translation.text for one in decoder.answer_several(lines, decoder.request)] == [
        decoder.translate(line).text for line in lines
    ]


@pytest.mark.parametrize("name", ["spelled_words", "spelling"])
def test_the_weight_needs_a_model_of_letters(directory, name):
    model = Decoder.load(directory).model._replace(letters=None)
    other = {"spelled_words", "spelling"} - {name}
    with pytest.raises(ModelError, match=f"{name} is given, but the model has no model of letters; remove it"):
        Decoder(model, weights=model.weights.model_copy(update=dict.fromkeys(other)))


def test_projects_translate_letters_until_a_translation_is_confirmed(directory, decoder):
    project = AdaptedDecoder.load(directory)
    options = [{one.text for one in each.nbest("der kazik", 1000)} for each in (project, decoder)]
    assert options[0] == options[1]
    project.confirm("der kazik", "the Kasik")
    texts = {one.text for one in project.nbest("kazik schläft", 1000)}
    assert "Kasik sleeps" in texts
    assert not texts & {"casic sleeps", "kazik sleeps"}


def test_words_of_lattices_are_translated_by_letters(directory):
    decoder = Decoder.load(directory)
    decoder.reweigh(decoder.model.weights.model_copy(update={"input_score": [0.5]}))
    columns = [[("der", 1.0)], [("kazik", 0.6), ("zazok", 0.4)]]
    found = {one.text: one for one in decoder.nbest(Input.from_confusion_network(columns), 1000)}
    assert {"the casic", "the sasoc", "the kazik", "the zazok"} <= found.keys()
    assert all(one.score == pytest.approx(score(decoder, one), abs=1e-6) for one in found.values())


def test_terms_are_not_translated_by_letters(decoder):
    given = Input(("kazik", "spielt"), terms=(Term(0, 1, ("Rex",)),), policy="exclusive")
    phrases = {phrase for one in decoder.nbest(given, 100) for phrase in one.phrases}
    assert {phrase.target for phrase in phrases if phrase.source == "kazik"} == {"Rex"}


def test_references_are_reached_by_letters(directory):
    decoder = ForcedDecoder.load(directory)
    assert decoder.force("der kazik", "the casic").status == "reachable"
    assert decoder.force("der kazik", "the dog").status != "reachable"


def test_a_training_sentence_is_not_translated_by_letters(decoder):
    """The model of letters learned from its words."""
    word = WORDS[0]
    left_out = Input((word,), held_out=HeldOutPair((respelled(word),), ((0, 0),), "drop"))
    assert [one.text for one in decoder.nbest(left_out, 1000)] == [word]
    assert respelled(word) in {one.text for one in decoder.nbest(word, 1000)}
