"""Draws German sentences and their translations by the rules of grammar.yaml."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from phrasebeam.training.demo import lexicon
from phrasebeam.training.demo.lexicon import ACCUSATIVE, DATIVE, HE, Determiner, Noun, Pair, Verb

T = TypeVar("T")
Draw = Callable[[], float]  # a random number in [0, 1)
NOMINATIVE, GENITIVE = 0, 3
THEY = 4  # a person, like HE
PLURAL = 3  # index after the genders m, f, n: in the plural, determiners and adjectives have one form for all genders
DEFINITE, INDEFINITE, BARE, NEGATIVE, WHICH = lexicon.DETERMINERS[:5]
SINGULAR_DETERMINERS, PLURAL_DETERMINERS, MASS_DETERMINERS = (
    [determiner for determiner in lexicon.DETERMINERS for _ in range(determiner.counts[use])] for use in range(3)
)
ANY_TENSE = [name for name, tense in lexicon.TENSES.items() for _ in range(tense.weight)]
TIMED = [name for name in ANY_TENSE if lexicon.TENSES[name].time]
PARTS = {part for order in lexicon.ORDERS.values() for part in order}
TRANSITIVE_VERBS = [verb for verb in lexicon.VERBS if verb.takes == "t"]
OBJECT_VERBS = [verb for verb in lexicon.VERBS if verb.takes in tuple("tdpb") and not verb.is_reflexive]
BE = lexicon.verb("- - - - - - | - - - - - | i")
THINGS = "thing", "vehicle", "text", "building", "clothes", "animal"
DESCRIBED = *THINGS, "person", "food", "abstract", "place", "event"


class NounPhrase(NamedTuple):
    """A noun phrase, and the properties that other words agree with."""

    de: str
    en: str
    person: int = HE
    gender: int = 0  # m, f, n or PLURAL
    is_definite: bool = True  # it is negated by "nicht", not by "kein"
    is_pronoun: bool = False
    kind: str = ""  # class of its noun; "" of pronouns and names


class Clause(dict[str, str]):
    """The parts of a clause by name. An attribute is the text of the clause in one of the `orders` of grammar.yaml."""

    def __getattr__(self, order: str) -> str:
        return join(*[self[part] for part in lexicon.ORDERS[order]])


class Drawn(dict[str, Any]):
    """The values of the names in a rule; each is drawn when it is first used, so that both languages say the same."""

    def __init__(self, draw: Draw):
        super().__init__()
        self.draw = draw

    def __missing__(self, name: str) -> Any:
        symbol = name.rstrip("0123456789")
        self[name] = SYMBOLS[symbol](self.draw) if symbol in SYMBOLS else phrase(self.draw, symbol)
        return self[name]


def join(*parts: str) -> str:
    """The parts that are not empty, with spaces between them."""
    return " ".join([part for part in parts if part])


def pick(draw: Draw, items: Sequence[T]) -> T:
    """Draw one of `items`; earlier ones are up to five times likelier, since words are not equally frequent."""
    number = draw()
    return items[int(len(items) * number * (0.3 + 0.7 * number))]


def uniform(draw: Draw, items: Sequence[T]) -> T:
    """Draw one of `items`, all of which are equally likely."""
    return items[int(len(items) * draw())]


def filled(draw: Draw, rule: Pair) -> Pair:
    """Replace the names in both sides of a rule."""
    drawn = Drawn(draw)
    return Pair(rule.de.format_map(drawn), rule.en.format_map(drawn))


def phrase(draw: Draw, name: str) -> Pair:
    """Draw one of the phrases of a name."""
    return filled(draw, pick(draw, lexicon.PHRASES[name]))


def decline(draw: Draw, noun: Noun, chosen: Determiner, is_plural: bool, case: int) -> NounPhrase:
    """The phrase of a noun and a determiner, perhaps with an adjective, perhaps with an owner in the genitive."""
    gender = PLURAL if is_plural else noun.gender
    german, english, first = noun.forms[is_plural][case], noun.en[is_plural], chosen.en[is_plural]
    if noun.kind in lexicon.ADJECTIVES and draw() < 0.22:
        adjective = pick(draw, lexicon.ADJECTIVES[noun.kind])
        stem = adjective[0].partition("/")[0]
        german, english = f"{stem}{chosen.adjective[case][gender]} {german}", f"{adjective[2]} {english}"
    german = join(chosen.forms[case][gender], german)
    if chosen is DEFINITE and not is_plural and draw() < 0.07:
        owner = decline(draw, pick(draw, lexicon.NOUNS["person"]), DEFINITE, False, GENITIVE)
        german, first = f"{german} {owner.de}", f"{owner.en} 's"
    if first == "a":
        vowel = english[0] in "aeiou" and not english.startswith("uni")
        first = ("an" if vowel else "a") if noun.is_countable else ""
    is_definite = chosen.en[0] not in ("a", "")
    return NounPhrase(german, join(first, english), THEY if is_plural else HE, gender, is_definite, False, noun.kind)


def digits(draw: Draw, low: int, high: int) -> Pair:
    """Draw a number from `low` to below `high`."""
    value = str(low + int((high - low) * draw()))
    return Pair(value, value)


def noun_phrase(draw: Draw, kinds: Sequence[str], case: int, is_negative: bool = False, uses: str = "sp") -> NounPhrase:
    """Draw a phrase with a noun of one of the classes `kinds`, singular, plural or either, with "kein" if negative."""
    kind = uniform(draw, kinds)
    is_compound = kind in lexicon.COMPOUNDS and draw() < 0.12
    noun = pick(draw, (lexicon.COMPOUNDS if is_compound else lexicon.NOUNS)[kind])
    is_plural = noun.is_countable and "p" in uses and ("s" not in uses or draw() < 0.25)
    if is_plural and draw() < 0.12:
        german, english = phrase(draw, "number")
        chosen = BARE._replace(forms=[[german] * 4] * 4, en=(english, english))
    else:
        determiners = PLURAL_DETERMINERS if is_plural else SINGULAR_DETERMINERS
        chosen = uniform(draw, determiners if noun.is_countable else MASS_DETERMINERS)
    return decline(draw, noun, NEGATIVE if is_negative and chosen.en[0] in ("a", "") else chosen, is_plural, case)


def pronoun(draw: Draw, case: int, persons: Sequence[int] = range(5)) -> NounPhrase:
    """Draw a personal pronoun of one of `persons`."""
    *german, subject, other, person, gender = pick(draw, [row for row in lexicon.PRONOUNS if int(row[5]) in persons])
    return NounPhrase(german[case], other if case else subject, int(person), int(gender), is_pronoun=True)


def name(draw: Draw, case: int) -> NounPhrase:
    """Draw the name of a person: first name, both names, or title and last name."""
    i, shape = lexicon.FIRST_NAMES.index(pick(draw, lexicon.FIRST_NAMES)), draw()
    gender, first, last = i % 2, lexicon.FIRST_NAMES[i], pick(draw, lexicon.LAST_NAMES)
    if shape < 0.25:
        german, english = (("herrn" if case else "herr", "mr."), ("frau", "mrs."))[gender]
        return NounPhrase(f"{german} {last}", f"{english} {last}", HE, gender)
    full = f"{first} {last}" if shape < 0.4 else first
    return NounPhrase(full, full, HE, gender)


def person(draw: Draw, case: int, is_negative: bool = False, pronouns: float = 0.36) -> NounPhrase:
    """Draw a person: a pronoun, a name or a noun phrase. Pronouns other than subjects are in the third person."""
    choice = draw()
    if choice < pronouns:
        return pronoun(draw, case, (HE, THEY) if case else range(5))
    return name(draw, case) if choice < pronouns + 0.12 else noun_phrase(draw, ("person",), case, is_negative)


def subject(draw: Draw) -> NounPhrase:
    """Draw a subject, perhaps with a relative clause."""
    who = person(draw, NOMINATIVE)
    if not who.kind or draw() > 0.07:
        return who
    about = relative_clause(draw, who)
    return who._replace(de=f"{who.de} , {about.de} ,", en=f"{who.en} {about.en}")


def place(draw: Draw, is_direction: bool = False) -> Pair:
    """Draw a place, or a direction."""
    if draw() < 0.25:
        german, english = phrase(draw, "city")
        return Pair(f"nach {german}", f"to {english}") if is_direction else Pair(f"in {german}", f"in {english}")
    noun, (static, static_english, way, way_english) = pick(draw, lexicon.PLACES)
    way, _, way_case = way.partition(":")
    case = ACCUSATIVE if is_direction and way_case == "a" else DATIVE
    spot = decline(draw, noun, DEFINITE if draw() < 0.8 else INDEFINITE, False, case)
    english = f"{way_english if is_direction else static_english} {spot.en}"
    return Pair(contract(way if is_direction else static, spot.de), english)


def contract(preposition: str, german: str) -> str:
    """Put a preposition before a noun phrase; "in dem" is "im"."""
    article, _, rest = german.partition(" ")
    joined = lexicon.CONTRACTIONS.get(f"{preposition} {article}")
    return f"{joined} {rest}" if joined and rest else f"{preposition} {german}"


def conjugated(verb: Verb, tense: str, person: int, is_negative: bool) -> dict[str, str]:
    """The parts of a clause that are forms of its verb."""
    rule, whole = lexicon.TENSES[tense], verb.prefix + verb.infinitive
    finite_name = rule.finite[verb.is_with_sein and len(rule.finite) > 1]
    own = {"present": verb.present, "past": verb.past}
    finite = (own.get(finite_name) or lexicon.CONJUGATIONS[finite_name])[person]
    tail = {"participle": verb.participle, "infinitive": whole, "": verb.prefix}[rule.end]
    auxiliary = lexicon.CONJUGATIONS.get(rule.auxiliary, [rule.auxiliary] * 5)[person]
    base = join(rule.before[0], verb.en.get(rule.form, ""))
    plain = ""
    if rule.auxiliary in ("do", "did") and not is_negative:
        form = 2 if auxiliary == "did" else int(person == HE)
        before = rule.before[form]
        plain = join(before, verb.en["base" if before else ("base", "third", "past")[form]])
    negated = lexicon.NEGATED.get(auxiliary, f"{auxiliary} not")
    return {
        "finite": finite,
        "prefix": verb.prefix,
        "infinitive": verb.infinitive,
        "to_infinitive": f"{verb.prefix}zu{verb.infinitive}" if verb.prefix else f"zu {verb.infinitive}",
        "tail": tail,
        "last": f"{tail}{'' if tail == verb.prefix else ' '}{finite}",
        "base": verb.en["base"],
        "auxiliary": auxiliary,
        "helper": negated if is_negative else "" if plain else auxiliary,
        "not": "not" if is_negative else "",
        "verb": plain or base,
        "form": base,
        "link": verb.link,
    }


def complements(draw: Draw, verb: Verb, is_negative: bool) -> tuple[dict[str, str], NounPhrase | None]:
    """Draw the complements of a verb: parts of its clause, and the object if it may have a relative clause."""
    negation = "nicht" if is_negative else ""
    if verb.takes == "i":
        return {"negation": negation}, None
    if verb.takes in ("g", "l"):
        german, english = place(draw, verb.takes == "g")
        return {"object": join(negation, german), "object_en": english}, None
    kinds, case = [uniform(draw, verb.kinds)], verb.case
    if kinds == ["person"]:
        thing = person(draw, case, is_negative and not verb.preposition, pronouns=0.3)
    else:
        thing = noun_phrase(draw, kinds, case, is_negative and not verb.preposition)
    if verb.preposition:
        german = join(negation, contract(verb.preposition, thing.de))
        return {"object": german, "object_en": thing.en}, thing if thing.kind else None
    parts = {"negation": negation if thing.is_definite else "", "object_en": thing.en}
    parts["early" if thing.is_pronoun else "object"] = thing.de
    if thing.is_pronoun and verb.link.startswith("+"):
        parts |= {"link": "", "after": verb.link[1:]}
    if verb.takes != "b":
        return parts, thing if thing.kind else None
    whom = person(draw, DATIVE, pronouns=0.45)
    parts["object_en"] = f"{thing.en} to {whom.en}" if verb.link == "to" else f"{whom.en} {thing.en}"
    if whom.is_pronoun:
        return parts | {"early": whom.de, "link": ""}, None
    return parts | {"object": f"{whom.de} {thing.de}", "link": ""}, None


def clause(
    draw: Draw,
    tense: str = "",
    who: NounPhrase | None = None,
    verb: Verb | None = None,
    time: float = 0.4,
    more: float = 1,
) -> Clause:
    """Draw a clause, which has a time with probability `time`; `more`: 0 for no negation and no relative clause."""
    verb = verb or (pick if draw() < 0.5 else uniform)(draw, lexicon.VERBS)
    who, tense = who or subject(draw), tense or uniform(draw, ANY_TENSE)
    rule = lexicon.TENSES[tense]
    is_negative = draw() < 0.12 * more and not rule.adverb.de
    parts, thing = complements(draw, verb, is_negative)
    c = made(who, verb, tense, is_negative, parts)
    if rule.time and draw() < time:
        c["time"], c["time_en"] = phrase(draw, rule.time)
    elif tense in ("present", "past") and not is_negative and draw() < 0.25:
        c["adverb"], c["adverb_en"] = phrase(draw, "frequency")
    if thing and draw() < 0.05 * more:
        german, c["relative_en"] = relative_clause(draw, thing)
        c["relative"] = f", {german} ,"
    elif verb.takes in ("t", "b", "i") and not is_negative and draw() < 0.2:
        c["place"], c["place_en"] = place(draw) if draw() < 0.7 else phrase(draw, "manner")
    return c


def made(who: NounPhrase, verb: Verb, tense: str, is_negative: bool, parts: dict[str, str]) -> Clause:
    """The clause of a subject, a verb and other parts."""
    adverb = lexicon.TENSES[tense].adverb
    c = Clause(dict.fromkeys(PARTS, ""), subject=who.de, subject_en=who.en, adverb=adverb.de, adverb_en=adverb.en)
    c |= conjugated(verb, tense, who.person, is_negative) | parts
    c["link"] = c["link"].removeprefix("+")
    if verb.is_reflexive:
        c["early"] = join(lexicon.CONJUGATIONS["reflexive"][who.person], c["early"])
    return c


def predicate(draw: Draw, who: NounPhrase) -> Clause:
    """Draw a clause of "be" and an adjective, perhaps compared."""
    stem, longer, english, longer_english = pick(draw, lexicon.ADJECTIVES[who.kind or "person"])
    described, choice = Pair(stem.rpartition("/")[2], english), draw()
    if choice < 0.18 and longer:
        other = noun_phrase(draw, (who.kind or "person",), NOMINATIVE)
        described = Pair(f"{longer} als {other.de}", f"{longer_english} than {other.en}")
    elif choice < 0.4:
        degree = phrase(draw, "degree")
        described = Pair(f"{degree.de} {described.de}", f"{degree.en} {english}")
    is_negative, tense = draw() < 0.12, "is" if draw() < 0.65 else "was"
    parts = {"object": f"nicht {described.de}" if is_negative else described.de, "object_en": described.en}
    if draw() < 0.15:
        parts["time"], parts["time_en"] = phrase(draw, lexicon.TENSES[tense].time)
    return made(who, BE, tense, is_negative, parts)


def relative_clause(draw: Draw, head: NounPhrase) -> Pair:
    """Draw a relative clause, without commas, in which `head` is the subject or the object."""
    english, choice = "who" if head.kind == "person" else "that", draw()
    verbs = RELATIVE_VERBS[head.kind]
    if verbs and choice < 0.45:
        verb = pick(draw, verbs)
        german = join(verb.preposition, lexicon.RELATIVES[verb.case][head.gender])
        c = clause(draw, "", person(draw, NOMINATIVE), verb, time=0.25, more=0)
        c |= {"object": german, "object_en": english, "after": "", "link": verb.link.removeprefix("+"), "early": ""}
        return Pair(c.object_final, c.object_states)
    who = head._replace(de=lexicon.RELATIVES[NOMINATIVE][head.gender], en=english)
    c = clause(draw, "", who, more=0) if head.kind == "person" and choice < 0.85 else predicate(draw, who)
    return Pair(c.final, c.states)


def described(draw: Draw) -> Clause:
    """Draw a predicate about anything."""
    return predicate(draw, subject(draw) if draw() < 0.2 else noun_phrase(draw, DESCRIBED, NOMINATIVE))


def passive(draw: Draw) -> Clause:
    """Draw a clause in the passive, often with its agent."""
    verb, tense = pick(draw, TRANSITIVE_VERBS), "past-passive" if draw() < 0.7 else "passive"
    doer = noun_phrase(draw, ("person",), DATIVE)
    parts = {"object": contract("von", doer.de), "object_en": f"by {doer.en}"} if draw() < 0.6 else {}
    if draw() < 0.5:
        parts["time"], parts["time_en"] = phrase(draw, lexicon.TENSES[tense].time)
    return made(noun_phrase(draw, verb.kinds, NOMINATIVE), verb, tense, False, parts)


def asked(draw: Draw) -> Clause:
    """Draw a clause whose object is asked about: "was", or "welchen" and a noun."""
    verb = pick(draw, TRANSITIVE_VERBS)
    c = clause(draw, "", person(draw, NOMINATIVE), verb, more=0)
    noun = pick(draw, lexicon.NOUNS[uniform(draw, verb.kinds)])
    which = decline(draw, noun, WHICH, noun.is_countable and draw() < 0.3, ACCUSATIVE)
    german, english = ("was", "what") if draw() < 0.5 else which[:2]
    return Clause(c, object=german, object_en=english, early="", after="", link=verb.link.removeprefix("+"))


def topic(draw: Draw) -> Clause:
    """Draw a clause whose object shows that it is one, and may stand first."""
    c = clause(draw, "", pronoun(draw, NOMINATIVE), pick(draw, TRANSITIVE_VERBS), more=0)
    return c if c["object"].startswith(("den ", "diesen ")) else topic(draw)


def with_object(draw: Draw, who: NounPhrase) -> Clause:
    """Draw a clause of a verb with an object, for its infinitive."""
    return clause(draw, "present", who, pick(draw, OBJECT_VERBS), time=0, more=0)


RELATIVE_VERBS = {kind: [v for v in OBJECT_VERBS if kind in v.kinds and v.takes != "b"] for kind in lexicon.NOUNS}
SYMBOLS: dict[str, Callable[[Draw], Any]] = {tense: partial(clause, tense=tense) for tense in lexicon.TENSES}
SYMBOLS |= {
    "any": clause,
    "asked": asked,
    "digits": partial(digits, low=13, high=1000),
    "is": described,
    "order": partial(with_object, who=NounPhrase("sie", "you", THEY)),
    "passive": passive,
    "person": partial(noun_phrase, kinds=["person"], case=NOMINATIVE, uses="s"),
    "place": place,
    "plural": partial(noun_phrase, kinds=THINGS, case=NOMINATIVE, uses="p"),
    "positive": partial(clause, time=0, more=0),
    "saying": lambda draw: clause(draw, verb=pick(draw, lexicon.SAYING), time=0),
    "singular": partial(noun_phrase, kinds=THINGS, case=NOMINATIVE, uses="s"),
    "some": lambda draw: decline(draw, pick(draw, lexicon.NOUNS[uniform(draw, THINGS)]), INDEFINITE, False, ACCUSATIVE),
    "timed": lambda draw: clause(draw, uniform(draw, TIMED), time=1),
    "timeless": partial(clause, time=0),
    "to": partial(with_object, who=NounPhrase("", "")),
    "topic": topic,
    "trying": lambda draw: clause(draw, verb=pick(draw, lexicon.TRYING), time=0),
    "who": partial(clause, who=NounPhrase("wer", "who")),
    "year": partial(digits, low=1950, high=2025),
}


def sentence(draw: Draw) -> Pair:
    """Draw a German sentence and its translation, tokenized and lowercased."""
    german, english = filled(draw, uniform(draw, lexicon.SENTENCES))
    return Pair(german.replace(" , , ", " , ").replace(" , .", " .").replace(" , ?", " ?"), english)
