"""The log of updates: what was written is read back, the last first; what is damaged is refused."""

import numpy as np
import pytest

from phrasebeam.base.errors import FormatError
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.training.online.update_log import Record, UpdateLog, latest_first


def derivation(*pairs):
    return Derivation(np.array(pairs, np.int64), np.arange(len(pairs), dtype=np.int32), np.ones(len(pairs), np.int32))


RECORDS = [Record(3, derivation(1, -2), derivation()), Record(0, derivation(7), derivation(8, 9, 10))]


@pytest.fixture
def log(tmp_path):
    written = UpdateLog(tmp_path / "log", 0)
    for record in RECORDS:
        written.add(record)
    written.close()
    return tmp_path / "log"


def plain(record):
    return record.number, *([field.tolist() for field in derivation] for derivation in record[1:])


def test_the_last_record_comes_first(log):
    assert list(map(plain, latest_first(log))) == [plain(record) for record in reversed(RECORDS)]


def test_an_empty_log_has_no_records(tmp_path):
    (tmp_path / "log").touch()
    assert list(latest_first(tmp_path / "log")) == []


def test_every_damaged_byte_is_found(log):
    whole = log.read_bytes()
    for place in range(len(whole)):
        log.write_bytes(whole[:place] + bytes([whole[place] ^ 0x81]) + whole[place + 1 :])
        with pytest.raises(FormatError, match="not as it was written"):
            list(latest_first(log))


def test_a_log_that_lost_its_end_is_not_gone_on_with(log):
    size = log.stat().st_size
    log.write_bytes(log.read_bytes()[:-1])
    with pytest.raises(FormatError, match="not as it was written"):
        UpdateLog(log, size)
