"""Sparse features of a phrase pair alone where pairs come from elsewhere than the model's table, and frequent words."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.config import load_config, save_config
from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.sentence_input import HeldOutPair, Term
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.levels import Level, Levels
from phrasebeam.decoder.sparse.sparse_files import save_templates
from phrasebeam.decoder.sparse.sparse_weights import add_weights, new_sparse_weights, save_sparse_weights
from phrasebeam.decoder.sparse.templates import Templates
from phrasebeam.decoder.tables import word_counts
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from tests.decoder.features.test_sparse_features import add_points, with_tags
from tests.decoder.models import random_toy
from tests.decoder.search.test_search import flat
from tests.naive.phrase_templates import PHRASE_GROUPS
from tests.naive.sparse import key_of, names, text_of

pytestmark = pytest.mark.kernels
FEW = 2
TEMPLATES = Templates(
    levels=[Level(kind="type", budget=1), Level(kind="tags", budget=1)], **dict.fromkeys(PHRASE_GROUPS, True)
)


@pytest.fixture(autouse=True, scope="module")
def few_frequent_words():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_counts, "MOST_FREQUENT", FEW)
        yield


def with_templates(directory):
    """Give the model in the directory all groups and the scale 1 for each; the directory."""
    save_templates(directory, TEMPLATES)
    weights = load_config(directory / "weights.yaml", Weights)
    save_config(weights.model_copy(update=dict.fromkeys(PHRASE_GROUPS, 1.0)), directory / "weights.yaml")
    return directory


def aligned_lines(rng, n):
    """Sentence pairs with alignments of all kinds."""
    for _ in range(n):
        source, target = (rng.choices(words, k=rng.randint(1, 5)) for words in ("abcd1", "stuv."))
        every = [(i, j) for i in range(len(source)) for j in range(len(target))]
        yield source, target, tuple(sorted(point for point in every if rng.random() < 0.3))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model and the lines that it was trained on."""
    directory, lines = tmp_path_factory.mktemp("trained"), list(aligned_lines(random.Random(1), 40))
    texts = [(" ".join(s), " ".join(t), " ".join(f"{i}-{j}" for i, j in points)) for s, t, points in lines]
    files = [directory / name for name in ("source", "target", "alignment")]
    for file, column in zip(files, zip(*texts)):
        file.write_text("".join(f"{line}\n" for line in column))
    config = TrainModelConfig.model_validate({"language_model": {"order": 2}})
    train_model(files[0], files[1], directory / "model", config, files[2])
    return with_templates(directory / "model"), lines


def expected_names(model, words, tags, one):
    """The naive names of the features of a translation, from its phrases as they are shown."""
    derivation, points = [], {}
    for phrase in one.phrases:
        (begin, end), first = phrase.source_span, phrase.target_span[0]
        target = phrase.target.split()
        derivation.append(((begin, end), target))
        rule = tuple(words[begin:end]), tuple(target)
        points[rule] = [(i - begin, j - first) for i, j in phrase.alignment]
    frequent = model.levels.frequent
    maps = {"points": points, "frequent": frequent, "source": [{}, {}], "target": [{}, {}]}
    return list(names(TEMPLATES, maps, words, tags, derivation))


def check(directory, given_inputs):
    """Features, names and scores of the n-best lists of inputs, once the features have weights."""
    rng, known = random.Random(3), {}
    decoder = Decoder.load(directory, SearchSettings(table_limit=3))
    for given_input in given_inputs:
        for one in decoder.answer(given_input, Request(n=20, sparse="names")).nbest:
            found = expected_names(decoder.model, given_input.words, given_input.tags, one)
            keys = [key_of(name) for name in found]
            assert one.sparse == {key: keys.count(key) for key in keys}
            assert {key: one.sparse_names[key] for key in keys} == dict(zip(keys, map(text_of, found)))
            known |= {key: rng.uniform(-1, 1) for key in keys if key not in known}
    weights = new_sparse_weights(len(known))
    add_weights(weights, np.array(list(known), np.uint64), np.array(list(known.values())))
    save_sparse_weights(weights, directory / "sparse")
    for algorithm in ("stack", "cube"):
        decoder = Decoder.load(directory, SearchSettings(algorithm=algorithm, table_limit=3))
        dense = weight_vector(decoder.dense_weights, decoder.features)
        for given_input in given_inputs:
            for one in decoder.answer(given_input, Request(n=20, sparse="keys")).nbest:
                total = sum(known.get(key, 0.0) * value for key, value in one.sparse.items())
                assert sum(one.features[group] for group in PHRASE_GROUPS) == pytest.approx(total, abs=1e-4)
                assert flat(one.features) @ dense == pytest.approx(one.score, abs=1e-3)
    return known


@pytest.mark.needs_jit
def test_training_sentences_have_the_alignments_of_the_model(trained):
    directory, lines = trained
    inputs = [replace(with_tags(s, 1), held_out=HeldOutPair(tuple(t), points)) for s, t, points in lines[:12]]
    texts = check(directory, [*inputs, *(with_tags(one.words, 2) for one in inputs)])
    assert len(texts) > 50


