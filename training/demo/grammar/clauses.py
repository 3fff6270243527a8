"""Clauses in both languages: subject, verb, objects and adverbials, and the word orders of statements and questions."""

from typing import NamedTuple

from phrasebeam.training.demo.grammar import inflection, lexicon
from phrasebeam.training.demo.grammar import noun_phrases as phrases
from phrasebeam.training.demo.grammar.inflection import ACCUSATIVE, DATIVE, NOMINATIVE, Verb
from phrasebeam.training.demo.grammar.noun_phrases import Draw, NounPhrase, Pair, pairs, pick
from phrasebeam.training.demo.grammar.verb_phrases import (
    ALREADY,
    FIRST_MODAL,
    FUTURE,
    MODALS,
    PAST_MODAL,
    PERFECT,
    PLUPERFECT,
    PRESENT,
    PRETERITE,
    PROGRESSIVE,
    STATIVE,
    VERBS,
    Forms,
    be,
    conjugate,
)

NOTHING: Pair = ("", "")
PAST_TIMES, PRESENT_TIMES = pairs(lexicon.PAST_TIMES), pairs(lexicon.PRESENT_TIMES)
FUTURE_TIMES, WEEKDAYS = pairs(lexicon.FUTURE_TIMES), pairs(lexicon.WEEKDAYS)
FREQUENCIES, MANNERS = pairs(lexicon.FREQUENCIES), pairs(lexicon.MANNERS)
UNITS = pairs("tagen days; wochen weeks; jahren years; monaten months; stunden hours")

# By class of noun, the verbs with one object of that class, which make relative clauses about it.
RELATIVE_VERBS = {kind: [v for v in VERBS if kind in v.objects and v.frame in "tdp"] for kind in phrases.NOUNS}


class Objects(NamedTuple):
    """The objects of a verb, or what else it takes, in both languages."""

    early: str  # German pronouns, before the adverbials
    middle: str  # other German objects
    english: str
    noun: NounPhrase | None  # the last object, if a relative clause may follow it
    negated: bool  # by "kein" in an object


class Clause(NamedTuple):
    """A clause whose word order is not yet fixed."""

    subject: NounPhrase
    forms: Forms
    early: str  # German pronouns: reflexive, objects
    time: Pair
    adverb: Pair  # between auxiliary and verb in English
    middle: str  # German objects and adverbials
    english: str  # what follows the English verb, but the time
    negative: bool
    trailing: str = ""  # German relative clause, after the end of the clause


def choose_tense(draw: Draw, verb: Verb, person: int) -> int:
    """Draw a tense for a verb and one of the six persons."""
    choice = draw()
    if choice < 0.34:
        return PRESENT
    if choice < 0.6 or (choice < 0.75 and person in (inflection.SECOND_SINGULAR, inflection.SECOND_PLURAL)):
        return PERFECT
    if choice < 0.75:
        return PRETERITE
    if choice < 0.89:
        return FIRST_MODAL + int(len(MODALS) * draw())
    if choice < 0.94:
        return FUTURE
    return ALREADY if choice < 0.97 or verb.english[0] in STATIVE else PROGRESSIVE


def subject(draw: Draw, kind: str = "person") -> NounPhrase:
    """Draw a subject: pronoun, name or noun phrase with a noun of class `kind`."""
    choice = draw()
    if choice < 0.36:
        return phrases.pronoun(draw, NOMINATIVE)
    if choice < 0.48:
        return phrases.name(draw, NOMINATIVE)
    return phrases.noun_phrase(draw, kind, NOMINATIVE)


def time(draw: Draw, tense: int) -> Pair:
    """Draw an adverbial of time that fits the tense."""
    choice = draw()
    if tense in (PROGRESSIVE, ALREADY, PLUPERFECT):
        return NOTHING
    if tense in (PERFECT, PRETERITE) or tense >= PAST_MODAL:
        if choice < 0.12:
            number, unit = phrases.number(draw), UNITS[int(5 * draw())]
            return f"vor {number[0]} {unit[0]}", f"{number[1]} {unit[1]} ago"
        if choice < 0.17:
            year = 1950 + int(75 * draw())
            return f"im jahr {year}", f"in {year}"
    elif tense in (FUTURE, FIRST_MODAL) and choice < 0.1:
        number, unit = phrases.number(draw), UNITS[int(5 * draw())]
        return f"in {number[0]} {unit[0]}", f"in {number[1]} {unit[1]}"
    if choice < 0.27:
        day = WEEKDAYS[int(7 * draw())]
        return f"am {day[0]}", f"on {day[1]}"
    if choice < 0.32:
        hour = 1 + int(12 * draw())
        return f"um {hour} uhr", f"at {hour} o 'clock"
    if tense in (PERFECT, PRETERITE) or tense >= PAST_MODAL:
        return pick(draw, PAST_TIMES)
    return pick(draw, FUTURE_TIMES if tense >= FUTURE else PRESENT_TIMES)


