"""The rules of Moses' tokenizer.perl (Koehn, Schroeder and Wang), which separate punctuation from words.

They are the rules of the script, in its order; MARKS and JOINER are our additions.
"""

from collections.abc import Callable

import regex

from phrasebeam.decoder.tokenizers.moses_prefixes import nonbreaking_prefixes

# Replaces text that is not split. For the rules it is a letter and a digit, like the script's THISISPROTECTED000.
PLACEHOLDER = "\x02\x03"
# The script separates viramas, nuktas and joiners from Indic words, which then are not restored.
MARKS = r"[\p{M}--\p{InSC=Other}]"
JOINER = r"[[\p{L}\p{M}]--\p{InSC=Other}][\u200c\u200d]"

ALPHA = rf"[\p{{Alphabetic}}{MARKS}\x02]"
NOT_ALPHA = ALPHA.replace("[", "[^", 1)
N, NOT_N, NEITHER = r"[\p{N}\x03]", r"[^\p{N}\x03]", NOT_ALPHA.replace("^", r"^\p{N}\x03")
# Characters of words besides letters and digits, as the content of a class.
INSIDE = {"fi": ":", "sv": ":", "ca": "·"}
# Characters that are separated anyway, unless a lower-case letter follows. The script takes · for two signs, its bytes.
LONELY = {"fi": ":", "sv": ":", "ca": "\xc2·", "tdt": "'"}
Replacement = str | Callable[[regex.Match[str]], str]
Rule = tuple[regex.Pattern[str], Replacement]


def _apart(found: regex.Match[str]) -> str:
    return f" {found[0]} "


def _rule(pattern: str, replacement: Replacement = _apart) -> Rule:
    return regex.compile(pattern, regex.V1), replacement


COMMAS = [_rule(rf"({NOT_N}),", r"\1 , "), _rule(rf",({NOT_N})", r" , \1"), _rule(rf"({N}),$", r"\1 ,")]
DOTS = [_rule(r"\.\.+")]
ALONE = _rule(f"({NOT_ALPHA})'({NOT_ALPHA})", r"\1 ' \2")
BEFORE_WORD = _rule(f"({NOT_ALPHA})'({ALPHA})", r"\1 ' \2")
AFTER_WORD = _rule(f"({ALPHA})'({NOT_ALPHA})", r"\1 ' \2")
ENGLISH = [
    *[ALONE, _rule(f"({NEITHER})'({ALPHA})", r"\1 ' \2"), AFTER_WORD],
    *[_rule(f"({ALPHA})'({ALPHA})", r"\1 '\2"), _rule(f"({N})'s", r"\1 's")],
]
GLOTTAL = [ALONE, BEFORE_WORD, AFTER_WORD]
ELIDED = [*GLOTTAL, _rule(f"({ALPHA})'({ALPHA})", r"\1' \2")]
APOSTROPHES = {
    "en": ENGLISH,
    **dict.fromkeys(["fr", "it", "ga", "ca"], ELIDED),
    **dict.fromkeys(["so", "tdt"], GLOTTAL),
}
ANY_APOSTROPHE = [_rule("'")]
HAS_ALPHA, STARTS_LOWER = regex.compile(ALPHA, regex.V1), regex.compile(r"\p{Lowercase}")


class MosesRules:
    """Separates the tokens of a language with spaces."""

    def __init__(self, language: str):
        symbols = rf"[^\p{{Alphabetic}}\p{{Nd}}{MARKS}\x02\x03\s.'`,\-{INSIDE.get(language, '')}](?<!{JOINER})"
        self._symbols = [_rule(symbols)]
        if language in LONELY:
            self._symbols.append(_rule(LONELY[language] + r"(?=$|\P{Ll})"))
        self._apostrophes = APOSTROPHES.get(language, ANY_APOSTROPHE)
        self._prefixes = nonbreaking_prefixes(language)

    def separated(self, text: str) -> str:
        """Separate the tokens of a text, whose white space is single spaces, with spaces, some of them doubled."""
        text = _applied(self._symbols, text)
        if ".." in text:
            text = _applied(DOTS, text)
        if "," in text:
            text = _applied(COMMAS, text)
        if "'" in text:
            text = _applied(self._apostrophes, text)
        return self._with_periods(text.split()) if "." in text else text

    def _with_periods(self, words: list[str]) -> str:
        """Separate periods at the end of sentences, unless they belong to an abbreviation."""
        for i, word in enumerate(words):
            if word[-1] == "." and word.strip(".") and not self._keeps(word, words[i + 1 : i + 2]):
                words[i] = word[:-1] + " ."
        if words[-1].endswith(".'"):
            words[-1] = words[-1][:-2] + " . '"
        return " ".join(words)

    def _keeps(self, word: str, after: list[str]) -> bool:
        """Whether a word is an abbreviation that keeps its period before the following words."""
        if not after:
            return False
        start = word[:-1]
        if ("." in start and HAS_ALPHA.search(start)) or STARTS_LOWER.match(after[0]):
            return True
        return start in self._prefixes and (not self._prefixes[start] or after[0][0] in "0123456789")


def _applied(rules: list[Rule], text: str) -> str:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text
