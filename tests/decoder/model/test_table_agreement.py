"""Models whose tables contradict each other, with digests made anew: check-model says where."""

import re
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.cli import main
from phrasebeam.decoder.model.description import accept_files, open_description, save_description
from phrasebeam.decoder.model.model_check import findings
from phrasebeam.decoder.model.table_agreement import AGREES, OF_SOURCE, OF_TARGET, find_other_phrase, find_wrong_count
from phrasebeam.decoder.tables.phrase_table import ABSENT, PhraseTable
from phrasebeam.decoder.tables.source_slots import build_slots, hash_phrases
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from tests.decoder.models import assert_sound, random_toy
from tests.naive import table_checks as naive

pytestmark = pytest.mark.kernels

WORDS = ["a", "b", "c", "d", "e", "f", "g", "h"]
PHRASES = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple), max_size=20)
COUNTS = st.integers(0, 3)
SOURCES = st.lists(st.tuples(st.integers(0, 7), st.lists(st.tuples(COUNTS, COUNTS), max_size=3)), max_size=6)
STATUS = {"source": OF_SOURCE, "target": OF_TARGET}


def table_of(**fields):
    """A phrase table with these fields alone."""
    empty = {name: np.zeros(0, np.int32) for name in PhraseTable._fields}
    for name in ("slots", "source_offsets", "pair_offsets", "target_offsets", "alignment_offsets"):
        empty[name] = np.zeros(1, np.int64)
    empty |= {"ln_scores": np.zeros((0, 4), np.float32), "alignment_points": np.zeros((0, 2), np.uint8)}
    return PhraseTable(**empty | fields)


def ends(parts):
    return np.cumsum([0, *map(len, parts)]).astype(np.int64)


@given(PHRASES, st.randoms(use_true_random=False), st.sampled_from([0, 1, 2]))
def test_phrases_that_are_not_found_by_their_words(phrases, rng, n_swaps):
    words = np.array([word for phrase in phrases for word in phrase], np.int32)
    slots = build_slots(ends(phrases), words)
    for _ in range(n_swaps):
        one, other = rng.randrange(slots.size), rng.randrange(slots.size)
        slots[[one, other]] = slots[[other, one]]
    hashes = hash_phrases(ends(phrases), words).tolist()
    expected = naive.other_phrase(slots.tolist(), phrases, hashes)
    found = find_other_phrase(table_of(slots=slots, source_offsets=ends(phrases), source_words=words))
    assert found == (expected or (ABSENT, ABSENT))


