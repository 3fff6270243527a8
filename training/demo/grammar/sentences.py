"""Whole sentences in both languages: each rule is a function that draws a sentence and its translation."""

from collections.abc import Callable

from phrasebeam.training.demo.grammar import inflection, lexicon
from phrasebeam.training.demo.grammar import noun_phrases as phrases
from phrasebeam.training.demo.grammar.clauses import (
    NOTHING,
    RELATIVE_VERBS,
    Clause,
    choose_tense,
    clause,
    english_question,
    english_statement,
    german_final,
    german_main,
    german_question,
    join,
    objects,
    predicate,
    relative_clause,
    subject,
    time,
)
from phrasebeam.training.demo.grammar.inflection import ACCUSATIVE, DATIVE, NOMINATIVE, Verb, make_verb
from phrasebeam.training.demo.grammar.noun_phrases import Draw, NounPhrase, Pair, pairs, pick
from phrasebeam.training.demo.grammar.verb_phrases import (
    ALREADY,
    FIRST_MODAL,
    PERFECT,
    PLUPERFECT,
    PRESENT,
    PRETERITE,
    PROGRESSIVE,
    VERBS,
    conditional,
    conjugate,
    infinitive_with_zu,
    passive,
)

SAYING_VERBS = [make_verb(line) for line in lexicon.SAYING_VERBS.strip().split("\n")]
INFINITIVE_VERBS = [make_verb(line) for line in lexicon.INFINITIVE_VERBS.strip().split("\n")]
DOUBTS, FACTS, DOUBTING = pairs(lexicon.DOUBTS), pairs(lexicon.FACTS), pairs(lexicon.DOUBTING)
CONDITIONS, OPENINGS, COURTESIES = pairs(lexicon.CONDITIONS), pairs(lexicon.OPENINGS), pairs(lexicon.COURTESIES)
# German and English conjunction, tense of its clause and of the main clause (-1: any).
CONJUNCTIONS = [
    ("weil", "because", -1, -1),
    ("wenn", "if", PRESENT, PRESENT),
    ("obwohl", "although", -1, -1),
    ("als", "when", PRETERITE, PERFECT),
    ("bevor", "before", PRESENT, PRESENT),
    ("nachdem", "after", PLUPERFECT, PRETERITE),
    ("während", "while", PRETERITE, PRETERITE),
    ("damit", "so that", FIRST_MODAL, PRESENT),
    ("sobald", "as soon as", PRESENT, FIRST_MODAL + 1),
]
COORDINATIONS = pairs("und and; aber but; denn because; oder or")
QUESTIONS = pairs("warum why; wann when; wie_oft how_often")
EXPERIENCES = [
    # German third person singular and plural, English verb, classes of the German subject
    ("gefällt", "gefallen", "like", ("thing", "building", "clothes", "event", "text", "vehicle")),
    ("schmeckt", "schmecken", "like", ("food", "drink")),
    ("fehlt", "fehlen", "miss", ("person", "animal")),
]
THINGS = ("thing", "vehicle", "text", "building", "clothes", "animal")
PASSIVE_VERBS = [v for v in VERBS if v.frame == "t" and v.english[0] not in ("marry", "know", "understand")]
OBJECT_VERBS = [verb for verb in VERBS if verb.frame in "tdpb"]


def speaker(draw: Draw, kind: str = "person") -> NounPhrase:
    """Draw a subject, perhaps with a relative clause."""
    who = subject(draw, kind)
    if who.kind and draw() < 0.12:
        german, english = relative_clause(draw, who)
        return who._replace(german=f"{who.german} , {german} ,", english=f"{who.english} {english}")
    return who


def statement(draw: Draw) -> Pair:
    """A statement, subject first; a German object whose article shows the accusative may be first."""
    c = clause(draw, speaker(draw), relative=0.1)
    if c.subject.pronoun and not c.negative and not c.trailing and c.middle.startswith(("den ", "diesen ")):
        return f"{german_main(c._replace(middle=''), c.middle)} .", f"{english_statement(c)} ."
    return f"{german_main(c)} .", f"{english_statement(c)} ."


def inverted(draw: Draw) -> Pair:
    """A statement with the time or another adverbial first."""
    c = clause(draw, speaker(draw), relative=0.05)
    if c.time is NOTHING or draw() < 0.3:
        german, english = pick(draw, OPENINGS)
        return f"{german_main(c, german)} .", f"{english} {english_statement(c)} ."
    return f"{german_main(c, c.time[0])} .", f"{english_statement(c, time_first=draw() < 0.85)} ."


