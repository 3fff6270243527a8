"""Tenses of verbs for every person: finite verb and end of the clause in German, auxiliary and main verb in English."""

from functools import cache
from typing import NamedTuple

from phrasebeam.training.demo.grammar import lexicon
from phrasebeam.training.demo.grammar.inflection import Verb, make_verb, table

PRESENT, PERFECT, PRETERITE, FUTURE, PROGRESSIVE, ALREADY, PLUPERFECT = range(7)
FIRST_MODAL = 7  # tenses from here on are rows of MODALS
HABEN, SEIN = table("habe hast hat haben habt haben | bin bist ist sind seid sind")
WERDEN, WURDE = table("werde wirst wird werden werdet werden | wurde wurdest wurde wurden wurdet wurden")
HATTE, WAR = table("hatte hattest hatte hatten hattet hatten | war warst war waren wart waren")
(WÜRDE,) = table("würde würdest würde würden würdet würden")
BE, WAS = table("am are is are are are | was were was were were were")
HAVE, DO = table("have have has have have have | do do does do do do")
# English of each of MODALS: auxiliary, what follows it, the negated auxiliary; or (without auxiliary) its verb.
MODAL_TRANSLATIONS = [
    ("can", "", "cannot"),
    ("", "have to", "has to"),
    ("", "want to", "wants to"),
    ("should", "", "should not"),
    ("may", "", "must not"),
    ("would", "like to", "would not"),
    ("could", "", "could not"),
    ("", "have to", "had to"),
    ("", "want to", "wanted to"),
]
MODALS = table(
    "kann kannst kann können könnt können | muss musst muss müssen müsst müssen | "
    "will willst will wollen wollt wollen | soll sollst soll sollen sollt sollen | "
    "darf darfst darf dürfen dürft dürfen | möchte möchtest möchte möchten möchtet möchten | "
    "konnte konntest konnte konnten konntet konnten | musste musstest musste mussten musstet mussten | "
    "wollte wolltest wollte wollten wolltet wollten"
)
PAST_MODAL = FIRST_MODAL + 6

VERBS = [make_verb(line) for line in lexicon.VERBS.strip().split("\n")]
STATIVE = {"know", "love", "see", "understand", "hear", "forget", "miss", "trust", "remember", "find", "lose"}


class Forms(NamedTuple):
    """The parts of a verb in one tense and person, "" if it lacks one."""

    finite: str  # German second position
    tail: str  # German end of a main clause: prefix, participle or infinitive
    final: str  # German end of a subordinate clause: tail and finite verb
    auxiliary: str  # English, of a statement
    main: str  # English, of a statement
    negated: str  # English auxiliary, "not" and verb
    question_auxiliary: str  # English, before the subject
    question_verb: str  # English, after the subject


@cache
def conjugate(verb: Verb, tense: int, person: int) -> Forms:
    """The verb in a tense (PRESENT, ..., FIRST_MODAL + row of MODALS) and one of the six persons."""
    return Forms(*_german(verb, tense, person), *_english(verb, tense, person))


def _german(verb: Verb, tense: int, person: int) -> tuple[str, str, str]:
    if tense in (PERFECT, ALREADY, PLUPERFECT):
        present, past = (HABEN, HATTE) if verb.auxiliary == "haben" else (SEIN, WAR)
        finite, tail = (past if tense == PLUPERFECT else present)[person], verb.participle
    elif tense == FUTURE:
        finite, tail = WERDEN[person], verb.prefix + verb.infinitive
    elif tense >= FIRST_MODAL:
        finite, tail = MODALS[tense - FIRST_MODAL][person], verb.prefix + verb.infinitive
    else:
        finite = (verb.preterite if tense == PRETERITE else verb.present)[person]
        return finite, verb.prefix, verb.prefix + finite
    return finite, tail, f"{tail} {finite}"


def _english(verb: Verb, tense: int, person: int) -> tuple[str, str, str, str, str]:
    base, past, participle, progressive = verb.english
    if tense == PRESENT:
        return _with_do(verb.third if person == 2 else base, base, DO[person])
    if tense in (PERFECT, PRETERITE):
        return _with_do(past, base, "did")
    if tense in (ALREADY, PLUPERFECT):
        return _with_auxiliary(HAVE[person] if tense == ALREADY else "had", participle)
    if tense == PROGRESSIVE:
        return _with_auxiliary(BE[person], progressive)
    if tense == FUTURE:
        return _with_auxiliary("will", base)
    auxiliary, verb_like, special = MODAL_TRANSLATIONS[tense - FIRST_MODAL]
    main = f"{verb_like} {base}".strip()
    if auxiliary:
        return auxiliary, main, f"{special} {main}", auxiliary, main
    if tense > PAST_MODAL:
        return _with_do(f"{special} {base}", main, "did")
    return _with_do(f"{special if person == 2 else verb_like} {base}", main, DO[person])


def _with_do(finite: str, base: str, do: str) -> tuple[str, str, str, str, str]:
    return "", finite, f"{do} not {base}", do, base


def _with_auxiliary(auxiliary: str, main: str) -> tuple[str, str, str, str, str]:
    return auxiliary, main, f"{auxiliary} not {main}".strip(), auxiliary, main


@cache
def be(past: bool, person: int) -> Forms:
    """ "sein" and "be" in the preterite or the present."""
    finite = (WAR if past else SEIN)[person]
    return Forms(finite, "", finite, *_with_auxiliary((WAS if past else BE)[person], ""))


@cache
def passive(verb: Verb, past: bool, person: int) -> Forms:
    """The passive of a transitive verb in the preterite or the present."""
    finite, auxiliary = (WURDE if past else WERDEN)[person], (WAS if past else BE)[person]
    english = _with_auxiliary(auxiliary, verb.english[2])
    return Forms(finite, verb.participle, f"{verb.participle} {finite}", *english)


@cache
def conditional(verb: Verb, person: int) -> Forms:
    """The conditional: "würde" or "would" and the infinitive."""
    finite, tail = WÜRDE[person], verb.prefix + verb.infinitive
    return Forms(finite, tail, f"{tail} {finite}", *_with_auxiliary("would", verb.english[0]))


def infinitive_with_zu(verb: Verb) -> str:
    """The German infinitive with "zu": "zu kaufen", "aufzumachen"."""
    return f"{verb.prefix}zu{verb.infinitive}" if verb.prefix else f"zu {verb.infinitive}"
