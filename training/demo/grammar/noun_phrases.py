"""Noun phrases in both languages: determiners, adjectives, compounds, pronouns, names, numbers and places."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from phrasebeam.training.demo.grammar import inflection, lexicon
from phrasebeam.training.demo.grammar.inflection import ACCUSATIVE, DATIVE, GENITIVE, NOMINATIVE, PLURAL, Noun

Draw = Callable[[], float]  # a random number in [0, 1)
Pair = tuple[str, str]  # German, English
T = TypeVar("T")


class NounPhrase(NamedTuple):
    """A noun phrase in both languages, and what its agreement needs."""

    german: str
    english: str
    person: int  # FIRST_SINGULAR to THIRD_PLURAL
    gender: int  # of its relative pronoun: m, f, n or plural
    owner: int  # index in POSSESSIVES of the one that refers back to it, -1 for any
    definite: bool  # negated by "nicht", not by "kein"
    pronoun: bool
    animate: bool  # "who", not "that"
    kind: str  # the class of its noun, "" if it cannot take a relative clause


class Determiner(NamedTuple):
    """German forms by case and gender, the endings of the adjective that follows, and the translation."""

    forms: Sequence[Sequence[str]]
    adjective: Sequence[Sequence[str]]
    english: Pair  # singular, plural
    definite: bool


class Adjective(NamedTuple):
    """An adjective: `stem` takes endings, `plain` follows "ist"; comparatives are "" if there are none."""

    stem: str
    plain: str
    comparative: str
    english: str
    english_comparative: str


def pick(draw: Draw, items: Sequence[T]) -> T:
    """Draw one of `items`; earlier ones are up to five times likelier, since words are not equally frequent."""
    number = draw()
    return items[int(len(items) * number * (0.3 + 0.7 * number))]


def entries(table: str) -> list[list[str]]:
    """Fields of the entries of a lexicon table, with "_" replaced by a space."""
    lines = [entry.split() for entry in table.strip().replace("\n", ";").split(";")]
    return [[field.replace("_", " ") for field in line] for line in lines]


def pairs(table: str) -> list[Pair]:
    """Entries of a lexicon table of two columns, German and English."""
    return [(german, english) for german, english in entries(table)]


def _forms(stem: str, endings: Sequence[Sequence[str]]) -> list[list[str]]:
    def form(ending: str) -> str:
        return stem if ending == "-" else ("eur" if stem == "euer" else stem) + ending

    return [[form(ending) for ending in row] for row in endings]


POSSESSIVES = [
    Determiner(_forms(german, inflection.EIN_WORD), inflection.MIXED, (english, english), True)
    for german, english in pairs("mein my; dein your; sein his; ihr her; unser our; euer your; ihr their; sein its")
]
DEFINITE = Determiner(inflection.THE, inflection.WEAK, ("the", "the"), True)
INDEFINITE = Determiner(_forms("ein", inflection.EIN_WORD), inflection.MIXED, ("a", ""), False)
NEGATIVE = Determiner(_forms("kein", inflection.EIN_WORD), inflection.MIXED, ("a", ""), False)
BARE = Determiner([[""] * 4] * 4, inflection.STRONG, ("", ""), False)
DEMONSTRATIVE = Determiner(_forms("dies", inflection.DER_WORD), inflection.WEAK, ("this", "these"), True)
EVERY = Determiner(_forms("jed", inflection.DER_WORD), inflection.WEAK, ("every", ""), True)
ALL = Determiner(_forms("all", inflection.DER_WORD), inflection.WEAK, ("", "all"), True)
SOME = Determiner(_forms("einig", inflection.DER_WORD), inflection.STRONG, ("", "some"), True)
MANY = Determiner(_forms("viel", inflection.DER_WORD), inflection.STRONG, ("", "many"), True)
WHICH = Determiner(_forms("welch", inflection.DER_WORD), inflection.WEAK, ("which", "which"), True)

GERMAN_ONES, ENGLISH_ONES, GERMAN_TENS, ENGLISH_TENS = inflection.table(
    "- ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn | - one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen | - zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig | "
    "- ten twenty thirty forty fifty sixty seventy eighty ninety"
)


def number_words(number: int) -> Pair:
    """An integer from 2 to 99 in words."""
    if number < 20:
        return GERMAN_ONES[number], ENGLISH_ONES[number]
    tens, ones = divmod(number, 10)
    if ones == 0:
        return GERMAN_TENS[tens], ENGLISH_TENS[tens]
    return f"{GERMAN_ONES[ones]}und{GERMAN_TENS[tens]}", f"{ENGLISH_TENS[tens]}-{ENGLISH_ONES[ones]}"


NUMBERS = [number_words(number) for number in range(2, 100)]


def number(draw: Draw) -> Pair:
    """Draw a number from 2 to 999: small ones in words, large ones mostly in digits."""
    size = draw()
    if size < 0.6:
        return NUMBERS[int(11 * draw())]
    if size < 0.7:
        return NUMBERS[int(98 * draw())]
    digits = str(13 + int((87 if size < 0.9 else 987) * draw()))
    return digits, digits


def _numeral(words: Pair) -> Determiner:
    return Determiner([[words[0]] * 4] * 4, inflection.STRONG, ("", words[1]), True)


def _nouns() -> dict[str, list[Noun]]:
    nouns = {
        kind: [inflection.make_noun(" ".join(e.replace(" ", "_") for e in entry), kind) for entry in entries(table)]
        for kind, table in lexicon.NOUNS.items()
    }
    nouns["place"] = [inflection.make_noun(" ".join(entry[:4]), "place") for entry in entries(lexicon.PLACES)]
    return nouns


def _compounds() -> dict[str, list[Noun]]:
    compounds: dict[str, list[Noun]] = {}
    for line in lexicon.COMPOUNDS.strip().split("\n"):
        firsts, heads = (part.split(", ") for part in line.split(" | "))
        for head in heads:
            *noun, kind = head.split()
            for first in firsts:
                german, english = first.split()
                fields = [german + noun[0], noun[1], german + noun[2], f"{english}_{noun[3]}"]
                compounds.setdefault(kind, []).append(inflection.make_noun(" ".join(fields), kind))
    return compounds


def _adjectives() -> dict[str, list[Adjective]]:
    adjectives: dict[str, list[Adjective]] = {}
    for kind, table in lexicon.ADJECTIVES.items():
        for german, comparative, english, *irregular in entries(table):
            stem, _, plain = german.partition("/")
            longer = irregular[0] if irregular else inflection.comparative(english)
            entry = Adjective(stem, plain or stem, comparative.strip("-"), english, longer)
            adjectives.setdefault(kind, []).append(entry)
    return adjectives | {kind: adjectives[other] for kind, other in lexicon.ADJECTIVE_CLASS.items()}


NOUNS, COMPOUNDS, ADJECTIVES = _nouns(), _compounds(), _adjectives()

SINGULAR_DETERMINERS = [DEFINITE] * 9 + [INDEFINITE] * 6 + [DEMONSTRATIVE] * 2 + [EVERY]
PLURAL_DETERMINERS = [DEFINITE] * 6 + [BARE] * 4 + [MANY, SOME, ALL, DEMONSTRATIVE]
MASS_DETERMINERS = [DEFINITE] * 5 + [BARE] * 5 + [DEMONSTRATIVE]


def noun(draw: Draw, kind: str) -> Noun:
    """Draw a noun of class `kind`, sometimes a compound."""
    if kind in COMPOUNDS and draw() < 0.12:
        return pick(draw, COMPOUNDS[kind])
    return pick(draw, NOUNS[kind])


def determiner(draw: Draw, word: Noun, plural: bool, owner: int) -> Determiner:
    """Draw a determiner for a noun; `owner` is the likeliest of possessives, -1 for any."""
    choice = draw()
    if choice < 0.18 and word.kind != "place":
        return POSSESSIVES[owner if owner >= 0 and choice < 0.12 else int(7 * draw())]
    if plural:
        return (
            _numeral(number(draw) if choice > 0.98 else NUMBERS[int(11 * draw())])
            if choice > 0.88
            else PLURAL_DETERMINERS[int(14 * draw())]
        )
    return SINGULAR_DETERMINERS[int(18 * draw())] if word.countable else MASS_DETERMINERS[int(11 * draw())]


def noun_phrase(draw: Draw, kind: str, case: int, owner: int = -1, negative: bool = False) -> NounPhrase:
    """Draw a phrase with a noun of class `kind`; if it is `negative` and indefinite, with "kein"."""
    word = noun(draw, kind)
    plural = word.countable and draw() < 0.25
    chosen = determiner(draw, word, plural, owner)
    if negative and not chosen.definite:
        chosen = NEGATIVE
    return decline(draw, word, chosen, plural, case)


def decline(draw: Draw, word: Noun, chosen: Determiner, plural: bool, case: int) -> NounPhrase:
    """The phrase of a noun and a determiner, perhaps with an adjective and a possessor in the genitive."""
    gender = PLURAL if plural else word.gender
    german, english = word.forms[plural][case], word.english[plural]
    if draw() < 0.22 and word.kind in ADJECTIVES:
        adjective = pick(draw, ADJECTIVES[word.kind])
        german = adjective.stem + _ending(chosen.adjective[case][gender]) + " " + german
        english = adjective.english + " " + english
    first = chosen.english[plural] if word.countable or chosen.english[0] != "a" else ""
    if chosen.forms[case][gender]:
        german = chosen.forms[case][gender] + " " + german
    if chosen is DEFINITE and draw() < 0.07 and not plural:
        possessor = decline(draw, pick(draw, NOUNS["person"]), _possessor(draw), False, GENITIVE)
        german, english = f"{german} {possessor.german}", f"{possessor.english} 's {english}"
    elif first:
        english = f"{inflection.article(english) if first == 'a' else first} {english}"
    animate = word.kind == "person"
    owner = 6 if plural else (2, 3, 2 if animate else 7)[word.gender] if animate or word.kind == "animal" else -1
    person = inflection.THIRD_PLURAL if plural else inflection.THIRD_SINGULAR
    return NounPhrase(german, english, person, gender, owner, chosen.definite, False, animate, word.kind)


def _possessor(draw: Draw) -> Determiner:
    return POSSESSIVES[int(7 * draw())] if draw() < 0.4 else DEFINITE


def _ending(ending: str) -> str:
    return "" if ending == "-" else ending


PRONOUNS = [
    # nominative, accusative, dative; English subject and object; person, gender, owner
    (("ich", "mich", "mir"), ("i", "me"), 0, 0, 0),
    (("er", "ihn", "ihm"), ("he", "him"), 2, 0, 2),
    (("sie", "sie", "ihr"), ("she", "her"), 2, 1, 3),
    (("wir", "uns", "uns"), ("we", "us"), 3, 3, 4),
    (("sie", "sie", "ihnen"), ("they", "them"), 5, 3, 6),
    (("du", "dich", "dir"), ("you", "you"), 1, 0, 1),
    (("ihr", "euch", "euch"), ("you", "you"), 4, 3, 5),
]
REFLEXIVES = ("mich", "dich", "sich", "uns", "euch", "sich")
THIRD_PERSONS = [PRONOUNS[1], PRONOUNS[2], PRONOUNS[4]]


def pronoun(draw: Draw, case: int, third: bool = False) -> NounPhrase:
    """Draw a personal pronoun, one of the third person if `third`."""
    forms, english, person, gender, owner = pick(draw, THIRD_PERSONS if third else PRONOUNS)
    return NounPhrase(forms[case], english[case > NOMINATIVE], person, gender, owner, True, True, True, "")


NAMES = [
    (name, gender)
    for pair in zip(*(lexicon.FIRST_NAMES[g].split() for g in "mf"))
    for name, gender in zip(pair, (0, 1))
]
LAST_NAMES = lexicon.LAST_NAMES.split()


def name(draw: Draw, case: int) -> NounPhrase:
    """Draw the name of a person: first name, both names, or title and last name."""
    first, gender = pick(draw, NAMES)
    german = english = first
    shape = draw()
    if shape < 0.4:
        last = pick(draw, LAST_NAMES)
        german = english = f"{first} {last}"
        if shape < 0.25:
            title = ("herr" if case == NOMINATIVE else "herrn", "mr.") if gender == 0 else ("frau", "mrs.")
            german, english = f"{title[0]} {last}", f"{title[1]} {last}"
    return NounPhrase(german, english, inflection.THIRD_SINGULAR, gender, 2 + gender, True, False, True, "")


class Place(NamedTuple):
    """A noun of a place, its prepositions for being there and for going there, and the case of the latter."""

    noun: Noun
    static: Pair
    way: Pair
    way_case: int


def _places() -> list[Place]:
    places = []
    for entry, word in zip(entries(lexicon.PLACES), NOUNS["place"]):
        static, static_english, way, way_english = entry[4:]
        preposition, _, case = way.partition(":")
        way_case = ACCUSATIVE if case == "a" else DATIVE
        places.append(Place(word, (static, static_english), (preposition, way_english), way_case))
    return places


PLACES, CITIES = _places(), pairs(lexicon.CITIES)


def place(draw: Draw, direction: bool) -> Pair:
    """Draw an adverbial of place, or of direction."""
    if draw() < 0.25:
        german, english = pick(draw, CITIES)
        return (f"nach {german}", f"to {english}") if direction else (f"in {german}", f"in {english}")
    spot = pick(draw, PLACES)
    (german, english), case = (spot.way, spot.way_case) if direction else (spot.static, DATIVE)
    chosen = DEFINITE if draw() < 0.8 else INDEFINITE
    phrase = decline(draw, spot.noun, chosen, False, case)
    return contract(german, phrase.german), f"{english} {phrase.english}"


def contract(preposition: str, german: str) -> str:
    """A preposition and a noun phrase, joined with its article where German does ("in dem" is "im")."""
    article, _, rest = german.partition(" ")
    joined = inflection.CONTRACTIONS.get(f"{preposition} {article}")
    return f"{joined} {rest}" if joined and rest else f"{preposition} {german}"
