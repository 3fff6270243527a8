"""What travels to other processes: arrays, mapped arrays as their files, models as their parts."""

import numpy as np
import pytest

from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.engine.mapped_files import MissingFile, keep_shipped, map_again, mapped_array
from phrasebeam.engine.parcel import pack, size_of, unpack
from tests.decoder.models import random_toy

pytest.importorskip("ray")


@pytest.fixture
def mapped(tmp_path):
    """int64[100, 20] in a file."""
    np.save(tmp_path / "rows.npy", np.arange(2000).reshape(100, 20))
    return np.asarray(np.load(tmp_path / "rows.npy", mmap_mode="c"))


@pytest.mark.parametrize("part", [np.s_[:], np.s_[3:90], np.s_[:, 2:19], np.s_[::3, 1], np.s_[5:80]])
def test_mapped_arrays_travel_as_places_in_files(mapped, part):
    array = mapped[part].T
    place = mapped_array(array)
    again = map_again(place)
    assert again.dtype == array.dtype and again.tolist() == array.tolist() and again.flags.writeable
    if array.nbytes >= 1 << 12:
        assert size_of(pack(array)) < 1000
    assert unpack(pack(array)).tolist() == array.tolist()


def test_arrays_in_memory_travel_whole_and_can_be_written_to():
    array = np.arange(10_000)
    sent = unpack(pack({"a": array, "view": array[::2], "text": lambda: array[1]}))
    sent["a"][1] = 7
    assert sent["view"].flags.writeable and sent["text"]() in (1, 7) and array[1] == 1


def test_an_array_whose_file_was_removed_travels_whole(mapped, tmp_path):
    (tmp_path / "rows.npy").unlink()
    assert mapped_array(mapped) is None
    assert unpack(pack(mapped)).tolist() == mapped.tolist()


def test_other_files_of_the_name_are_told_from_those_that_were_sent(mapped, tmp_path, monkeypatch):
    monkeypatch.setenv("PHRASEBEAM_CACHE", str(tmp_path / "cache"))
    place, before = mapped_array(mapped), (tmp_path / "rows.npy").read_bytes()
    (tmp_path / "rows.npy").unlink()
    np.save(tmp_path / "rows.npy", np.arange(2000).reshape(100, 20) + 1)
    with pytest.raises(MissingFile) as caught:
        map_again(place)
    keep_shipped(caught.value.file, [np.frombuffer(before[:500], np.uint8), np.frombuffer(before[500:], np.uint8)])
    assert map_again(place).tolist() == np.arange(2000).reshape(100, 20).tolist()


def test_memoryviews_are_refused():
    with pytest.raises(TypeError, match="its owner must pack it"):
        pack(memoryview(b"abc"))


def test_a_decoder_travels_with_what_was_done_to_it(tmp_path):
    random_toy(tmp_path, 3)
    decoder = Decoder.load(tmp_path)
    before = decoder.translate("a b c")
    sent = unpack(pack(decoder.translate))
    assert sent("a b c") == before
    weights = decoder.dense_weights
    decoder.reweigh(decoder.model.weights.model_copy(update={"word_penalty": -3.0}))
    assert unpack(pack(decoder.translate))("a b c") == decoder.translate("a b c")
    assert weights is not decoder.dense_weights
