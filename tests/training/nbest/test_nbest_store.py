"""N-best lists on disk against dicts: merged over iterations, without duplicates, whole after a crash."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError, FormatError, ModelError
from phrasebeam.decoder.sparse.sparse_weights import rows_of
from phrasebeam.training.nbest.growing_array import GrowingArray
from phrasebeam.training.nbest.nbest_store import INDEX, Hypotheses, NbestStore

N_SENTENCES = 3
KEYS = [0, 1, 2**63, 2**64 - 1]
HYPOTHESES = st.tuples(
    st.integers(0, N_SENTENCES - 1),
    st.sampled_from(["", "a", "b ü"]),
    st.tuples(st.sampled_from([0.0, 0.1, -3.0]), st.sampled_from([1.0, 2.0])),
    st.dictionaries(st.sampled_from(KEYS), st.sampled_from([0.5, 1.0]), max_size=3),
)
ITERATIONS = st.lists(st.lists(HYPOTHESES, max_size=8), min_size=1, max_size=4)


def batch(found):
    found = sorted(found, key=lambda hypothesis: hypothesis[0])
    sentences, texts, dense, sparse = zip(*found) if found else ((), (), (), ())
    statistics = np.array([[len(text), sentence] for text, sentence in zip(texts, sentences)], np.float32)
    dense = np.array(dense, np.float32).reshape(-1, 2)
    return Hypotheses(np.array(sentences, np.int32), texts, dense, rows_of(sparse), statistics.reshape(-1, 2))


def contents(store):
    """What the store has of each sentence, in its order."""
    lists, texts = store.lists(), list(store.texts())
    keys, found = store.keys.tolist(), []
    for i in range(N_SENTENCES):
        for row in lists.row[lists.first[i] : lists.first[i + 1]]:
            places = slice(lists.sparse_first[row], lists.sparse_first[row + 1])
            columns = lists.sparse_column[places].tolist()
            sparse = {keys[column]: value for column, value in zip(columns, lists.sparse_value[places].tolist())}
            assert lists.statistics[row].tolist() == [len(texts[row]), i]
            found.append((i, texts[row], lists.dense[row].tolist(), sparse))
    return found


def expected(iterations):
    known = {i: {} for i in range(N_SENTENCES)}
    for found in iterations:
        for sentence, text, dense, sparse in found:
            row = np.array(dense, np.float32).tolist()
            known[sentence].setdefault((text, *row, *sorted(sparse.items())), (sentence, text, row, sparse))
    return [hypothesis for i in range(N_SENTENCES) for hypothesis in known[i].values()]


@given(ITERATIONS, st.data())
@settings(max_examples=15)
def test_merged_without_duplicates(tmp_path_factory, iterations, data):
    directory = tmp_path_factory.mktemp("store")
    store = NbestStore(directory, N_SENTENCES, 2, 2)
    for number, found in enumerate(iterations):
        half = data.draw(st.integers(0, N_SENTENCES))  # sentences come in batches
        n_new = sum(
            store.add(batch([hypothesis for hypothesis in found if (hypothesis[0] < half) == first]))
            for first in (True, False)
        )
        store.commit()
        assert n_new == len(expected(iterations[: number + 1])) - len(expected(iterations[:number]))
        assert contents(store) == expected(iterations[: number + 1])
        assert len(store) == store.lists().row.size
        assert store.n_features == 2 + len(store.keys)
    store.close()
    n = data.draw(st.integers(0, len(iterations)))
    again = NbestStore(directory, N_SENTENCES, 2, 2, n)
    assert contents(again) == expected(iterations[:n])
    for found in iterations[n:]:
        again.add(batch(found))
        again.commit()
    assert contents(again) == expected(iterations)
    again.close()


def test_what_was_not_committed_is_forgotten(tmp_path):
    found = [(0, "a", (0.0, 1.0), {5: 1.0})]
    store = NbestStore(tmp_path, N_SENTENCES, 2, 2)
    store.add(batch(found))
    store.commit()
    store.add(batch([(1, "b", (0.1, 1.0), {6: 1.0})]))
    store.close()  # as when killed: some of it is in the files
    again = NbestStore(tmp_path, N_SENTENCES, 2, 2, 1)
    assert contents(again) == expected([found])
    assert again.keys.tolist() == [5]
    again.close()


def stored(directory):
    """A store of two hypotheses, after an iteration."""
    store = NbestStore(directory, N_SENTENCES, 2, 2)
    store.add(batch([(0, "a", (0.1, 2.0), {1: 0.5}), (1, "b", (0.0, 1.0), {})]))
    store.commit()
    store.close()


@pytest.mark.parametrize("numbers", [(N_SENTENCES, 2, 2, 2), (N_SENTENCES + 1, 2, 2, 1), (N_SENTENCES, 3, 2, 1)])
def test_a_store_of_other_lists(tmp_path, numbers):
    stored(tmp_path)
    with pytest.raises(FormatError, match=r"1 iterations with .* expected .* start again"):
        NbestStore(tmp_path, *numbers)


@pytest.mark.parametrize("text", ["{}", "[", '{"shape": {"sentences": -1}}'])
def test_a_damaged_index_of_a_store(tmp_path, text):
    stored(tmp_path)
    (tmp_path / INDEX).write_text(text)
    with pytest.raises(ConfigError, match=INDEX):
        NbestStore(tmp_path, N_SENTENCES, 2, 2, 1)


@pytest.mark.parametrize("name", ["sentence", "dense", "sparse_column", "text", "keys"])
@pytest.mark.parametrize("is_shorter", [False, True])
def test_damaged_arrays_of_a_store(tmp_path, name, is_shorter):
    stored(tmp_path)
    path = tmp_path / f"{name}.npy"
    data = path.read_bytes()
    path.write_bytes(data[:-1] if is_shorter else data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(FormatError, match=f"{name}.npy: not as it was written"):
        NbestStore(tmp_path, N_SENTENCES, 2, 2, 1)


def test_a_growing_array_is_an_npy_file(tmp_path):
    array = GrowingArray(tmp_path / "a.npy", np.float32, (2,))
    assert array.map().shape == (0, 2)
    array.append(np.ones((3, 2)))
    assert array.map().shape == (0, 2)  # not committed
    committed = array.commit()
    array.append(np.zeros((1, 2)))
    array.commit()
    assert np.load(tmp_path / "a.npy").tolist() == [[1, 1]] * 3 + [[0, 0]]
    with pytest.raises(ValueError, match="rows of shape"):
        array.append(np.ones((3, 3)))
    array.close()
    again = GrowingArray(tmp_path / "a.npy", np.float32, (2,), committed)
    assert again.map().tolist() == [[1, 1]] * 3
    again.close()


@pytest.mark.parametrize("value", [np.nan, np.inf, -2e30])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_features_beyond_all_bounds_are_refused(tmp_path, value, is_sparse):
    store = NbestStore(tmp_path, N_SENTENCES, 2, 2)
    sparse = {1: value if is_sparse else 1.0}
    with pytest.raises(ModelError, match=r"has a feature of .*, expected numbers up to 1e"):
        store.add(batch([(0, "a", (0.0, 1.0), {}), (1, "a", (0.0, 0.0 if is_sparse else value), sparse)]))
    store.close()
