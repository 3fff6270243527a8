"""Spilled windows and their counts against a Counter, for buckets of any size."""

from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from phrasebeam.base.spill import BucketFiles, RowFile
from phrasebeam.lm import counting
from phrasebeam.lm.counting import SPECIALS, group_begins, sorted_counts, spill_windows, text_tokens
from phrasebeam.lm.text.vocabulary import Vocabulary

rows_of = st.integers(2, 5).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 4), min_size=n, max_size=n), min_size=1, max_size=40)
)


def context_order(ngram):
    return (*reversed(ngram[:-1]), ngram[-1])


@given(rows_of, st.sampled_from([5, 1 << 17, 1 << 31]))
def test_sorted_counts(rows, vocabulary_size):
    """Vocabularies so large that not all words fit in one key sort the same."""
    words, counts = sorted_counts(np.array(rows, np.int32), vocabulary_size)
    expected = Counter(map(tuple, rows))
    assert [tuple(row) for row in words.tolist()] == sorted(expected, key=context_order)
    assert counts.tolist() == [expected[tuple(row)] for row in words.tolist()]


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.lists(st.sampled_from("abcde"), max_size=7), max_size=12),
    st.integers(2, 6),
    st.integers(1, 30),
    st.sampled_from([1, 7, 1 << 19]),
)
def test_windows_come_back_from_buckets(tmp_path_factory, lines, order, bucket_rows, chunk):
    directory = tmp_path_factory.mktemp("counting")
    (directory / "text").write_text("".join(" ".join(line) + "\n" for line in lines))
    vocabulary = Vocabulary(SPECIALS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "CHUNK", chunk)
        chunks = text_tokens([directory / "text"], vocabulary, order)
        windows = spill_windows(chunks, order, lambda: bucket_rows, directory)
    buckets = [windows.files.take(bucket) for bucket in range(windows.n_buckets)]
    found = Counter(tuple(vocabulary.words[word] for word in row) for rows in buckets for row in rows.tolist())
    assert found == naive_windows(lines, order)
    for bucket, rows in enumerate(buckets):
        assert (windows.bucket_of_word[rows[:, -2]] == bucket).all()
        assert len(rows) <= bucket_rows or np.unique(rows[:, -2]).size == 1
    assert (np.diff(windows.bucket_of_word) >= 0).all()


def naive_windows(lines, order):
    counts = Counter()
    for line in lines:
        padded = ["<s>"] * (order - 1) + line + ["</s>"]
        counts.update(tuple(padded[i : i + order]) for i in range(len(line) + 1))
    return counts


@pytest.mark.parametrize("chunk", [1, 4, 1 << 19])
def test_text_in_chunks_of_any_size(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(counting, "CHUNK", chunk)
    path, vocabulary = tmp_path / "text", Vocabulary(SPECIALS)
    path.write_text("b a\n\n\na c c\nb\n\n")
    text = np.concatenate(list(text_tokens([path], vocabulary, 3)))
    assert text.dtype == np.int32
    assert vocabulary.words == [*SPECIALS, "b", "a", "c"]
    assert text.tolist() == [1, 1, 3, 4, 2, *[1, 1, 2] * 2, 1, 1, 4, 5, 5, 2, 1, 1, 3, 2, 1, 1, 2]


def test_group_begins():
    assert group_begins(np.array([3, 3, 1, 1, 3])).tolist() == [0, 2, 4]
    assert group_begins(np.array([[1, 2], [1, 2], [1, 3]])).tolist() == [0, 2]
    assert group_begins(np.zeros((3, 0), np.int32)).tolist() == [0]
    assert group_begins(np.zeros((0, 2), np.int32)).tolist() == []


def test_row_files(tmp_path):
    file = RowFile(tmp_path / "rows", np.int32, 2)
    assert file.map().shape == (0, 2)
    file.append(np.array([[1, 2], [3, 4]]))
    file.append(np.array([[5, 6]]))
    assert file.read(1, 3).tolist() == [[3, 4], [5, 6]]
    mapped = file.map()
    file.path.unlink()
    assert mapped.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert type(mapped) is np.ndarray


def test_bucket_files_keep_the_order_of_rows(tmp_path):
    files = BucketFiles(tmp_path / "part", np.float32)
    files.scatter(np.array([2, 0, 2]), np.array([1.0, 2.0, 3.0]))
    files.scatter(np.array([2]), np.array([4.0]))
    assert [files.take(bucket).tolist() for bucket in range(3)] == [[2], [], [1, 3, 4]]
    assert not list(tmp_path.iterdir())
