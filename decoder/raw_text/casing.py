"""Lower, upper and title case by the rules of a language: Unicode's, and the dotted and dotless i of Turkish and Azeri.

Letters of scripts without case stay as they are. Languages are BCP 47 codes, such as tr or az-Latn.
"""

import re
from collections.abc import Iterable

DOTTED_I = {"az", "tr"}  # Unicode's SpecialCasing.txt


def lower(text: str, language: str) -> str:
    """The text in lower case.

    >>> lower("İZMİR", "tr")
    'izmir'
    """
    if has_dotted_i(language):
        text = re.sub("I\u0307|İ", "i", text).replace("I", "\u0131")
    return text.lower()


def upper(text: str, language: str) -> str:
    """The text in upper case.

    >>> upper("izmir", "tr")
    'İZMİR'
    """
    return (text.replace("i", "İ") if has_dotted_i(language) else text).upper()


def capitalized(text: str, language: str) -> str:
    """The text with a capital at its beginning, if its first character is a letter that has one.

    >>> capitalized("iyi günler", "tr")
    'İyi günler'
    """
    first = text[:1]
    return ("İ" if first == "i" and has_dotted_i(language) else first.title()) + text[1:]


def begin_with_capitals(lines: Iterable[str]) -> bool:
    """Whether most of the lines whose first letter has case begin with a capital.

    >>> begin_with_capitals(["«Si»", "no", "1. Él"])
    True
    """
    firsts = [next(filter(str.isalpha, line), "") for line in lines]
    return sum(map(str.islower, firsts)) <= sum(one.isupper() or one.istitle() for one in firsts)


def has_dotted_i(language: str) -> bool:
    """Whether a language has two letters i, with and without a dot, each with its own capital."""
    return re.split("[-_]", language, maxsplit=1)[0].lower() in DOTTED_I
