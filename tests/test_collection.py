"""All tests are run: pytest passes over folders with some names, of which `build` was one."""

from fnmatch import fnmatch
from pathlib import Path


def test_no_folder_of_tests_is_passed_over(pytestconfig):
    patterns = pytestconfig.getini("norecursedirs")
    folders = {path.parent.name for path in Path(__file__).parent.rglob("test_*.py")}
    assert "build" in folders
    assert [name for name in folders if any(fnmatch(name, pattern) for pattern in patterns)] == []
