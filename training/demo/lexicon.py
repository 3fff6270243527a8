"""The words and tables of grammar.yaml. Comments in grammar.yaml describe the fields of the entries."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from phrasebeam.base.config import load_yaml

Table = list[list[str]]
ACCUSATIVE, DATIVE = 1, 2  # of the cases nominative, accusative, dative, genitive
HE = 2  # of the persons i, you, he (she, it), we, they
DATA: dict[str, Any] = load_yaml(Path(__file__).parent / "grammar.yaml")


class Pair(NamedTuple):
    """A text in German, and its English translation."""

    de: str
    en: str


class Noun(NamedTuple):
    """A noun and its translation."""

    gender: int  # m, f, n
    forms: Sequence[Sequence[str]]  # German singular and plural, by case
    en: Sequence[str]  # singular and plural
    is_countable: bool
    kind: str  # its class


class Determiner(NamedTuple):
    """An article or the like."""

    forms: Table  # German, by case and gender
    adjective: Table  # endings of the adjective that follows
    en: Sequence[str]  # singular and plural
    counts: Sequence[int]  # how often with singular, plural and mass nouns


class Verb(NamedTuple):
    """A verb, its translation, and its complements."""

    prefix: str  # separable, or ""
    infinitive: str  # without the prefix
    present: Sequence[str]  # by person
    past: Sequence[str]
    participle: str
    is_with_sein: bool  # the auxiliary of the perfect is "sein"
    en: dict[str, str]  # forms by name
    link: str  # the English words that follow; "+" before those that follow a pronoun, too: "picks him up"
    is_reflexive: bool
    takes: str
    preposition: str
    case: int  # of the object
    kinds: Sequence[str]  # classes of the object


class Tense(NamedTuple):
    """A line of tenses, in the order of its fields."""

    weight: int
    finite: Sequence[str]
    end: str
    auxiliary: str
    form: str
    before: Sequence[str]
    adverb: Pair
    time: str


def entries(text: str) -> list[str]:
    """Split a part of the file into its entries."""
    return [entry.strip() for entry in text.replace("\n", ";").split(";") if entry.strip()]


def fields(entry: str) -> list[str]:
    """Split an entry into its fields."""
    return ["" if field == "-" else field.replace("_", " ") for field in entry.split()]


def pairs(text: str) -> list[Pair]:
    """The German and the English text of each entry."""
    return [Pair(*entry.split(" = ")) for entry in entries(text)]


def table(rows: str) -> Table:
    """The words of each row."""
    return [fields(row) for row in rows.split("|")]


def noun(entry: str, kind: str) -> Noun:
    """Parse an entry of nouns."""
    german, gender, genitive, plural, *english = fields(entry)[:6]
    oblique = plural if gender == "w" else german
    dative = plural if plural[-1:] in ("n", "s") else plural + "n"
    forms = ([german, oblique, oblique, genitive], [plural, plural, dative, plural])
    return Noun("mfn".index(gender.replace("w", "m")), forms, english, bool(plural), kind)


def compounds() -> Iterator[Noun]:
    """Join each first part to each head of its group."""
    for group in DATA["compounds"]:
        for head in entries(group["heads"]):
            last = noun(head, fields(head)[6])
            for german, english in map(fields, entries(group["first"])):
                forms = [[german + form for form in forms] for forms in last.forms]
                yield last._replace(forms=forms, en=[f"{english} {form}" for form in last.en])


def determiner(entry: str) -> Determiner:
    """Parse an entry of determiners."""
    stem, endings, adjective, singular, plural, *counts = fields(entry)
    forms = [[stem + ending for ending in row] for row in ENDINGS[endings]]
    return Determiner(forms, ENDINGS[adjective], (singular, plural), [int(count) for count in counts])


def verb(line: str) -> Verb:
    """Parse a line of verbs."""
    german, english, takes = (part.split() for part in line.split("|"))
    first, me, you, he, past, participle = fields(" ".join(german))
    prefix, _, infinitive = first.rstrip("*").rpartition("-")
    plural = past + ("n" if past.endswith("e") else "en")
    past_you = past + ("est" if past[-1:] in tuple("tdsßz") else "st")
    what, preposition, case = (*takes[0].removeprefix("r").split(":"), "", "")[:3]
    return Verb(
        prefix=prefix,
        infinitive=infinitive,
        present=(me, you, he, infinitive, infinitive),
        past=(past, past_you, past, plural, plural),
        participle=participle,
        is_with_sein=first.endswith("*"),
        en=dict(zip(("base", "third", "past", "participle", "ing"), english)),
        link=" ".join(english[5:]),
        is_reflexive=takes[0].startswith("r"),
        takes=what,
        preposition=preposition,
        case=DATIVE if "d" in (what, case) else ACCUSATIVE,
        kinds=takes[1:],
    )


def tense(line: str) -> tuple[str, Tense]:
    """Parse a line of tenses: its name and the rest."""
    name, count, finite, end, auxiliary, form, *before, adverb, time = fields(line)
    german, _, english = adverb.partition("=")
    return name, Tense(int(count), finite.split("/"), end, auxiliary, form, before, Pair(german, english), time)


ENDINGS = {name: table(rows) for name, rows in DATA["endings"].items()}
RELATIVES = table(DATA["relatives"])
DETERMINERS = [determiner(entry) for entry in entries(DATA["determiners"])]
CONTRACTIONS = dict(map(fields, entries(DATA["contractions"])))
PRONOUNS = [fields(entry) for entry in entries(DATA["pronouns"])]
COMPOUNDS: dict[str, list[Noun]] = {}
for _noun in compounds():
    COMPOUNDS.setdefault(_noun.kind, []).append(_noun)
PLACES = [(noun(entry, "place"), fields(entry)[6:]) for entry in entries(DATA["places"])]
NOUNS = {kind: [noun(entry, kind) for entry in entries(text)] for kind, text in DATA["nouns"].items()}
NOUNS["place"] = [place[0] for place in PLACES]
ADJECTIVES = {kind: [fields(entry) for entry in entries(text)] for kind, text in DATA["adjectives"].items()}
ADJECTIVES |= {kind: ADJECTIVES[other] for kind, other in map(fields, entries(DATA["described_as"]))}
VERBS, SAYING, TRYING = ([verb(line) for line in entries(DATA[name])] for name in ("verbs", "saying", "trying"))
TENSES = dict(tense(line) for line in entries(DATA["tenses"]))
CONJUGATIONS = {words[0]: words[1:] for words in map(fields, entries(DATA["conjugations"]))}
NEGATED = dict(pairs(DATA["negated"]))
ORDERS = {name: order.split() for name, order in DATA["orders"].items()}
PHRASES = {name: pairs(text) for name, text in DATA["phrases"].items()}
SENTENCES = [
    Pair(*rule.split(" = "))
    for count, rule in (line.split(" ", 1) for line in entries(DATA["sentences"]))
    for _ in range(int(count))
]
FIRST_NAMES = [name for both in zip(*(DATA["first_names"][gender].split() for gender in "mf")) for name in both]
LAST_NAMES = DATA["last_names"].split()
