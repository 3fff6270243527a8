"""Hash tables of language models whose words or n-grams are not where queries look for them."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.probing import ABSENT, VOCABULARY, entry_width, map_image, view_tables
from phrasebeam.lm.table_check import NO_BUCKET, contradictions, find_lost_entry, find_other_word
from tests.naive import table_checks as naive
from tests.naive.ngrams import murmur64a, random_arpa

pytestmark = pytest.mark.kernels

GOLDEN = Path(__file__).with_name("toy.probing.bin")
SENTENCES = [["a", "b", "a", "c"], ["b", "b", "b", "a"], ["c", "a", "b", "d", "a", "b"], ["d"]]
WORDS = int(VOCABULARY)
TABLES = [WORDS, 2, 3]


def entries_of(tables, table):
    """uint32[B, width], the entries of a table."""
    width = entry_width(tables.order, table)
    units = tables.units[tables.starts[table] :][: int(tables.buckets[table]) * width]
    return units.reshape(-1, width)


def keys_of(tables, table):
    return np.ascontiguousarray(entries_of(tables, table)[:, :2]).view(np.uint64)[:, 0].tolist()


def damaged(change):
    """The toy model after `change` of the entries of its tables, and of its last bytes."""
    image, header = map_image(GOLDEN)
    tables = view_tables(image, header)
    change({table: entries_of(tables, table) for table in TABLES}, image[tables.units.nbytes :])
    return LanguageModel(image, header)


def used(rows):
    return np.flatnonzero(rows[:, :2].any(axis=1))


def test_a_sound_model():
    assert [*contradictions(damaged(lambda entries, words: None))] == []
    assert [*contradictions(LanguageModel.load(GOLDEN.with_name("toy.arpa")))] == []


@given(st.integers(2, 4), st.integers(0, 2**20), st.sampled_from([0.0, 0.5, 0.9]))
def test_models_without_some_suffixes_are_sound(tmp_path_factory, order, seed, drop):
    """Their tables have entries that the header does not count."""
    path = tmp_path_factory.mktemp("arpa") / "model.arpa"
    path.write_text(random_arpa(SENTENCES, order, seed, drop))
    assert [*contradictions(LanguageModel.load(path))] == []


@given(st.sampled_from(TABLES), st.integers(0, 3), st.sampled_from([2, None]), st.randoms(use_true_random=False))
def test_lost_entries_and_words(table, n_swaps, width, rng):
    """Hashes, or whole entries, of the table have changed places."""

    def swap(entries, words):
        for _ in range(n_swaps):
            rows = [rng.randrange(len(entries[table])) for _ in range(2)]
            entries[table][rows, :width] = entries[table][rows[::-1], :width]

    model = damaged(swap)
    keys = keys_of(model.tables, table)
    bucket, found = find_lost_entry(model.tables, np.int64(table))
    if expected := naive.lost_entry(keys):
        assert (bucket, found) == (expected[0], ABSENT if expected[1] is None else expected[1])
    else:
        assert (bucket, found) == (NO_BUCKET, sum(key > 0 for key in keys))
    words = model.ended_words.tobytes().split(b"\0")[:-1]
    expected = naive.other_word(words, {word: id_of(model.tables, word) for word in words})
    number, word_id, begin, end = find_other_word(model.tables, model.ended_words)
    assert (number, word_id) == (expected or (len(words), 0))
    assert model.ended_words[begin:end].tobytes() == (words[number] if expected else b"")


def id_of(tables, word):
    keys, key = keys_of(tables, WORDS), murmur64a(word)
    bucket = naive.find(keys, key % len(keys), key)
    return 0 if bucket is None else int(entries_of(tables, WORDS)[bucket, 2])


def permute_ids(entries, words):
    rows = used(entries[WORDS])
    entries[WORDS][rows, 2] = np.roll(entries[WORDS][rows, 2], 1)


def repeat_id(entries, words):
    rows = used(entries[WORDS])
    entries[WORDS][rows[0], 2] = entries[WORDS][rows[1], 2]


def swap_words(entries, words):
    a, b = words.tobytes().index(b"\0a\0") + 1, words.tobytes().index(b"\0b\0") + 1
    words[[a, b]] = words[[b, a]]


def reverse(entries, words):
    entries[3][:] = entries[3][::-1].copy()


def repeat_key(entries, words):
    rows = used(entries[2])
    entries[2][rows[0], :2] = entries[2][rows[1], :2]


def forget(entries, words):
    entries[3][used(entries[3])[-1]] = 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (permute_ids, r"the word '.*' at the end of the file has the id \d, expected 1, its place there"),
        (repeat_id, r"the id \d is in [02] buckets of the words, expected 1"),
        (swap_words, r"the word 'b' at the end of the file has the id \d, expected \d, its place there"),
        (reverse, r"bucket \d+ of the 3-grams: no query finds it, expected no empty bucket between .*"),
        (repeat_key, r"bucket \d+ of the 2-grams: .*"),
        (forget, r"bucket \d+ of the 3-grams: .*|\d+ 3-grams, expected at least \d+ as the header says"),
    ],
)
def test_what_contradicts_itself(change, message):
    found = [*contradictions(damaged(change))]
    assert found and any(re.fullmatch(message, line) for line in found), found