def object_phrase(draw: Draw, verb: Verb, who: NounPhrase, negative: bool) -> NounPhrase:
    """Draw the only object of a verb with the subject `who`: a pronoun, a name or a noun phrase."""
    kind = verb.objects[int(len(verb.objects) * draw())]
    if kind == "person":
        choice = draw()
        if choice < 0.3:
            return phrases.pronoun(draw, verb.case, third=who.person != inflection.THIRD_SINGULAR or not who.pronoun)
        if choice < 0.42:
            return phrases.name(draw, verb.case)
    return phrases.noun_phrase(draw, kind, verb.case, who.owner, negative and not verb.preposition)


def objects(draw: Draw, verb: Verb, who: NounPhrase, negative: bool) -> Objects:
    """Draw all that a verb with the subject `who` takes."""
    if verb.frame == "b":
        return _two_objects(draw, verb, who, negative)
    if verb.frame in "gl":
        german, english = phrases.place(draw, verb.frame == "g")
        return Objects("", f"nicht {german}" if negative else german, english, None, False)
    if verb.frame == "i":
        return Objects("", "nicht" if negative else "", verb.link, None, False)
    thing = object_phrase(draw, verb, who, negative)
    english = join(thing.english, verb.link) if verb.movable and thing.pronoun else join(verb.link, thing.english)
    noun = thing if thing.kind else None
    if verb.frame == "p":
        german = phrases.contract(verb.preposition, thing.german)
        return Objects("", f"nicht {german}" if negative else german, english, noun, False)
    if thing.pronoun:
        return Objects(thing.german, "nicht" if negative else "", english, None, False)
    by_kein = negative and not thing.definite
    return Objects("", f"{thing.german} nicht" if negative and not by_kein else thing.german, english, noun, by_kein)


def _two_objects(draw: Draw, verb: Verb, who: NounPhrase, negative: bool) -> Objects:
    if draw() < 0.45:
        person = phrases.pronoun(draw, DATIVE, third=who.person != inflection.THIRD_SINGULAR or not who.pronoun)
    elif draw() < 0.2:
        person = phrases.name(draw, DATIVE)
    else:
        person = phrases.noun_phrase(draw, "person", DATIVE, who.owner)
    thing = phrases.noun_phrase(draw, pick(draw, verb.objects), ACCUSATIVE, who.owner, negative)
    by_kein = negative and not thing.definite
    german = f"{thing.german} nicht" if negative and not by_kein else thing.german
    if verb.link == "to":
        english = f"{thing.english} to {person.english}"
    else:
        english = f"{person.english} {thing.english}"
    if person.pronoun:
        return Objects(person.german, german, english, None, by_kein)
    return Objects("", f"{person.german} {german}", english, None, by_kein)


def clause(draw: Draw, who: NounPhrase | None = None, tense: int = -1, relative: float = 0.0) -> Clause:
    """Draw a clause; with probability `relative`, a relative clause follows its object.

    who: its subject, None for any; tense: -1 for any.
    """
    verb = pick(draw, VERBS) if draw() < 0.5 else VERBS[int(len(VERBS) * draw())]
    who = who or subject(draw)
    tense = choose_tense(draw, verb, who.person) if tense < 0 else tense
    negative = draw() < 0.12 and not PROGRESSIVE <= tense < FIRST_MODAL
    complements = objects(draw, verb, who, negative)
    when = time(draw, tense) if draw() < 0.4 else NOTHING
    adverb, middle, english = NOTHING, complements.middle, complements.english
    if tense == PROGRESSIVE:
        adverb = ("gerade", "")
        english = join(english, "right now")
    elif tense == ALREADY:
        adverb = ("schon", "already")
    elif not negative and when is NOTHING and tense in (PRESENT, PRETERITE) and draw() < 0.25:
        adverb = pick(draw, FREQUENCIES)
    trailing = ""
    if complements.noun is not None and draw() < relative:
        trailing, english_relative = relative_clause(draw, complements.noun)
        english = f"{english} {english_relative}"
    elif verb.frame in "tbi" and not negative and tense < PROGRESSIVE:
        middle, english = _adverbial(draw, middle, english)
    early = f"{phrases.REFLEXIVES[who.person]} {complements.early}".rstrip() if verb.reflexive else complements.early
    forms = conjugate(verb, tense, who.person)
    return Clause(who, forms, early, when, adverb, middle, english, negative, trailing)


