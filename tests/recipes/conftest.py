"""A model and its data, and a copy of the package."""

import pytest

from tests.recipes.package_copy import Copy
from tests.training.maxforce.maxforce_toy import make_data


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("recipes")
    make_data(directory)
    return directory


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path / "copy")