def reported(draw: Draw) -> Pair:
    """A subordinate clause with "dass", or, after words of doubt, with "ob", "warum", "wann"."""
    inside, choice = clause(draw, relative=0.05), draw()
    german, english = german_final(inside), english_statement(inside)
    if choice < 0.3:
        (first, first_english), (word, word_english) = pick(draw, DOUBTS), pick(draw, DOUBTING)
        end = "?" if first == "weißt du" else "."
        return f"{first} , {word} {german} {end}", f"{first_english} {word_english} {english} {end}"
    if choice < 0.5:
        first, first_english = pick(draw, FACTS)
        return f"{first} , dass {german} .", f"{first_english} that {english} ."
    who, verb = subject(draw), pick(draw, SAYING_VERBS)
    forms = conjugate(verb, _simple_tense(draw, verb, who) if choice < 0.8 else PRESENT, who.person)
    said = Clause(who, forms, "", NOTHING, NOTHING, "", "", draw() < 0.1)
    negation = " nicht" if said.negative else ""
    first = f"{who.german} {forms.finite}{negation} {forms.tail}".rstrip()
    return f"{first} , dass {german} .", f"{english_statement(said)} that {english} ."


def _simple_tense(draw: Draw, verb: Verb, who: NounPhrase) -> int:
    """Draw a tense that needs no adverb."""
    tense = choose_tense(draw, verb, who.person)
    return PERFECT if tense in (PROGRESSIVE, ALREADY) else tense


def subordinated(draw: Draw) -> Pair:
    """A main and a subordinate clause with a conjunction, in either order."""
    word, word_english, tense, main_tense = CONJUNCTIONS[int(len(CONJUNCTIONS) * draw())]
    main, inside = clause(draw, tense=main_tense), clause(draw, tense=tense)
    german, english = f"{word} {german_final(inside)}", f"{word_english} {english_statement(inside)}"
    if draw() < 0.4:
        return f"{german_main(main, german + ' ,')} .", f"{english} , {english_statement(main)} ."
    return f"{german_main(main)} , {german} .", f"{english_statement(main)} {english} ."


def coordinated(draw: Draw) -> Pair:
    """Two main clauses with a conjunction."""
    word, word_english = pick(draw, COORDINATIONS)
    first, second = clause(draw), clause(draw)
    german = f"{german_main(first)} , {word} {german_main(second)} ."
    return german, f"{english_statement(first)} , {word_english} {english_statement(second)} ."


def yes_no_question(draw: Draw) -> Pair:
    """A yes-no question."""
    c = clause(draw) if draw() < 0.8 else predicate(draw, subject(draw, pick(draw, THINGS)))
    return f"{german_question(c)} ?", f"{english_question(c)} ?"


def wh_question(draw: Draw) -> Pair:
    """A question about the subject, the object, or with "warum", "wann", "wie oft"."""
    choice = draw()
    if choice < 0.3:
        who = NounPhrase("wer", "who", inflection.THIRD_SINGULAR, 0, 2, True, False, True, "")
        c = clause(draw, who)
        return f"{german_main(c)} ?", f"{english_statement(c)} ?"
    if choice < 0.6:
        return _object_asked(draw)
    c = clause(draw)._replace(time=NOTHING)
    word, word_english = QUESTIONS[0] if c.negative or c.adverb[0] else pick(draw, QUESTIONS)
    return f"{german_main(c, word)} ?", f"{word_english} {english_question(c)} ?"


def _object_asked(draw: Draw) -> Pair:
    kind, who = pick(draw, THINGS), subject(draw)
    verb = pick(draw, [v for v in RELATIVE_VERBS[kind] if v.frame == "t"])
    german, english = "was", "what"
    if draw() < 0.5:
        word = phrases.noun(draw, kind)
        chosen = phrases.decline(draw, word, phrases.WHICH, word.countable and draw() < 0.3, ACCUSATIVE)
        german, english = chosen.german, chosen.english
    tense = _simple_tense(draw, verb, who)
    when = time(draw, tense) if draw() < 0.3 else NOTHING
    c = Clause(who, conjugate(verb, tense, who.person), "", when, NOTHING, "", verb.link, False)
    return f"{german_main(c, german)} ?", f"{english} {english_question(c)} ?"


