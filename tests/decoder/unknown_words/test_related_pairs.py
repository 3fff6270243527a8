"""Unknown words translated by known ones: in search, lists, forced decoding, and with sentence pairs left out."""

import pytest

from phrasebeam.base.config import parse_config
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.input.sentence_input import HeldOutPair, Input, Term
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model

pytestmark = pytest.mark.kernels

PAIRS = [
    ("der hund schläft", "the dog sleeps"),
    ("die katze spielt", "the cat plays"),
    ("der garten ist gross", "the garden is large"),
    ("der hund spielt", "the dog plays"),
    ("das blau ist schön", "the blue is fine"),
    ("das haus ist schön", "the house is fine"),
    ("das Haustier spielen", "the pet play"),
    ("die häuser sind gross", "the houses are large"),
    ("die häusern spielen", "the homes play"),
    ("die blumen blume", "the bloom flower"),
    ("die blume schläft", "the flower sleeps"),
]
WEIGHTS = {"related_words": 0.5, "word_penalty": -0.1}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("related")
    for name, lines in ("source", [f for f, _ in PAIRS]), ("target", [e for _, e in PAIRS]):
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
    points = [" ".join(f"{i}-{i}" for i in range(len(f.split()))) for f, _ in PAIRS]
    (directory / "alignment").write_text("".join(f"{line}\n" for line in points))
    config = parse_config({"weights": WEIGHTS, "phrases": {"max_length": 1}}, TrainModelConfig, "settings")
    files = (directory / name for name in ("source", "target", "model"))
    train_model(*files, config, directory / "alignment")
    return directory / "model"


@pytest.fixture(scope="module")
def decoder(directory):
    return Decoder.load(directory)


def held_out(number, mode="drop", source=None):
    f, e = PAIRS[number]
    points = tuple((i, i) for i in range(len(f.split())))
    return Input(tuple((source or f).split()), held_out=HeldOutPair(tuple(e.split()), points, mode))


@pytest.mark.parametrize(
    ("word", "expected", "n_words"),
    [
        ("hunde", "dog", 1),  # another inflection
        ("Garten", "garden", 1),  # another casing
        ("hundehaus", "dog house", 2),  # compounds
        ("katzenhausgartens", "cat house garden", 3),
        ("blau-gross", "blue large", 2),
        ("hunde-xy", "dog xy", 1),  # what nothing is known of is copied
        ("unbekannt", "unbekannt", 0),
    ],
)
def test_known_words_stand_in_place_of_unknown_ones(decoder, word, expected, n_words):
    found = decoder.nbest(f"der {word}", 1000)
    texts = {one.text: one for one in found}
    assert {f"the {expected}", f"the {word}"} <= texts.keys()
    features = texts[f"the {expected}"].features
    assert (features["related_words"], features["unknown_word_penalty"]) == (n_words, -100)
    assert texts[f"the {word}"].features["related_words"] == 0
    for one in found:
        assert one.score == pytest.approx(score(decoder, one), abs=1e-6)


def score(decoder, translation):
    """Weights times features."""
    total, weights = 0.0, decoder.dense_weights
    for name, value in translation.features.items():
        weight = getattr(weights, name)
        total += float((weight * value) if isinstance(value, float | int) else weight @ value)
    return total


@pytest.mark.parametrize("algorithm", ["stack", "cube"])
def test_scores_are_those_of_the_known_words(directory, algorithm):
    decoder = Decoder.load(directory, SearchSettings(algorithm=algorithm))
    known, unknown = (decoder.nbest(word, 1)[0] for word in ("hund", "hunds"))
    assert unknown.features["translation"] == pytest.approx(known.features["translation"])
    copied, related = (one.phrases[0] for one in (decoder.translate("unbekannt"), unknown))
    assert (copied.is_copied, related.is_copied, related.is_fallback) == (True, False, False)
    assert (copied.is_unknown, related.is_unknown, known.phrases[0].is_unknown) == (True, True, False)
    assert related.alignment == ((0, 0),)


def test_models_without_the_weight_copy(directory):
    decoder = Decoder.load(directory)
    decoder.reweigh(decoder.model.weights.model_copy(update={"related_words": None}))
    assert [one.text for one in decoder.nbest("hunds", 10)] == ["hunds"]


def test_projects_translate_by_known_words_until_a_translation_is_confirmed(directory, decoder):
    project = AdaptedDecoder.load(directory)
    options = [{one.text for one in each.nbest("der hunds", 100)} for each in (project, decoder)]
    assert options[0] == options[1]
    project.confirm("der hunds", "the hound")
    other = AdaptedDecoder(decoder.model, static=project.memory.static)
    assert other.searcher.preparer._related is project.searcher.preparer._related  # one index of words for all projects
    texts = {one.text for one in project.nbest("hunds spielt", 100)}
    assert "hound plays" in texts
    assert not texts & {"dog plays", "hunds plays"}


def test_words_of_lattices_are_translated_by_known_ones(directory):
    decoder = Decoder.load(directory)
    decoder.reweigh(decoder.model.weights.model_copy(update={"input_score": [0.5]}))
    columns = [[("der", 1.0)], [("hunds", 0.6), ("katzes", 0.4)]]
    found = {one.text: one for one in decoder.nbest(Input.from_confusion_network(columns), 1000)}
    assert {"the dog", "the cat", "the hunds", "the katzes"} <= found.keys()
    assert found["the cat"].features["related_words"] == 1
    assert found["the cat"].phrases[1].source == "katzes"
    assert all(one.score == pytest.approx(score(decoder, one), abs=1e-6) for one in found.values())


def test_terms_are_not_translated_by_other_words(decoder):
    term = Term(0, 1, ("Rex",))
    found = decoder.nbest(Input(("hunds", "spielt"), terms=(term,), policy="exclusive"), 100)
    assert found and {one.text.split()[0] for one in found if one.phrases[0].source == "hunds"} == {"Rex"}


def test_references_are_reached_by_known_words(directory):
    decoder = ForcedDecoder.load(directory)
    assert decoder.force("der hunds", "the dog").status == "reachable"
    assert decoder.force("der unbekannt", "the dog").status != "reachable"


def test_words_of_one_sentence_are_unknown_where_it_is_left_out(decoder):
    texts = {one.text.split()[1] for one in decoder.nbest(held_out(7), 1000)}
    assert {"homes", "häuser"} <= texts
    assert "houses" not in texts


def test_other_words_of_the_sentence_say_nothing_where_it_is_left_out(decoder):
    phrases = {phrase for one in decoder.nbest(held_out(9), 1000) for phrase in one.phrases}
    assert {phrase.target for phrase in phrases if phrase.source == "blumen"} == {"blumen"}
    assert {phrase.target for phrase in phrases if phrase.source == "blume"} == {"flower"}


def test_pairs_that_occur_once_are_not_used_where_they_are_left_out(decoder):
    found = decoder.nbest(held_out(1, "singletons", "spielte hundes haustiere katze"), 1000)
    words = {word for one in found for word in one.text.split()}
    assert {"dog", "plays", "haustiere", "katze"} <= words
    assert not {"cat", "pet"} & words
