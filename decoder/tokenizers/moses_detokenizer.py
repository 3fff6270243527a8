"""The rules of Moses' detokenizer.perl (Schroeder, Koehn and Bojar), which join tokens to text.

They are the rules of the script, with two additions: no space precedes a danda, and contractions of Catalan and Irish
are joined like those of French.
"""

from collections import Counter
from collections.abc import Callable

import regex

LEFT, RIGHT, BOTH, NONE = (True, False), (False, True), (True, True), (False, False)  # the sides without a space
Sides = tuple[bool, bool]
LanguageRule = Callable[[list[str], int], Sides | None]  # for the word at a position

CJK_BLOCKS = "\u1100-\u11ff\u2e80-\ua4cf\ua840-\ua87f\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff65-\uffdc"
CJK = regex.compile(f"[{CJK_BLOCKS}\U00020000-\U0002ffff]")
KINDS = {
    "cjk": CJK.pattern,
    "opening": r"[\p{Sc}(\[{¿¡]+\Z",
    "closing": r"[,.?!:;\\%}\])\u0964\u0965]+\Z",  # the last two are dandas, which the script lacks
    "quotes": "['\"„“`]+\\Z",
}
KIND = regex.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in KINDS.items()))
JOINED = {"opening": RIGHT, "closing": LEFT}
LOW_QUOTES = regex.compile("[„“]+")
LETTER, WORD_END = regex.compile(r"\p{Alphabetic}"), regex.compile(r"[\p{Alphabetic}\p{Nd}]")
DIGITS = regex.compile("[0-9]+")
FRENCH_SPACED = frozenset("?!:;\\%")
FINNISH_CASE = regex.compile(
    "([NnAaÄä]|[Ss]s[aä]|[Ss]t[aä]|[Hh][uyaäö]n|[UuYyAaÄäÖö]n|[Ss]een|[Ll][lt][aä]|[Ll]le|[Kk]s[ie]|[Tt]ta|[Ii]ne)"
    "(ni|si|mme|nne|nsa)?(ko|kö|han|hän|pa|pä|kaan|kään|kin)?"
)


def _english(words: list[str], i: int) -> Sides | None:
    """Joins contractions, such as we 're."""
    word = words[i]
    return LEFT if i and word[0] == "'" and LETTER.match(word, 1) and WORD_END.match(words[i - 1][-1]) else None


def _elided(words: list[str], i: int) -> Sides | None:
    """Joins contractions, such as l' eau."""
    word = words[i]
    if word[-1] != "'" or len(word) < 2 or i + 1 == len(words):
        return None
    return RIGHT if LETTER.match(word[-2]) and LETTER.match(words[i + 1]) else None


def _czech(words: list[str], i: int) -> Sides | None:
    """Joins numbers, such as 3 , 5, and within a sentence a few compounds, such as je - li and e - mail."""
    word = words[i]
    if i > 1 and words[i - 1] in (",", ".") and DIGITS.fullmatch(word) and DIGITS.fullmatch(words[i - 2]):
        return LEFT
    if _is_compound(words, i):
        return RIGHT
    return BOTH if i and not CJK.match(words[i - 1]) and _is_compound(words, i - 1) else None


def _is_compound(words: list[str], i: int) -> bool:
    if i + 3 >= len(words) or words[i + 1] not in ("-", "\u2013") or not LETTER.match(words[i][-1]):
        return False
    second = words[i + 2].lower()
    return second == "li" or second.startswith("mail")


def _finnish(words: list[str], i: int) -> Sides | None:
    """Joins case endings, such as EU: n."""
    return LEFT if i and words[i - 1][-1] == ":" and FINNISH_CASE.fullmatch(words[i]) else None


LANGUAGE_RULES: dict[str, LanguageRule] = {
    "en": _english,
    "cs": _czech,
    "fi": _finnish,
    **dict.fromkeys(["fr", "it"], _elided),
    **dict.fromkeys(["ca", "ga"], _elided),  # the script lacks these
}


class MosesJoiner:
    """Joins the words of a language to text."""

    def __init__(self, language: str):
        self._language, self._rule = language, LANGUAGE_RULES.get(language)
        self._spaced = FRENCH_SPACED if language == "fr" else frozenset()

    def text(self, words: list[str]) -> str:
        """Join words, none of which contains white space, to a text."""
        quotes: Counter[str] = Counter()
        parts, joins = [], True
        for i, word in enumerate(words):
            left, right = self._sides(words, i, quotes)
            if left and self._language == "fi" and FINNISH_CASE.fullmatch(word):
                word = word.lower()  # the case after a colon may be a capital
            parts.append(word if (left or joins) and word not in self._spaced else " " + word)
            joins = right
        return "".join(parts).strip()

    def _sides(self, words: list[str], i: int, quotes: Counter[str]) -> Sides:
        found = KIND.match(words[i])
        kind = found.lastgroup if found else None
        if kind == "cjk":
            return LEFT if i and self._language != "ko" and CJK.match(words[i - 1][-1]) else NONE
        if kind in JOINED:
            return JOINED[kind]
        if self._rule and (sides := self._rule(words, i)):
            return sides
        return self._quote_sides(words, i, quotes) if kind == "quotes" else NONE

    def _quote_sides(self, words: list[str], i: int, quotes: Counter[str]) -> Sides:
        """Joins quotation marks to the quoted text: every second mark of a kind is closing."""
        kind = '"' if LOW_QUOTES.fullmatch(words[i]) else words[i]
        if self._language == "cs" and words[i] in ("„", "“"):
            quotes[kind] = int(words[i] == "“")
        if quotes[kind] % 2:
            quotes[kind] += 1
            return LEFT
        if self._language == "en" and words[i] == "'" and i and words[i - 1][-1] == "s":
            return LEFT  # the Jones' house
        quotes[kind] += 1
        return RIGHT
