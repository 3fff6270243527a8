"""A search that another thread stops."""

import threading
import time

import pytest

from phrasebeam import Decoder, Request, SearchSettings
from phrasebeam.decoder.search.stop_flag import StopFlag
from tests.decoder.models import random_toy

# Without limits, so that the search of a long sentence takes minutes.
SLOW = {"stack": 0, "beam_threshold": 0, "distortion_limit": 20, "table_limit": 0, "max_phrase_length": 3}


@pytest.fixture(scope="module", params=["stack", "cube"])
def decoder(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("toy")
    random_toy(directory, 3, most=3)
    return Decoder.load(directory, SearchSettings(algorithm=request.param, pop_limit=0, **SLOW))


@pytest.mark.kernels
def test_a_flag_that_is_set_stops_at_once(decoder):
    stop = StopFlag()
    expected = decoder.translate("a b c")
    assert decoder.answer("a b c", stop=stop).translation == expected
    stop.set()
    with pytest.raises(InterruptedError):
        decoder.answer("a b c", Request(n=2), stop)
    assert decoder.translate("a b c") == expected  # in whatever workspace


@pytest.mark.needs_jit
def test_a_running_search_is_stopped(decoder):
    decoder.translate("a b")  # so that the kernels are there
    stop, start = StopFlag(), time.perf_counter()
    timer = threading.Timer(0.5, stop.set)
    timer.start()
    with pytest.raises(InterruptedError):
        decoder.answer(" ".join("abcd" * 20), stop=stop)
    assert 0.4 < time.perf_counter() - start < 5
    timer.join()
