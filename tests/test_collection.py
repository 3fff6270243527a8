"""All tests are run: pytest passes over folders with some names. Some tests run shorter where they are not compiled."""

from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import conftest


def test_no_folder_of_tests_is_passed_over(pytestconfig):
    patterns = pytestconfig.getini("norecursedirs")
    folders = {path.parent.name for path in Path(__file__).parent.rglob("test_*.py")}
    assert [name for name in folders if any(fnmatch(name, pattern) for pattern in patterns)] == []


@pytest.mark.parametrize(("room", "n_examples"), [("decoder/search", 20), ("decoder/moses", 20), ("lm", 40)])
def test_searches_have_fewer_examples_where_they_run_uncompiled(room, n_examples, monkeypatch):
    @settings(max_examples=40)
    @given(st.integers())
    def search(number):
        raise AssertionError

    folder = Path(__file__).parent / room
    assert [*folder.glob("test_*.py")]
    monkeypatch.setattr(conftest, "UNCOMPILED", True)
    conftest.pytest_collection_modifyitems([SimpleNamespace(name="search", path=folder / "test_it.py", obj=search)])
    assert search._hypothesis_internal_use_settings.max_examples == n_examples
