"""The languages of served models, by their codes (BCP 47)."""

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from phrasebeam.base.errors import ConfigError, excerpt

CODE = r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*"
EXPECTED = "expected NAME=SOURCE:TARGET, such as news=de:en"


class LanguagePair(NamedTuple):
    """Source and target language of a model, as codes."""

    source: str
    target: str


def named_languages(given: Iterable[str], names: Collection[str]) -> dict[str, LanguagePair]:
    """Languages by the name of the model, from arguments NAME=SOURCE:TARGET. Raises ConfigError."""
    found: dict[str, LanguagePair] = {}
    for one in given:
        match = re.fullmatch(f"(.+)=({CODE}):({CODE})", one)
        if match is None:
            raise ConfigError(f"--languages {excerpt(one)}: no languages of a model, {EXPECTED}")
        if match[1] not in names:
            raise ConfigError(f"--languages {one}: no model {excerpt(match[1])}, expected one of {', '.join(names)}")
        if match[1] in found:
            raise ConfigError(
                f"--languages {one}: the model {match[1]} has languages already; leave out the one or other"
            )
        found[match[1]] = LanguagePair(match[2].replace("_", "-"), match[3].replace("_", "-"))
    return found
