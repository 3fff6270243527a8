"""Operation sequences: of sentence pairs, and as a feature of derivations, against naive ones scored by KenLM."""

import math
from itertools import chain
from pathlib import Path
from unittest.mock import patch

import kenlm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError, ModelError
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.operations.operation_model import no_operations
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.lm.estimate import estimate
from phrasebeam.lm.probing_writer import write_probing
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.lm.text.vocabulary import Vocabulary
from phrasebeam.training.bitext import operation_sequences
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.bitext.parallel_text import Bitext
from phrasebeam.training.common.settings import TrainingDataSettings
from phrasebeam.training.common.training_data import training_folds, training_pairs
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from phrasebeam.training.word_alignment.alignment_points import Alignments
from tests.decoder.models import last_workspace
from tests.naive.operations import operations

WORDS = ["a", "b", "c", "d", "e", "f", "g", "h"]
pytestmark = pytest.mark.kernels
SEARCHES = [SearchSettings(algorithm="cube", distortion_limit=-1), SearchSettings(stack=40, distortion_limit=3)]


@st.composite
def sentence_pairs(draw):
    source, target = (draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=12)) for _ in range(2))
    cells = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1))
    return source, target, sorted(draw(st.sets(cells, max_size=14)))


def corpus(sentences, vocabulary):
    ids = [[vocabulary.add(word) for word in words] for words in sentences]
    return Corpus(np.cumsum([0, *map(len, ids)]), np.array([*chain.from_iterable(ids)], np.int32))


@given(st.lists(sentence_pairs(), min_size=1, max_size=3))
def test_sentence_pairs_as_operations(tmp_path_factory, pairs):
    vocabularies = Vocabulary(), Vocabulary()
    sides = [corpus([pair[side] for pair in pairs], vocabularies[side]) for side in range(2)]
    points = [pair[2] for pair in pairs]
    alignments = Alignments(
        np.cumsum([0, *map(len, points)]), np.array([*chain.from_iterable(points)], np.int32).reshape(-1, 2)
    )
    lines = tmp_path_factory.mktemp("lines") / "lines"
    with patch.object(operation_sequences, "PAIRS_AT_ONCE", 2):
        known = operation_sequences.write_operation_lines(Bitext(*sides, *vocabularies, 0), alignments, lines)
    expected = [operations(source, [(0, len(source), target, points)]) for source, target, points in pairs]
    assert lines.read_text().splitlines() == [" ".join(names) for names in expected]
    assert {*known.names} == {*chain.from_iterable(expected)}
    assert len({*known.names}) == len(known.names) and (np.diff(known.keys) > 0).all()


