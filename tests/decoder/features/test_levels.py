"""Levels of sparse features that settings cannot have."""

import pytest

from phrasebeam.base.config import parse_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.sparse.templates import Templates


@pytest.mark.parametrize(
    ("level", "complaint"),
    [
        ({"kind": "word", "source": "file"}, "levels of kind classes need source and target"),
        ({"kind": "classes", "source": "file"}, "levels of kind classes need source and target"),
        ({"kind": "word", "target": "file"}, "target is a map of target words; give it to levels of kind"),
        ({"kind": "characters"}, "prefix or suffix is the number of characters"),
        ({"kind": "characters", "prefix": 1, "suffix": 1}, "suffix is for kind characters, instead of prefix"),
        ({"kind": "word", "content": ["N"]}, "content is for tags"),
    ],
)
def test_levels_that_cannot_be(level, complaint):
    with pytest.raises(ConfigError, match=f"levels.*{complaint}"):
        parse_config({"levels": [{"budget": 1, **level}]}, Templates, "settings")
