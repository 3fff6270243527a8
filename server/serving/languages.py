"""Languages by their codes (BCP 47), and the look-up of the nearest one (RFC 4647, section 3.4)."""

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from phrasebeam.base.errors import ConfigError, excerpt

CODE = r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*"
EXPECTED = "expected NAME=SOURCE:TARGET, such as news=de:en"


class LanguagePair(NamedTuple):
    """What a model translates, by the codes of its languages."""

    source: str
    target: str


def ranges(code: str) -> list[str]:
    """A code, and what remains of it when one part after the other is cut off at its end; cases do not count.

    >>> ranges("zh_Hans-CN")
    ['zh-hans-cn', 'zh-hans', 'zh']
    """
    parts = code.lower().replace("_", "-").split("-")
    return ["-".join(parts[:n]) for n in range(len(parts), 0, -1)]


def distance(wanted: str, known: str) -> int | None:
    """Parts of a code that are cut off for a language that is known; None where it is none of what remains."""
    remains, code = ranges(wanted), ranges(known)[0]
    return remains.index(code) if code in remains else None


def named_languages(given: Iterable[str], names: Collection[str]) -> dict[str, LanguagePair]:
    """Languages by the names of models, of arguments NAME=SOURCE:TARGET. Raises ConfigError."""
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
