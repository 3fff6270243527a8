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


@pytest.mark.parametrize(("given_examples", "n_examples"), [(40, 40 // conftest.SHARE), (5, conftest.FEWEST), (2, 2)])
def test_there_are_fewer_examples_where_kernels_run_uncompiled(given_examples, n_examples, monkeypatch):
    @settings(max_examples=given_examples)
    @given(st.integers())
    def search(number):
        raise AssertionError

    monkeypatch.setattr(conftest, "UNCOMPILED", True)
    conftest.pytest_collection_modifyitems([SimpleNamespace(name="search", obj=search)])
    assert search._hypothesis_internal_use_settings.max_examples == n_examples
