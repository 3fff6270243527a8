"""Forms of German and English words: declension of nouns, adjectives and determiners, conjugation of verbs."""

import re
from dataclasses import dataclass

NOMINATIVE, ACCUSATIVE, DATIVE, GENITIVE = range(4)
PLURAL = 3  # after the genders m, f, n: determiners and adjectives have one form for all of them
GENDERS = "mfn"
FIRST_SINGULAR, SECOND_SINGULAR, THIRD_SINGULAR, FIRST_PLURAL, SECOND_PLURAL, THIRD_PLURAL = range(6)


def table(rows: str) -> list[list[str]]:
    """Words of each row; rows are separated by "|"."""
    return [row.split() for row in rows.split("|")]


# Endings by case (nominative, accusative, dative, genitive), each by gender m, f, n and plural; "-" is no ending.
DER_WORD = table("er e es e | en e es e | em er em en | es er es er")
EIN_WORD = table("- e - e | en e - e | em er em en | es er es er")
WEAK = table("e e e en | en e e en | en en en en | en en en en")
MIXED = table("er e es en | en e es en | en en en en | en en en en")
STRONG = table("er e es e | en e es e | em er em en | en er en er")
THE = table("der die das die | den die das die | dem der dem den | des der des der")
RELATIVE = table("der die das die | den die das die | dem der dem denen")
CONTRACTIONS = {"in dem": "im", "in das": "ins", "zu dem": "zum", "zu der": "zur", "an dem": "am", "an das": "ans"}
CONTRACTIONS |= {"von dem": "vom", "bei dem": "beim"}

INSEPARABLE = ("be", "ver", "er", "ent", "zer", "emp", "miss", "unter")
DOUBLED = {"plan", "pet", "chat", "get", "put", "run", "swim", "sit", "forget"}


@dataclass(frozen=True, eq=False)
class Noun:
    """A noun and its translation."""

    gender: int  # index in GENDERS
    forms: tuple[tuple[str, ...], tuple[str, ...]]  # German singular and plural, by case
    english: tuple[str, str]  # singular and plural
    countable: bool
    kind: str  # the class of the lexicon it belongs to


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb, its translation, and what it takes."""

    prefix: str  # separable, or ""
    infinitive: str  # without the prefix
    present: tuple[str, ...]  # by person
    preterite: tuple[str, ...]
    participle: str  # with the prefix
    auxiliary: str  # haben or sein
    english: tuple[str, str, str, str]  # base, past, participle, -ing form; the words that follow are in `link`
    third: str  # English third person
    link: str  # words between the English verb and its object
    movable: bool  # `link` follows a pronoun: "picks him up"
    reflexive: bool
    frame: str  # t, d, p, b, i, g or l as in the lexicon
    preposition: str
    case: int  # of the object
    objects: tuple[str, ...]  # classes of nouns


def make_noun(line: str, kind: str) -> Noun:
    """Parse a lexicon line: German, gender, plural, English and perhaps its plural."""
    german, gender, plural, english, *irregular = (word.replace("_", " ") for word in line.split())
    countable = plural != "-"
    weak = gender == "mw"
    oblique = plural if weak else german
    genitive = oblique if weak or gender == "f" else german + _genitive_ending(german)
    if not countable:
        plural = german
    dative = plural if plural[-1] in "ns" or not countable else plural + "n"
    forms = ((german, oblique, oblique, genitive), (plural, plural, dative, plural))
    translations = (english, irregular[0] if irregular else _with_s(english))
    return Noun(GENDERS.index(gender[0]), forms, translations, countable, kind)


def _genitive_ending(german: str) -> str:
    if german.endswith(("nis", "bus")):
        return "ses"
    if german.endswith("chef"):
        return "s"
    if german[-1] in "szxß" or german.endswith("sch"):
        return "es"
    return "es" if len(re.findall("[aeiouäöüy]+", german)) == 1 and german[-1] not in "aeiouäöü" else "s"


def _with_s(word: str) -> str:
    if word[-1] == "y" and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def comparative(english: str) -> str:
    """The regular comparative of an adjective: with -er if it is short, else with "more"."""
    if len(re.findall("[aeiouy]+", english.removesuffix("e"))) == 1:
        return english + ("r" if english.endswith("e") else "er")
    return "more " + english


def article(english: str) -> str:
    """ "a" or "an", by the word that follows."""
    return "an" if english[0] in "aeiou" and not english.startswith(("uni", "use")) else "a"


def make_verb(line: str) -> Verb:
    """Parse a line of lexicon.VERBS."""
    german, english, frame = (part.strip() for part in line.split("|"))
    takes, *objects = frame.split()
    reflexive, (takes, preposition, case) = takes[0] == "r", (*takes.removeprefix("r").split(":"), "", "")[:3]
    auxiliary = "sein" if german.endswith("*") else "haben"
    parts = german.rstrip("*").split("/")
    prefix, _, infinitive = parts[0].rpartition("-")
    third, past, participle = parts[1:] if len(parts) == 4 else _weak(infinitive)
    head, _, link = english.partition(" ")
    base, *irregular = head.split("/")
    english_past = irregular[0] if irregular else _past(base)
    return Verb(
        prefix=prefix,
        infinitive=infinitive,
        present=_present(infinitive, third),
        preterite=_preterite(past),
        participle=prefix + participle,
        auxiliary=auxiliary,
        english=(base, english_past, irregular[-1] if irregular else english_past, _ing(base)),
        third=base + "es" if base == "go" else _with_s(base),
        link=link.removeprefix("+"),
        movable=link.startswith("+"),
        reflexive=reflexive,
        frame=takes,
        preposition=preposition,
        case=DATIVE if takes == "d" or case == "d" else ACCUSATIVE,
        objects=tuple(objects),
    )


def _weak(infinitive: str) -> tuple[str, str, str]:
    """Third person present, preterite and participle of a regular verb."""
    stem = _stem(infinitive)
    ending = "et" if stem.endswith(("t", "d", "ffn", "chn", "gn")) else "t"
    ge = "" if infinitive.startswith(INSEPARABLE) or infinitive.endswith("ieren") else "ge"
    return stem + ending, stem + ending + "e", ge + stem + ending


def _stem(infinitive: str) -> str:
    return infinitive[:-1] if infinitive.endswith(("eln", "ern")) else infinitive[:-2]


def _present(infinitive: str, third: str) -> tuple[str, ...]:
    stem = _stem(infinitive)
    first = stem[:-2] + "le" if infinitive.endswith("eln") else stem + "e"
    base = third if stem.endswith("t") and third == third.removesuffix("et") else third.removesuffix("t")
    second = base + ("t" if base[-1] in "sßzx" else "st")
    plural = stem + ("et" if stem.endswith(("t", "d", "ffn", "chn", "gn")) else "t")
    return first, second, third, infinitive, plural, infinitive


def _preterite(past: str) -> tuple[str, ...]:
    plural = past + ("n" if past.endswith("e") else "en")
    second = past + ("est" if past[-1] in "tdsßz" else "st")
    return past, second, past, plural, past + ("et" if past[-1] in "td" else "t"), plural


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base[-1] == "y" and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + (base[-1] if base in DOUBLED else "") + "ed"


def _ing(base: str) -> str:
    if base.endswith("e") and not base.endswith("ee"):
        return base[:-1] + "ing"
    return base + (base[-1] if base in DOUBLED else "") + "ing"
