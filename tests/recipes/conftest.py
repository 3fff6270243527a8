"""A model and its data, and a copy of the package."""

import pytest

from tests.recipes.package_copy import Copy
from tests.training.maxforce.maxforce_toy import make_data

TUNED = 3  # sentence pairs


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("recipes")
    make_data(directory)
    for side in ("source", "target"):  # tuning takes most of the time, uncompiled as it is
        lines = (directory / f"dev.{side}").read_text().splitlines(keepends=True)
        (directory / f"few.{side}").write_text("".join(lines[:TUNED]))
    return directory


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path / "copy")