def copular(draw: Draw) -> Pair:
    """A statement of "be" and an adjective."""
    kind = pick(draw, ("person", "thing", "building", "food", "abstract", "animal", "place", "vehicle", "event"))
    if kind != "person":
        who = phrases.noun_phrase(draw, kind, NOMINATIVE)
        if draw() < 0.1:
            german, english = relative_clause(draw, who)
            who = who._replace(german=f"{who.german} , {german} ,", english=f"{who.english} {english}")
    else:
        who = speaker(draw)
    c = predicate(draw, who)
    return f"{german_main(c)} .", f"{english_statement(c)} ."


def passive_statement(draw: Draw) -> Pair:
    """A statement in the passive, often with its agent."""
    verb, past = pick(draw, PASSIVE_VERBS), draw() < 0.7
    what = phrases.noun_phrase(draw, verb.objects[int(len(verb.objects) * draw())], NOMINATIVE)
    german, english = "", verb.link
    if draw() < 0.6:
        doer = phrases.noun_phrase(draw, "person", DATIVE)
        german, english = phrases.contract("von", doer.german), join(verb.link, f"by {doer.english}")
    when = time(draw, PRETERITE if past else PRESENT) if draw() < 0.5 else NOTHING
    c = Clause(what, passive(verb, past, what.person), "", when, NOTHING, german, english, False)
    first = when[0] if when[0] and draw() < 0.3 else ""
    return f"{german_main(c, first)} .", f"{english_statement(c, time_first=bool(first))} ."


def _infinitive(draw: Draw, verb: Verb, who: NounPhrase) -> Pair:
    complements = objects(draw, verb, who, False)
    reflexive = phrases.REFLEXIVES[who.person] if verb.reflexive else ""
    german = join(reflexive, complements.early, complements.middle, infinitive_with_zu(verb))
    return german, join("to", verb.english[0], complements.english)


def infinitival(draw: Draw) -> Pair:
    """A statement with an infinitive with "zu", or with a purpose, "um ... zu"."""
    who, verb = speaker(draw), pick(draw, OBJECT_VERBS)
    german, english = _infinitive(draw, verb, who)
    if draw() < 0.5:
        matrix = pick(draw, INFINITIVE_VERBS)
        tense = _simple_tense(draw, matrix, who)
        c = Clause(who, conjugate(matrix, tense, who.person), "", time(draw, tense), NOTHING, "", "", False)
        return (
            f"{german_main(c)} , {german} .",
            f"{join(english_statement(c._replace(time=NOTHING)), english, c.time[1])} .",
        )
    c = clause(draw, who)
    if c.negative or c.time[1]:
        return f"{german_main(c)} .", f"{english_statement(c)} ."
    return f"{german_main(c)} , um {german} .", f"{english_statement(c)} {english} ."


def experiencer(draw: Draw) -> Pair:
    """A statement with a German verb whose subject is the English object: "mir gefällt das haus"."""
    singular, plural, translation, kinds = EXPERIENCES[int(3 * draw())]
    who = phrases.pronoun(draw, DATIVE) if draw() < 0.5 else phrases.noun_phrase(draw, "person", DATIVE)
    what = phrases.noun_phrase(draw, pick(draw, kinds), NOMINATIVE)
    finite = plural if what.person == inflection.THIRD_PLURAL else singular
    if who.pronoun:
        english = next(row[1][0] for row in phrases.PRONOUNS if row[1][1] == who.english and row[2] == who.person)
    else:
        english = who.english
    verb = (
        translation
        if who.person != inflection.THIRD_SINGULAR
        else translation + ("es" if translation == "miss" else "s")
    )
    if who.pronoun and draw() < 0.5:
        return f"{what.german} {finite} {who.german} .", f"{english} {verb} {what.english} ."
    return f"{who.german} {finite} {what.german} .", f"{english} {verb} {what.english} ."


def gern_statement(draw: Draw) -> Pair:
    """A statement with "gern", "like to"."""
    who, verb = speaker(draw), pick(draw, OBJECT_VERBS)
    complements, forms = objects(draw, verb, who, False), conjugate(verb, PRESENT, who.person)
    like = "likes to" if who.person == inflection.THIRD_SINGULAR else "like to"
    reflexive = phrases.REFLEXIVES[who.person] if verb.reflexive else ""
    german = join(who.german, forms.finite, reflexive, complements.early, "gern", complements.middle, forms.tail)
    return f"{german} .", f"{join(who.english, like, verb.english[0], complements.english)} ."


