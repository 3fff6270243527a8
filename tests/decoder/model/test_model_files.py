"""Each array of a model is checked for what its file is declared to be."""

import shutil

import numpy as np
import pytest
import yaml

from phrasebeam.base.errors import ModelError, SmtError
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.sparse.sparse_files import save_pair_features, save_templates
from phrasebeam.decoder.sparse.sparse_weights import add_weights, new_sparse_weights, save_sparse_weights
from phrasebeam.decoder.sparse.templates import Templates
from phrasebeam.decoder.tables.model_files import ARRAY_FILES, SCORE_CODES, TYPES, WORD_COUNTS
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.operation_sequences import build_operations
from phrasebeam.training.bitext.parallel_text import read_bitext
from phrasebeam.training.word_alignment.alignment_points import Alignments
from tests.decoder.models import random_toy

pytestmark = pytest.mark.kernels

FILES = [(folder, file) for folder, files in ARRAY_FILES.items() for file in files if file not in SCORE_CODES]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A model with all files of arrays."""
    directory = random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory
    n_pairs = len(np.load(directory / "phrases" / "ln_scores.npy"))
    save_templates(directory, Templates())
    weights = new_sparse_weights(3)
    add_weights(weights, np.array([3, 5, 9], np.uint64), np.array([0.5, 1.0, -1.0]))
    save_sparse_weights(weights, directory / "sparse")
    pairs = np.arange(n_pairs, dtype=np.int64) % 2
    save_pair_features(directory, ["x", "y"], np.append(0, np.arange(1, n_pairs + 1)), pairs, pairs.astype(np.float32))
    (directory / "lines").write_text("a b\nb\n")
    bitext = read_bitext(directory / "lines", directory / "lines")
    alignments = Alignments(np.array([0, 2, 3]), np.array([[0, 0], [1, 1], [0, 0]], np.int32))
    build_operations(bitext, alignments, directory, 2, 1 << 30)
    (directory / "smoothing").mkdir()
    np.save(directory / "smoothing" / "target_types.npy", np.ones((n_pairs, TYPES), np.int32))
    (directory / "word_counts").mkdir()
    for file in WORD_COUNTS:
        n_words = len((directory / f"{file.name.split('_')[0]}.vocab").read_text().splitlines())
        np.save(directory / "word_counts" / f"{file.name}.npy", np.ones(n_words, np.int64))
    description = directory / "model.yaml"
    smoothing = {"method": "kneser-ney", "discounts": [0.0, 0.5, 0.5, 0.5], "phrase_pairs": n_pairs}
    description.write_text(yaml.safe_dump({**yaml.safe_load(description.read_text()), "smoothing": smoothing}))
    weights = directory / "weights.yaml"
    weights.write_text(weights.read_text() + "pair_sparse: 1.0\n")
    open_model(directory)
    return directory


@pytest.fixture
def model(tmp_path, whole):
    return shutil.copytree(whole, tmp_path / "model")


def columns(array, n):
    return np.ascontiguousarray(np.resize(array, (len(array), n)))


CHANGES = {
    "a column less": lambda array: array[:, :-1].copy() if array.ndim > 1 else columns(array, 1),
    "a column more": lambda array: columns(array, array.shape[1] + 1 if array.ndim > 1 else 2),
    "no columns": lambda array: columns(array, 0),
    "a row less": lambda array: array[:-1],
    "a row more": lambda array: np.concatenate([array, array[:1]]),
    "more precise": lambda array: array.astype(np.float64 if array.dtype != np.float64 else np.float32),
    "big-endian": lambda array: array.astype(f">{array.dtype.kind}{max(2, array.itemsize)}"),
    "a number": lambda array: np.array(1, array.dtype),
    "a cube": lambda array: array.reshape(1, 1, -1),
    "columns first": lambda array: np.asfortranarray(columns(array, 2)),
}
# Columns of scores are as many as there are weights, which is looked at when these are used.
SEEN_LATER = {("phrases/ln_scores", change) for change in ("a column less", "a column more", "no columns")}


@pytest.mark.parametrize("change", CHANGES)
def test_arrays_of_another_kind_are_refused(model, change):
    for folder, file in FILES:
        path = model / folder / f"{file.name}.npy"
        before = path.read_bytes()
        np.save(path, CHANGES[change](np.load(path)))
        if (f"{folder}/{file.name}", change) not in SEEN_LATER:
            with pytest.raises(SmtError) as caught:
                open_model(model)
            assert str(caught.value).startswith(f"{model / folder}/")
            assert str(caught.value).endswith("train the model again or copy it whole")
            assert "\n" not in str(caught.value)
        path.write_bytes(before)
    open_model(model)


def test_orientation_counts_have_eight_columns(model):
    path = model / "reordering" / "counts.npy"
    np.save(path, np.load(path)[:, :6].copy())
    with pytest.raises(SmtError, match=r"int32 of shape \(11, 6\), expected int32 of shape \(11, 8\)"):
        open_model(model)


@pytest.mark.parametrize(("keys", "complaint"), [([0, 5, 9], "ascend"), ([3, 3, 9], "ascend"), ([9, 5, 3], "ascend")])
def test_keys_of_weights_ascend(model, keys, complaint):
    np.save(model / "sparse" / "keys.npy", np.array(keys, np.uint64))
    with pytest.raises(SmtError, match=complaint):
        open_model(model)


def test_features_of_pairs_without_end_take_no_memory(model):
    path = model / "sparse" / "pairs" / "offsets.npy"
    offsets = np.load(path)
    offsets[1] += 1 << 52
    np.save(path, offsets)
    decoder = Decoder.load(model)  # which reads the offsets when it searches
    with pytest.raises(ModelError, match=r"sparse/pairs/offsets.npy: \d+ features of a phrase pair, of"):
        decoder.translate("a b")
