"""Source phrases found as in a dict, and one clear error for each way in which a file can be wrong."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import FormatError, ModelError, SmtError
from phrasebeam.decoder.tables import phrase_table
from phrasebeam.decoder.tables.model_files import COUNTS, PHRASES, REORDERING, SCORE_CODES
from phrasebeam.decoder.tables.phrase_table import (
    ABSENT,
    PhraseTable,
    ReorderingTable,
    find_source,
    open_phrase_table,
    open_reordering_table,
    phrase_hash,
)
from phrasebeam.decoder.tables.source_slots import build_slots
from tests.decoder.models import random_toy, save_arrays

pytestmark = pytest.mark.kernels

WORDS = st.integers(0, 3) | st.sampled_from([2**16, 2**31 - 1])
PHRASE = st.lists(WORDS, min_size=1, max_size=4).map(tuple)


def table_of(phrases, n_slots=None):
    """A table of source phrases alone; in a hash table of `n_slots` slots, filled to the last but one if need be."""
    offsets = np.cumsum([0, *map(len, phrases)]).astype(np.int64)
    words = np.array([word for phrase in phrases for word in phrase], np.int32)
    fields = {file.name: file.array.new(dict.fromkeys(COUNTS, 0) | {"K": 4}) for file in PHRASES}
    slots = build_slots(offsets, words) if n_slots is None else crowded_slots(offsets, words, n_slots)
    return PhraseTable(**fields | {"slots": slots, "source_offsets": offsets, "source_words": words})


def crowded_slots(offsets, words, size):
    """Linear probing in a table with hardly any room: one long run."""
    slots = np.full(size, ABSENT, np.int64)
    for i in range(offsets.size - 1):
        slot = int(phrase_hash(words, offsets[i], offsets[i + 1])) % size
        while slots[slot] != ABSENT:
            slot = (slot + 1) % size
        slots[slot] = i
    return slots


@given(st.lists(PHRASE, unique=True, max_size=31), st.lists(PHRASE, max_size=20), st.sampled_from([None, 32]))
@settings(max_examples=60)
def test_agrees_with_a_dict(phrases, others, n_slots):
    table, places = table_of(phrases, n_slots), {phrase: i for i, phrase in enumerate(phrases)}
    for phrase in [*phrases, *others]:
        text = np.array([9, *phrase, 9], np.int32)
        assert find_source(table, text, 1, len(phrase) + 1) == places.get(phrase, ABSENT)


@given(st.lists(st.integers(0, 9), max_size=9), st.sampled_from([1, 2, 100]))
def test_the_longest_run(lengths, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(phrase_table, "LONGEST_AT_ONCE", at_once)
        assert phrase_table.longest(np.cumsum([0, *lengths])) == max(lengths, default=0)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Directory with the arrays of a small model, and their names."""
    return random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory


def rewrite(change):
    return lambda path: np.save(path, change(np.load(path)))


DAMAGES = {
    "missing": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "cut in half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "a byte short": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "a byte too many": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "twice": lambda path: path.write_bytes(2 * path.read_bytes()),
    "garbage": lambda path: path.write_bytes(bytes(range(256)) * 4),
    "another version": lambda path: path.write_bytes(b"\x93NUMPY\x09" + path.read_bytes()[7:]),
    "several arrays": lambda path: path.write_bytes(npz()),
    "objects": rewrite(lambda array: array.astype(object)),
    "another type": rewrite(lambda array: array.astype(np.float64)),
    "another byte order": rewrite(lambda array: array.astype(f">{array.dtype.kind}{max(2, array.itemsize)}")),
    "another sign": rewrite(lambda array: array.view(f"{'i' if array.dtype.kind == 'u' else 'u'}{array.itemsize}")),
    "a structure": rewrite(lambda array: array.view([("field", array.dtype)])),
    "columns first": rewrite(lambda array: np.asfortranarray(np.column_stack([array, array]))),
    "three dimensions": rewrite(lambda array: array[..., None, None]),
    "another number of dimensions": rewrite(lambda array: array[None]),
    "a number": rewrite(lambda array: np.array(3, array.dtype)),
    "no rows": rewrite(lambda array: array[:0]),
    "a row too many": rewrite(lambda array: np.concatenate([array, array[:1]])),
}


def npz():
    file = io.BytesIO()
    np.savez(file, np.zeros(3), np.zeros(3))
    return file.getvalue()


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "name", [*(f"phrases/{file.name}" for file in PHRASES), "reordering/ln_scores", "reordering/counts"]
)
def test_damaged_files_are_named(tmp_path, saved, name, damage):
    folder = name.split("/")[0]
    whole = open_phrase_table(saved / "phrases")
    reordering = open_reordering_table(saved / "reordering", whole.target_counts.size)
    (tmp_path / folder).mkdir()
    save_arrays(whole if folder == "phrases" else reordering, tmp_path / folder)
    path = tmp_path / f"{name}.npy"
    DAMAGES[damage](path)
    with pytest.raises(FormatError if damage != "missing" else ModelError) as caught:
        if folder == "phrases":
            open_phrase_table(tmp_path / folder)
        else:
            open_reordering_table(tmp_path / folder, whole.target_counts.size)
    message = str(caught.value)
    # Counts that do not agree are put down to one of the files that should agree.
    assert message.startswith(str(path) if not disagrees(name, damage) else str(tmp_path / folder))
    assert "\n" not in message
    assert "pickle" not in message
    assert message.endswith("train the model again or copy it whole")


def disagrees(name, damage):
    return damage == "a row too many" and name.endswith("_offsets")


def test_an_empty_table_is_whole(tmp_path):
    save_arrays(table_of([]), tmp_path)
    assert find_source(open_phrase_table(tmp_path), np.zeros(1, np.int32), 0, 1) == ABSENT


def test_missing_directory(tmp_path):
    with pytest.raises(SmtError, match="missing"):
        open_phrase_table(tmp_path / "nowhere")


def test_all_fields_are_declared_in_their_files():
    for struct, files in ((PhraseTable, (*PHRASES, *SCORE_CODES)), (ReorderingTable, REORDERING)):
        assert {*struct._fields} == {file.name for file in files}