def test_training_sentences_have_idf(trained):
    directory, lines = trained
    weights = load_config(directory / "weights.yaml", Weights)
    weights = weights.model_copy(update={"target_idf": 0.3, "source_idf": -0.2})
    decoder = Decoder.load(directory, SearchSettings(table_limit=3), weights)
    model, dense, kinds = decoder.model, weight_vector(decoder.dense_weights, decoder.features), set()
    for s, t, points in lines[:12]:
        for one in decoder.nbest(replace(with_tags(s, 1), held_out=HeldOutPair(tuple(t), points)), 20):
            expected = [0.0, 0.0]
            for phrase in one.phrases:
                sides = zip(model.word_idf(), (model.source, model.target), (phrase.source, phrase.target))
                source, target = (
                    0 if phrase.is_copied else idf[words.ids(text.split())].sum() for idf, words, text in sides
                )
                expected = [expected[0] + max(target - source, 0), expected[1] + max(source - target, 0)]
            found = [one.features[name] for name in ("target_idf", "source_idf")]
            assert found == pytest.approx(expected, abs=1e-6)
            assert flat(one.features) @ dense == pytest.approx(one.score, abs=1e-3)
            kinds |= {value > 0 for value in expected}
    assert kinds == {False, True}


def test_terms_have_the_alignments_of_the_markup(trained):
    directory, _ = trained
    words = ["a", "b", "new", "c", "d"]
    terms = Term(0, 2, ("s", "t", "New"), 1.0, ((0, 2), (1, 0))), Term(3, 5, ("u",)), Term(3, 4, tuple("vs" * 200))
    given_terms = [(terms[:k], policy) for k in (1, 2, 3) for policy in ("inclusive", "exclusive")]
    check(directory, [replace(with_tags(words, 1), terms=some, policy=policy) for some, policy in given_terms])


def test_alignments_that_lead_out_of_phrases(tmp_path):
    toy = random_toy(tmp_path / "toy", 7)
    add_points(toy, random.Random(2))
    with_templates(toy.directory)
    lines = [with_tags(line.split(), 1) for line in toy.table]
    path = toy.directory / "phrases" / "alignment_points.npy"
    points = np.load(path)
    np.save(path, np.full_like(points, 200))
    decoder = Decoder.load(toy.directory)
    with pytest.raises(ModelError, match=r"alignment_points.npy: 200 at \d+, expected positions from 0 to [0-2];"):
        for line in lines:
            decoder.translate(line)
    np.save(path, points)
    offsets = np.load(toy.directory / "phrases" / "alignment_offsets.npy")
    offsets[:-1] = 1 << 30
    np.save(toy.directory / "phrases" / "alignment_offsets.npy", offsets)
    decoder = Decoder.load(toy.directory)
    with pytest.raises(ModelError, match=r"alignment_offsets.npy: 1073741824 at \d+, expected ascending offsets"):
        for line in lines:
            decoder.translate(line)


@pytest.mark.filterwarnings("ignore:overflow encountered in scalar subtract")  # of offsets in damaged files
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**20), few=st.integers(1, 4))
def test_frequent_words(tmp_path_factory, seed, few):
    toy = random_toy(tmp_path_factory.mktemp("frequent"), seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.decoder.features.test_sparse_features.FEW", few)
        patch.setattr(word_counts, "MOST_FREQUENT", few)
        expected = add_points(toy, random.Random(seed))["frequent"]
        model = open_model(toy.directory)
        phrases = model.tables.phrases
        assert list(map(set, frequent_words(phrases, model))) == expected
        for name in ("pair_offsets", "target_offsets", "source_offsets", "source_words", "target_words"):
            limits = np.iinfo(getattr(phrases, name).dtype)  # of a damaged file
            for even, odd in ((-1, -1), (1 << 30, 1 << 30), (limits.max // 64 * 63, limits.min // 64 * 63)):
                array = getattr(phrases, name).copy()
                array[: array.size // 2 + 1 : 2], array[1 : array.size // 2 + 1 : 2] = even, odd
                damaged = phrases._replace(**{name: array})
                frequent_words(damaged, model)


def frequent_words(phrases, model):
    """The frequent words by the counts that are estimated from a phrase table."""
    counts = word_counts.estimated_counts(phrases, len(model.source), len(model.target))
    return word_counts.frequent_words(counts, model.source, model.target)


def test_content_words(trained):
    levels = open_model(trained[0]).levels
    assert len(levels.frequent.source) == len(levels.frequent.target) == FEW
    words, tags = [*sorted(levels.frequent.source), "1", "3.5", "-", "B2", "Haus"], ["N"] * (FEW + 5)
    assert levels.content_words(words, tags).tolist() == [False] * (FEW + 3) + [True] * 2
    levels = Levels([Level(kind="tags", budget=1, prefix=1, content=["N", "ADJ"])], trained[0], levels.frequent)
    found = levels.content_words(words[:5], ["NN", "N", "ADV", "ADJ(A)", "$."])
    assert found.tolist() == [True, True, False, True, False]
