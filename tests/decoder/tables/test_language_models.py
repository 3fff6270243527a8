"""Several language models, over words and over classes, against brute force with each model as a dict."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.config import load_config, save_config
from phrasebeam.base.errors import ConfigError, FormatError, ModelError
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import LanguageModelFile, ModelDescription
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.tables.language_models import TargetModel, join_language_models
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary
from phrasebeam.lm.text.vocabulary import Vocabulary
from tests.decoder.models import SOURCE, TARGET, random_lm, random_toy
from tests.naive import ngrams
from tests.naive.search import LN10, derivations, features

pytestmark = pytest.mark.kernels

SEEDS = st.integers(0, 2**20)
UNLIMITED = {"stack": 0, "pop_limit": 0, "beam_threshold": 0, "table_limit": 0}
CLASSES = {word: TARGET[i % 2] for i, word in enumerate([*TARGET, *SOURCE[:2]])}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("toys")


def add_language_models(toy, rng, kinds):
    """Give the model further language models, `words` or `classes`: (LM as a dict, order, classes, weight) of each."""
    description = load_config(toy.directory / "model.yaml", ModelDescription)
    weights = load_config(toy.directory / "weights.yaml", Weights)
    added = []
    for number, kind in enumerate(kinds, 2):
        order = rng.randint(2, 4)
        lm = random_lm(toy.directory / f"text{number}", rng, order)
        (toy.directory / f"text{number}" / "lm.bin").rename(toy.directory / f"lm{number}.bin")
        entry = LanguageModelFile(file=f"lm{number}.bin", classes="classes" if kind == "classes" else None)
        description.language_models.append(entry)
        added.append((lm, order, CLASSES if kind == "classes" else None, rng.uniform(-0.2, 1)))
    (toy.directory / "classes").write_text("".join(f"{word} {name}\n" for word, name in CLASSES.items()))
    weights.language_model.extend(weight for *_, weight in added)
    save_config(description, toy.directory / "model.yaml")
    save_config(weights, toy.directory / "weights.yaml")
    return added


def naive_ln(lm, order, classes, text):
    """ln p of a text by one of the models."""
    words = ["<s>", *(word if classes is None else classes.get(word, "<unk>") for word in text), "</s>"]
    scores = [ngrams.score(lm, words[max(0, i - order + 1) : i], words[i])[0] for i in range(1, len(words))]
    return LN10 * float(np.sum(scores, dtype=np.float64))


def enumerate_all(toy, added, words):
    """{(spans and targets): (score, ln p by each of the added models)}"""
    found = {}
    for derivation in derivations(toy.table, words, toy.longest, 6):
        vector = features(derivation, 4, toy.reordering, toy.lm, toy.order)
        text = [word for _, option in derivation for word in option[0]]
        values = [naive_ln(lm, order, classes, text) for lm, order, classes, _ in added]
        score = toy.weights @ vector + sum(value * entry[-1] for value, entry in zip(values, added))
        found[tuple((span, " ".join(option[0])) for span, option in derivation)] = score, values
    return found


@given(
    SEEDS, st.lists(st.sampled_from(["words", "classes"]), min_size=1, max_size=3), st.sampled_from(["stack", "cube"])
)
@settings(max_examples=25)
def test_the_list_is_the_full_enumeration(directory, seed, kinds, algorithm):
    rng = random.Random(seed)
    toy = random_toy(directory / f"{seed}-{len(kinds)}-{algorithm}", seed)
    added = add_language_models(toy, rng, kinds)
    words = rng.choices([*SOURCE, "x", "s"], k=rng.randint(1, 3))
    expected = enumerate_all(toy, added, words)
    decoder = Decoder.load(toy.directory, SearchSettings(algorithm=algorithm, **UNLIMITED))
    found = decoder.nbest(" ".join(words), 10**5)
    assert found[0].score == pytest.approx(max(score for score, _ in expected.values()), abs=1e-4)
    assert {tuple((p.source_span, p.target) for p in t.phrases) for t in found} == set(expected)
    for translation in found:
        score, values = expected[tuple((phrase.source_span, phrase.target) for phrase in translation.phrases)]
        assert translation.score == pytest.approx(score, abs=1e-4)
        assert translation.features["language_model"][1:] == pytest.approx(values, abs=1e-4)


@given(SEEDS, st.integers(1, 4))
@settings(max_examples=10)
def test_pruning_stays_truthful(directory, seed, stack):
    rng = random.Random(seed)
    toy = random_toy(directory / f"{seed}-pruned", seed)
    added = add_language_models(toy, rng, ["classes", "words"])
    weights = np.array([entry[-1] for entry in added])
    line = " ".join(rng.choices([*SOURCE, "x"], k=7))
    for translation in Decoder.load(toy.directory, SearchSettings(stack=stack)).nbest(line, 20):
        vector = np.concatenate([np.atleast_1d(value) for value in translation.features.values()])
        place = 4 + toy.reordering.n_weights + 1
        total = toy.weights @ np.delete(vector, [place, place + 1]) + weights @ vector[place : place + 2]
        assert total == pytest.approx(translation.score, abs=1e-6)


def test_models_in_files_and_in_memory_are_joined(directory):
    folder = directory / "joined"
    lms = [random_lm(folder / name, random.Random(i), 2 + i) for i, name in enumerate("abc")]
    paths = [folder / "a" / "lm.bin", folder / "b" / "lm.arpa", folder / "c" / "lm.bin"]
    models = [TargetModel(LanguageModel.load(path)) for path in paths]
    Vocabulary(TARGET).save(folder / "vocabulary")
    vocabulary = FixedVocabulary(folder / "vocabulary")
    joined = join_language_models(models, vocabulary)
    for i, (one, lm) in enumerate(zip(models, lms)):
        assert joined.orders[i] == one.model.order == 2 + i
        first = joined.starts[i, 1] + 2 * joined.word_ids[:, i]
        expected = [ngrams.score(lm, [], word)[0] for word in TARGET]
        assert -np.abs(joined.floats[first]) == pytest.approx(expected)


def test_what_is_wrong_is_said(directory):
    toy = random_toy(directory / "wrong", 5)
    add_language_models(toy, random.Random(5), ["classes"])
    classes = toy.directory / "classes"
    for text, message in (("a b c d\n", "classes:1: 4 fields"), ("a b\na c\n", "classes 'b' and 'c'"), ("", "empty")):
        classes.write_text(text)
        with pytest.raises(FormatError, match=message):
            Decoder.load(toy.directory)
    classes.unlink()
    with pytest.raises(ModelError, match="classes: missing"):
        Decoder.load(toy.directory)
    classes.write_text("a b\n")
    with pytest.raises(ModelError, match="language_model has 1 weights, the model has 2"):
        Decoder.load(toy.directory, weights=Weights())
    (toy.directory / "lm2.bin").unlink()
    with pytest.raises(ModelError, match=r"lm2\.bin: missing"):
        Decoder.load(toy.directory)


def test_one_number_is_a_list_of_one(tmp_path):
    (tmp_path / "weights.yaml").write_text("language_model: 0.25\n")
    assert load_config(tmp_path / "weights.yaml", Weights).language_model == [0.25]
    (tmp_path / "weights.yaml").write_text("language_model: [0.25, many]\n")
    with pytest.raises(ConfigError, match="language_model"):
        load_config(tmp_path / "weights.yaml", Weights)
