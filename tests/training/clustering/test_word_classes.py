"""Brown clusters against mutual information computed anew for each merge."""

from collections import Counter
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from phrasebeam.lm import counting
from phrasebeam.training.clustering.bigrams import count_keys, read_bigrams
from phrasebeam.training.clustering.word_classes import TABULATED, cluster, merge_words
from tests.naive import word_classes as naive

pytestmark = pytest.mark.kernels

texts = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("text") / "text"


def write(path, sentences):
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences))


def repeated(bigrams, times):
    after, before = (side._replace(counts=times * side.counts) for side in bigrams[2:])
    return bigrams._replace(counts=times * bigrams.counts, after=after, before=before)


@settings(max_examples=40)
@given(texts, st.integers(1, 2), st.integers(2, 6), st.sampled_from([1, 1, 7, TABULATED // 2, 10**6]))
def test_same_merges_and_bit_strings(path, sentences, min_count, n_classes, times):
    """Counts are looked up or not, and ties are broken alike."""
    write(path, sentences)
    bigrams = read_bigrams([path], min_count)
    n_classes = min(n_classes, len(bigrams.words))
    if n_classes < 2:
        return
    merges, bits = naive.cluster(sentences, n_classes, min_count, times)
    bigrams = repeated(bigrams, times)
    found = [(bigrams.words[a], bigrams.words[b]) for a, b in merge_words(bigrams, n_classes)[1].tolist()]
    assert found == merges
    assert dict(zip(bigrams.words, cluster(bigrams, n_classes))) == bits


def test_words_of_one_use_are_one_class(path):
    write(path, [f"{a} {n} {v} .".split() for a in ("the", "a") for n in ("cat", "dog", "cow") for v in ("ate", "ran")])
    bigrams = read_bigrams([path])
    classes = {}
    for word, bits in zip(bigrams.words, cluster(bigrams, 4)):
        classes.setdefault(bits, set()).add(word)
    assert sorted(map(sorted, classes.values())) == [["."], ["a", "the"], ["ate", "ran"], ["cat", "cow", "dog"]]


@pytest.mark.parametrize("n_classes", [0, 1, 4])
def test_impossible_numbers_of_classes(path, n_classes):
    write(path, ["abc"])
    with pytest.raises(ValueError, match="classes of 3 words"):
        cluster(read_bigrams([path]), n_classes)


@given(st.lists(texts, min_size=1, max_size=2), st.integers(0, 3), st.sampled_from([1, 5, 1 << 19]))
def test_bigrams(tmp_path_factory, parts, min_count, chunk):
    directory = tmp_path_factory.mktemp("bigrams")
    paths = [directory / str(i) for i in range(len(parts))]
    for path, sentences in zip(paths, parts):
        write(path, sentences)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "CHUNK", chunk)
        bigrams = read_bigrams(paths, min_count)
    sentences = [sentence for sentences in parts for sentence in sentences]
    counts = Counter(word for sentence in sentences for word in sentence)
    assert list(zip(bigrams.words, bigrams.counts.tolist())) == [
        (word, count) for word, count in counts.most_common() if count >= min_count
    ]
    pairs = Counter(pair for sentence in sentences for pair in pairwise(sentence))
    kept = {(v, w): n for (v, w), n in pairs.items() if min(counts[v], counts[w]) >= min_count}
    assert as_dict(bigrams.words, bigrams.after) == kept
    assert {(w, v): n for (v, w), n in as_dict(bigrams.words, bigrams.before).items()} == kept


def as_dict(words, side):
    rows = np.repeat(np.arange(len(words)), np.diff(side.offsets)).tolist()
    return {(words[v], words[w]): n for v, w, n in zip(rows, side.words.tolist(), side.counts.tolist())}


@given(st.lists(st.lists(st.integers(0, 5), max_size=6), max_size=10))
def test_keys(chunks):
    keys, counts = count_keys(np.array(chunk, np.int64) for chunk in chunks)
    expected = Counter(key for chunk in chunks for key in chunk)
    assert list(zip(keys.tolist(), counts.tolist())) == sorted(expected.items())


def test_words_of_language_models_are_left_out(path):
    path.write_text("a b\n<s> c </s> d\n")
    found = read_bigrams([path])
    path.write_text("a b\nc d\n")
    assert found.words == read_bigrams([path]).words == ["a", "b", "c", "d"]
    assert np.array_equal(found.after.words, read_bigrams([path]).after.words)