def _adverbial(draw: Draw, middle: str, english: str) -> Pair:
    choice = draw()
    if choice > 0.22:
        return middle, english
    german, translation = phrases.place(draw, False) if choice < 0.15 else pick(draw, MANNERS)
    return join(middle, german), join(english, translation)


def predicate(draw: Draw, who: NounPhrase, past: bool | None = None) -> Clause:
    """Draw a clause of "be" and an adjective, perhaps in the comparative; `past`: None for either tense."""
    negative, past = draw() < 0.12, draw() < 0.35 if past is None else past
    adjective = pick(draw, phrases.ADJECTIVES.get(who.kind or "person", phrases.ADJECTIVES["thing"]))
    german, english = adjective.plain, adjective.english
    choice = draw()
    if choice < 0.18 and adjective.comparative:
        other = phrases.noun_phrase(draw, who.kind or "person", NOMINATIVE)
        german, english = adjective.comparative, adjective.english_comparative
        if not negative:
            german, english = f"{german} als {other.german}", f"{english} than {other.english}"
    elif choice < 0.4:
        german, english = pick(draw, [(f"sehr {german}", f"very {english}"), (f"zu {german}", f"too {english}")])
    if negative:
        german = f"nicht {german}"
    when = time(draw, PRETERITE) if past and draw() < 0.25 else NOTHING
    return Clause(who, be(past, who.person), "", when, NOTHING, german, english, negative)


def relative_clause(draw: Draw, head: NounPhrase) -> Pair:
    """Draw a relative clause about `head`, without commas, of which it is the subject or the object."""
    pronoun = "who" if head.animate else "that"
    choice = draw()
    if choice < 0.45 and RELATIVE_VERBS[head.kind]:
        return _object_relative(draw, head, pronoun)
    who = head._replace(german=inflection.RELATIVE[NOMINATIVE][head.gender], english=pronoun, kind=head.kind)
    inside = clause(draw, who) if head.animate and choice < 0.85 else predicate(draw, who)
    return german_final(inside), english_statement(inside)


def _object_relative(draw: Draw, head: NounPhrase, pronoun: str) -> Pair:
    verb = pick(draw, RELATIVE_VERBS[head.kind])
    who = subject(draw)
    tense = choose_tense(draw, verb, who.person)
    when = time(draw, tense) if draw() < 0.25 else NOTHING
    adverb = {PROGRESSIVE: ("gerade", ""), ALREADY: ("schon", "already")}.get(tense, NOTHING)
    reflexive = phrases.REFLEXIVES[who.person] if verb.reflexive else ""
    inside = Clause(who, conjugate(verb, tense, who.person), reflexive, when, adverb, "", verb.link, False)
    marker = f"{verb.preposition} {inflection.RELATIVE[verb.case][head.gender]}".strip()
    return f"{marker} {german_final(inside)}", f"{pronoun} {english_statement(inside)}"


def join(*parts: str) -> str:
    """The parts that are not empty, with spaces between them."""
    return " ".join([part for part in parts if part])


def german_main(c: Clause, first: str = "") -> str:
    """German main clause, verb second: after the subject, or, before it, after `first`."""
    when = "" if first and first == c.time[0] else c.time[0]
    rest = (c.early, when, c.adverb[0], c.middle, c.forms.tail, c.trailing and f", {c.trailing} ,")
    if first:
        return join(first, c.forms.finite, c.subject.german, *rest)
    return join(c.subject.german, c.forms.finite, *rest)


def german_final(c: Clause) -> str:
    """German subordinate clause, verb last."""
    trailing = c.trailing and f", {c.trailing} ,"
    return join(c.subject.german, c.early, c.time[0], c.adverb[0], c.middle, c.forms.final, trailing)


def german_question(c: Clause) -> str:
    """German question, verb first."""
    return join(
        c.forms.finite, c.subject.german, c.early, c.time[0], c.adverb[0], c.middle, c.forms.tail,
        c.trailing and f", {c.trailing} ,",
    )  # fmt: skip


def english_statement(c: Clause, time_first: bool = False) -> str:
    """English clause: subject, verb, object, and the time last or first."""
    first, last = (c.time[1], "") if time_first else ("", c.time[1])
    if c.negative:
        return join(first, c.subject.english, c.forms.negated, c.english, last)
    return join(first, c.subject.english, c.forms.auxiliary, c.adverb[1], c.forms.main, c.english, last)


def english_question(c: Clause) -> str:
    """English question, auxiliary first."""
    negation, auxiliary, verb = "not" if c.negative else "", c.forms.question_auxiliary, c.forms.question_verb
    return join(auxiliary, c.subject.english, negation, c.adverb[1], verb, c.english, c.time[1])