def test_names_that_words_with_joining_characters_share(tmp_path):
    vocabularies = Vocabulary(), Vocabulary()
    sides = [corpus([["a_b"], [], ["a", "b"]], vocabularies[0]), corpus([["c"], [], ["c"]], vocabularies[1])]
    alignments = Alignments(np.array([0, 1, 1, 3]), np.array([[0, 0], [0, 0], [1, 0]], np.int32))
    known = operation_sequences.write_operation_lines(Bitext(*sides, *vocabularies, 1), alignments, tmp_path / "lines")
    assert (tmp_path / "lines").read_text().split("\n") == ["a_b~c", "", "a_b~c#2 continue:b", ""]
    assert sorted(known.names) == ["a_b~c", "a_b~c#2", "continue:b"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of random sentence pairs whose words are aligned in any order, some not at all."""
    directory, rng = tmp_path_factory.mktemp("operations"), np.random.default_rng(3)
    lines = []
    for _ in range(120):
        source = rng.choice(WORDS, rng.integers(2, 8)).tolist()
        order = rng.permutation(len(source)) if rng.random() < 0.5 else np.arange(len(source))
        target = [source[i].upper() for i in order]
        points = [f"{i}-{j}" for j, i in enumerate(order) if rng.random() < 0.8] or ["0-0"]
        lines.append((" ".join(source), " ".join(target), " ".join(points)))
    for name, column in zip(("source", "target", "points"), zip(*lines)):
        (directory / name).write_text("".join(f"{line}\n" for line in column))
    config = TrainModelConfig(operations={"order": 3})
    train_model(directory / "source", directory / "target", directory / "model", config, directory / "points")
    return directory / "model"


def dot(weights, features):
    pairs = ((getattr(weights, name), value) for name, value in features.items())
    return sum(float(np.dot(np.atleast_1d(weight), np.atleast_1d(value))) for weight, value in pairs)


@pytest.mark.parametrize("settings", SEARCHES)
@pytest.mark.parametrize("weights", [pytest.param([0.4, 0.3, 0.2], marks=pytest.mark.needs_jit), [-0.2, 0.3, -0.6]])
def test_feature_of_derivations(model: Path, settings, weights):
    opened = open_model(model)
    given = opened.weights.model_copy(update={"operations": weights})
    decoder, rng = Decoder(opened, settings, given), np.random.default_rng(1)
    for _ in range(5):
        source = [*rng.choice(WORDS, 6).tolist(), "zzz"]  # one of them unknown
        for one in decoder.nbest(" ".join(source), 10):
            check(one, source, given, kenlm_of(model / "operations/lm.bin"))


def check(one: Translation, source, weights, lm):
    """The feature is as the naive walk says, and the score that of all features."""
    words, phrases = one.text.split(), []
    for phrase in one.phrases:
        begin, first = phrase.source_span[0], phrase.target_span[0]
        points = [(i - begin, j - first) for i, j in one.alignment if first <= j < phrase.target_span[1]]
        phrases.append((*phrase.source_span, words[slice(*phrase.target_span)], points))
    names = operations(source, phrases)
    ln_p = math.log(10) * lm.score(" ".join(names), eos=False)
    back = sum(name.startswith("back") for name in names)
    assert one.features["operations"] == pytest.approx([ln_p, -names.count("gap"), -back], abs=1e-4)
    assert one.score == pytest.approx(dot(weights, one.features), abs=1e-9)


def test_forced_decoding(model):
    opened = open_model(model)
    given = opened.weights.model_copy(update={"operations": [0.7, 0.3, 0.2]})
    limits, lm = SearchSettings(table_limit=0, distortion_limit=-1), kenlm_of(model / "operations/lm.bin")
    decoder, forced = Decoder(opened, limits, given), ForcedDecoder(Decoder(opened, limits, given))
    for source in ("a b c d", "h g f e d", "b b a c"):
        for one in decoder.nbest(source, 5, distinct=True):
            found = forced.force(source, one.text).best
            check(found, source.split(), given, lm)
            assert found.score >= one.score - 1e-9


@pytest.mark.needs_jit
def test_folds_have_not_seen_their_sentences(model, tmp_path):
    source, target, points = (model.parent / name for name in ("source", "target", "points"))
    opened, data = open_model(model), BitextFiles(source, [target], points)
    settings = TrainingDataSettings(lm_folds=3, sentences=9)
    decoder = Decoder(opened, folds=training_folds(data, opened, tmp_path / "folds", settings, 1 << 30))
    lines = [(model.parent / name).read_text().splitlines() for name in ("source", "target", "points")]
    names = [sentence_operations(*(column[i] for column in lines)) for i in range(len(lines[0]))]
    for fold in range(3):
        rest = [" ".join(names[i]) for i in range(len(names)) if i % 3 != fold]
        (tmp_path / "rest").write_text("".join(f"{line}\n" for line in rest))
        write_probing(estimate([tmp_path / "rest"], 3, 1 << 30, tmp_path), tmp_path / f"{fold}.bin", 1 << 30)
    for i, (sentence, _) in enumerate(training_pairs(data, settings)):
        lm = kenlm_of(tmp_path / f"{i % 3}.bin")
        check(decoder.translate(sentence), [*sentence.words], opened.weights, lm)


def sentence_operations(source, target, points):
    cells = [tuple(map(int, point.split("-"))) for point in points.split()]
    return operations(source.split(), [(0, len(source.split()), target.split(), cells)])


def test_folds_need_the_alignment(model, tmp_path):
    opened, data = open_model(model), BitextFiles(model.parent / "source", [model.parent / "target"], None)
    settings = TrainingDataSettings(lm_folds=3, leave_one_out=None)
    with pytest.raises(ConfigError, match="folds of the operation sequence model need the word alignment"):
        training_folds(data, opened, tmp_path / "folds", settings, 1 << 30)
    assert not (tmp_path / "folds").exists()


def kenlm_of(path):
    return kenlm.Model(str(path))


def test_best_of_all_derivations(model):
    """Recombination keeps what later operations depend on: a wide search finds what the list of all has."""
    opened = open_model(model)
    given = opened.weights.model_copy(update={"operations": [1.0, 0.5, 0.5]})
    wide = SearchSettings(stack=0, beam_threshold=0.0, distortion_limit=-1, table_limit=3)
    decoder, rng = Decoder(opened, wide, given), np.random.default_rng(2)
    for _ in range(5):
        best, *others = decoder.nbest(" ".join(rng.choice(WORDS, 3).tolist()), 500)
        assert all(dot(given, one.features) <= best.score + 1e-9 for one in others)


def test_histories_that_become_too_many_in_a_search(model):
    opened = open_model(model)
    given = opened.weights.model_copy(update={"operations": [1.0, 0.5, 0.5]})
    expected = Decoder(opened, weights=given).translate("a b c d e f")
    decoder = Decoder(opened, weights=given)
    decoder.translate("a")
    workspace = last_workspace(decoder)
    workspace.n_histories = 16
    workspace.rebuild()
    assert decoder.translate("a b c d e f") == expected
    assert workspace.n_histories > 16


def test_what_is_wrong(model, tmp_path):
    opened = open_model(model)
    two = opened.weights.model_copy(update={"operations": [0.1, 0.2]})
    with pytest.raises(ModelError, match="operations has 2 weights, expected 3"):
        Decoder(opened, weights=two)
    without = opened._replace(tables=opened.tables._replace(operations=no_operations()))
    with pytest.raises(ModelError, match="no operation sequence model"):
        Decoder(without)
    with pytest.raises(ConfigError, match="operations need one order of words"):
        decoder = Decoder(opened, weights=opened.weights.model_copy(update={"input_score": [0.1]}))
        decoder.translate(Input.from_lattice([[("a", 1.0, 1)]]))