def existential(draw: Draw) -> Pair:
    """A statement with "es gibt", "there is"."""
    kind = pick(draw, ("thing", "building", "animal", "person", "event", "food"))
    what, (where, where_english) = phrases.noun_phrase(draw, kind, ACCUSATIVE), phrases.place(draw, False)
    if what.german.startswith(("jede", "die", "der", "das", "den", "mein", "dein", "sein", "ihr", "unser", "eu")):
        word = phrases.noun(draw, kind)
        chosen = phrases.INDEFINITE if word.countable else phrases.BARE
        what = phrases.decline(draw, word, chosen, False, ACCUSATIVE)
    verb = "are" if what.person == inflection.THIRD_PLURAL else "is"
    if draw() < 0.5:
        return f"{where} gibt es {what.german} .", f"there {verb} {what.english} {where_english} ."
    return f"es gibt {what.german} {where} .", f"there {verb} {what.english} {where_english} ."


def measure(draw: Draw) -> Pair:
    """A price or an age."""
    german, english = phrases.number(draw)
    if draw() < 0.5:
        what = phrases.noun_phrase(draw, pick(draw, ("thing", "text", "clothes", "vehicle")), NOMINATIVE)
        plural = what.person == inflection.THIRD_PLURAL
        finite, verb = ("kosten", "cost") if plural else ("kostet", "costs")
        return f"{what.german} {finite} {german} euro .", f"{what.english} {verb} {english} euros ."
    c = predicate(draw, subject(draw), past=False)._replace(negative=False)
    c = c._replace(middle=f"{german} jahre alt", english=f"{english} years old")
    return f"{german_main(c)} .", f"{english_statement(c)} ."


def imperative(draw: Draw) -> Pair:
    """A polite imperative."""
    verb = pick(draw, OBJECT_VERBS)
    you = NounPhrase("sie", "you", inflection.THIRD_PLURAL, 3, -1, True, True, True, "")
    negative = draw() < 0.2
    complements = objects(draw, verb, you, negative)
    reflexive = "sich" if verb.reflexive else ""
    german = join("bitte", verb.infinitive, "sie", reflexive, complements.early, complements.middle, verb.prefix)
    return f"{german} !", f"{join('please', 'do not' if negative else '', verb.english[0], complements.english)} !"


def conditional_statement(draw: Draw) -> Pair:
    """A condition with "wenn" and its consequence in the conditional."""
    (german, english), verb, who = pick(draw, CONDITIONS), pick(draw, OBJECT_VERBS), subject(draw)
    complements = objects(draw, verb, who, False)
    reflexive = phrases.REFLEXIVES[who.person] if verb.reflexive else ""
    early = join(reflexive, complements.early)
    c = Clause(
        who, conditional(verb, who.person), early, NOTHING, NOTHING, complements.middle, complements.english, False
    )
    if draw() < 0.6:
        return f"{german_main(c, f'wenn {german} ,')} .", f"if {english} , {english_statement(c)} ."
    return f"{german_main(c)} , wenn {german} .", f"{english_statement(c)} if {english} ."


def courtesy(draw: Draw) -> Pair:
    """A formula of courtesy."""
    return pick(draw, COURTESIES)


RULES: list[Callable[[Draw], Pair]] = []  # of 100, each as often as it is likely
for _rule, _weight in (
    (statement, 30), (inverted, 15), (reported, 9), (subordinated, 9), (coordinated, 4), (yes_no_question, 4),
    (wh_question, 5), (copular, 6), (passive_statement, 4), (infinitival, 4), (experiencer, 2), (gern_statement, 2),
    (existential, 2), (measure, 2), (imperative, 1), (conditional_statement, 1),
):  # fmt: skip
    RULES += [_rule] * _weight


def sentence(draw: Draw) -> Pair:
    """A German sentence and its translation, tokenized and lowercased."""
    german, english = RULES[int(100 * draw())](draw) if draw() > 0.005 else courtesy(draw)
    return german.replace(" , , ", " , ").replace(" , .", " .").replace(" , ?", " ?"), english
