"""Levels of sparse features that settings cannot have."""

import pytest

from phrasebeam.base.config import parse_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.sparse.templates import Templates


@pytest.mark.parametrize(
    ("level", "complaint"),
    [
        ({"kind": "word", "source": "file"}, "source and target are the maps of a level of kind classes"),
        ({"kind": "classes", "source": "file"}, "source and target are the maps of a level of kind classes"),
        ({"kind": "word", "target": "file"}, "target is a map of target words; give it to levels of kind"),
        ({"kind": "characters"}, "prefix or suffix says how many characters count"),
        ({"kind": "characters", "prefix": 1, "suffix": 1}, "suffix is of kind characters, in place of prefix"),
        ({"kind": "word", "content": ["N"]}, "content is of tags"),
    ],
)
def test_levels_that_cannot_be(level, complaint):
    with pytest.raises(ConfigError, match=f"levels.*{complaint}"):
        parse_config({"levels": [{"budget": 1, **level}]}, Templates, "settings")
