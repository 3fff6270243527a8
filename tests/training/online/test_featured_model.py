"""The features that a training begins with are those of its settings."""

import pytest

from phrasebeam.base.errors import FormatError
from phrasebeam.decoder.model.model import open_model
from phrasebeam.decoder.sparse.template_config import Templates
from phrasebeam.training.online.featured_model import FEATURES, with_features
from tests.decoder.models import random_toy


def test_templates_that_were_changed_are_refused(tmp_path):
    directory, work = random_toy(tmp_path / "toy", 3).directory, tmp_path / "work"
    model, templates = open_model(directory), Templates(rule_id=True)
    for _ in range(2):  # written, and read again
        assert with_features(model, directory, work, templates).templates.rule_id
    path = work / FEATURES / "templates.yaml"
    path.write_text(path.read_text().replace("rule_shape: false", "rule_shape: true"))
    with pytest.raises(FormatError, match="not the templates of the settings; delete"):
        with_features(model, directory, work, templates)