@given(SOURCES)
def test_counts_that_cannot_be(sources):
    pairs = np.array([pair for _, some in sources for pair in some], np.int32).reshape(-1, 2)
    found = find_wrong_count(
        table_of(
            pair_offsets=ends([some for _, some in sources]),
            source_counts=np.array([c_f for c_f, _ in sources], np.int32),
            joint_counts=pairs[:, 0].copy(),
            target_counts=pairs[:, 1].copy(),
        )
    )
    expected = naive.wrong_count(sources)
    assert found == ((STATUS[expected[0]], *expected[1:]) if expected else (AGREES, 0, 0, 0))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A model with operations, smoothed scores, and a second language model over classes."""
    directory, rng = tmp_path_factory.mktemp("trained"), np.random.default_rng(3)
    lines = []
    for _ in range(60):
        source = rng.choice(WORDS, rng.integers(3, 8), p=[0.3, *[0.1] * 7]).tolist()
        order = rng.permutation(len(source)) if rng.random() < 0.5 else np.arange(len(source))
        points = [f"{i}-{j}" for j, i in enumerate(order) if rng.random() < 0.8] or ["0-0"]
        lines.append((" ".join(source), " ".join(source[i].upper() for i in order), " ".join(points)))
    for name, column in zip(("source", "target", "points"), zip(*lines)):
        (directory / name).write_text("".join(f"{line}\n" for line in column))
    (directory / "classes").write_text("".join(f"{word.upper()} C{i % 3}\n" for i, word in enumerate(WORDS)))
    config = TrainModelConfig(
        operations={"order": 3},
        phrases={"smoothing": "kneser-ney", "max_length": 3},
        language_models=[{"classes": f"{directory}/classes", "order": 3}],
    )
    train_model(directory / "source", directory / "target", directory / "model", config, directory / "points")
    return directory / "model"


def reverse(array):
    return array[::-1]


def permute(array):
    return np.random.default_rng(1).permutation(array)


def roll(array):
    return np.roll(array, 1, axis=0)


@pytest.mark.needs_jit
@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("phrases/source_words", permute, "the words of source phrase .*, find .* in slots.npy, expected"),
        ("phrases/slots", roll, "find nothing in slots.npy, expected"),
        (
            "phrases/joint_counts",
            reverse,
            r"\d+ (of pair|summed over the pairs of source phrase) \d+, expected at most",
        ),
        ("phrases/ln_scores", lambda scores: scores + 5, "expected ln of a probability, at most 0"),
        ("reordering/ln_scores", lambda scores: scores + 5, "expected ln of a probability, at most 0"),
        ("reordering/counts", permute, r"\d+ in all of pair \d+, expected at most \d+ as in phrases/joint_counts.npy"),
        ("smoothing/target_types", roll, r"0 of pair \d+, expected 1 or more"),
        ("word_counts/source_sentences", lambda counts: counts + 99, r"\d+ of word 0, expected at least 1 and at most"),
        ("word_counts/target_sentences", lambda counts: 0 * counts, r"0 of word \d, expected at least 1 and at most"),
        ("operations/keys", lambda keys: keys + 1, r"line \d+, '.*', expected \d+ in its place of operations/keys.npy"),
        ("operations/keys", permute, r"expected more than \d+, the key before"),
    ],
)
def test_tables_that_contradict_each_other(whole, tmp_path, capfd, name, change, message):
    model = shutil.copytree(whole, tmp_path / "model")
    array = np.load(model / f"{name}.npy")
    np.save(model / f"{name}.npy", np.ascontiguousarray(change(array)))
    refused(model, message, capfd)


@pytest.mark.needs_jit
def test_operations_with_other_names(whole, tmp_path, capfd):
    model = shutil.copytree(whole, tmp_path / "model")
    names = (model / "operations/names").read_text().splitlines()
    one, other = (i for i, name in enumerate(names) if name in ("source:a", "source:b"))
    swapped = [*names]
    swapped[one], swapped[other] = names[other], names[one]
    (model / "operations/names").write_text("".join(f"{name}\n" for name in swapped))
    refused(model, r"operations/names: line \d+, 'source:[ab]', expected 'source:[ab]', of which its key is", capfd)
    (model / "operations/names").write_text("".join(f"{name}\n" for name in ["nowhere", *names[1:]]))
    refused(model, "names: line 1, 'nowhere', is not in operations/lm.bin, expected one of its words", capfd)


@pytest.mark.needs_jit
def test_the_language_model_of_operations_is_checked(whole, tmp_path, capfd):
    model = shutil.copytree(whole, tmp_path / "model")
    data = (model / "operations/lm.bin").read_bytes()
    assert data.count(b"\0gap\0") == 1
    (model / "operations/lm.bin").write_bytes(data.replace(b"\0gap\0", b"\0gab\0"))
    refused(model, "operations/lm.bin: the word 'gab' at the end of the file is not found", capfd)


def refused(model, message, capfd):
    """check-model has one line for it, and does not accept it."""
    accept_files(model)
    capfd.readouterr()
    for options in ([], ["--accept"]):
        assert main(["check-model", str(model), *options]) == 2
        printed = capfd.readouterr()
        assert re.search(message, printed.err) and "train the model again" in printed.err, printed.err
        assert len(printed.err.splitlines()) == 1


@pytest.mark.needs_jit
def test_a_trained_model_is_sound(whole):
    assert_sound(whole)


def test_scores_that_were_imported_can_be_any(tmp_path):
    model = random_toy(tmp_path / "toy", 7, most=3).directory
    for name in ("phrases", "reordering"):
        scores = np.load(model / name / "ln_scores.npy")
        np.save(model / name / "ln_scores.npy", scores + np.float32(5))
    np.save(model / "phrases/source_counts.npy", np.zeros_like(np.load(model / "phrases/source_counts.npy")))
    found = [*findings(model)]
    assert len(found) == 2 and all("expected ln of a probability" in line for line in found)
    save_description(open_description(model).model_copy(update={"sentence_pairs": 0}), model)
    assert [*findings(model)] == []
