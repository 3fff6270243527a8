"""The embedded corpus: reproducible, tokenized, varied, and German and English as grammars have them."""

import random
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError
from phrasebeam.training.demo.demo_corpus import generate, write_corpus, write_pairs
from phrasebeam.training.demo.grammar import inflection
from phrasebeam.training.demo.grammar.inflection import make_noun, make_verb
from phrasebeam.training.demo.grammar.noun_phrases import contract, number_words
from phrasebeam.training.demo.grammar.sentences import RULES
from phrasebeam.training.demo.grammar.verb_phrases import (
    ALREADY,
    FIRST_MODAL,
    PERFECT,
    PRESENT,
    PRETERITE,
    PROGRESSIVE,
    conjugate,
    infinitive_with_zu,
)

seeds = st.integers(0, 2**32)
FIRST_PAIRS = [
    ("er bringt immer einen leeren tisch mit .", "he always brings along an empty table ."),
    ("natürlich soll dieser bruder einen spiegel mitbringen .", "of course this brother should bring along a mirror ."),
]


@given(seeds, st.integers(0, 60), st.integers(0, 60), st.floats(0, 1))
def test_shorter_corpora_are_beginnings_of_longer_ones(seed, few, more, noise):
    shorter, longer = sorted((few, more))
    assert list(generate(shorter, seed, noise)) == list(generate(longer, seed, noise))[:shorter]


def test_the_first_sentences_of_a_seed():
    assert list(generate(2, 1, 0.0)) == FIRST_PAIRS


def test_noise_damages_its_share_and_leaves_the_rest():
    clean, noisy = (list(generate(4000, 5, noise)) for noise in (0.0, 0.1))
    damaged = sum(a != b for a, b in zip(clean, noisy))
    assert 0.05 < damaged / 4000 < 0.12


@given(seeds)
def test_sentences_are_tokenized_and_lowercased(seed):
    for rule in dict.fromkeys(RULES):
        for side in rule(random.Random(seed).random):
            assert side == " ".join(side.split()) == side.lower()


def test_clean_sentences_end_in_punctuation_and_have_balanced_lengths():
    for german, english in generate(3000, 2, 0.0):
        assert german[-2:] in (" .", " ?", " !")
        assert english[-2:] == german[-2:]
        assert ", ," not in german
        assert ", ." not in german
        assert 0.4 < len(german.split()) / len(english.split()) < 2.5


def test_thousands_of_sentences_hardly_repeat():
    german = [pair[0] for pair in generate(20_000, 3)]
    assert len(set(german)) > 0.95 * len(german)
    assert 2000 < len(Counter(word for line in german for word in line.split())) < 6000


def test_english_articles_fit_the_next_word():
    text = " ".join(english for _, english in generate(20_000, 4, 0.0))
    assert not re.search(r"\ba [aeio]", text)
    assert not re.search(r"\ban [bcdfghjklmnpqrstvwxyz]", text)
    assert not re.search(r"\ba uni|\ban uni|\ba umb", text.replace("a university", ""))


def test_refuses_impossible_settings():
    for n, noise in ((-1, 0.0), (1, 1.5), (1, -0.1)):
        with pytest.raises(ConfigError, match="demo corpus"):
            generate(n, 1, noise)


def test_held_out_sentences_are_unseen_and_clean(tmp_path):
    files = write_corpus(tmp_path / "corpus", 3000, 200, seed=1)
    train_source, train_target, test_source, test_target = (path.read_text("utf-8").splitlines() for path in files)
    assert len(train_source) == len(train_target) == 3000
    assert len(set(test_source)) == len(set(test_target)) == 200
    assert not set(test_source) & set(train_source)
    assert not set(test_target) & set(train_target)


def test_files_are_what_is_generated(tmp_path):
    source, target = write_pairs(tmp_path / "some", 50, seed=9)
    assert (source.name, target.name) == ("some.de", "some.en")
    lines = zip(source.read_text("utf-8").splitlines(), target.read_text("utf-8").splitlines(), strict=True)
    assert list(lines) == list(generate(50, 9))


@pytest.mark.parametrize(
    ("line", "singular", "plural", "english"),
    [
        ("hund m hunde dog", "hund hund hund hundes", "hunde hunde hunden hunde", ("dog", "dogs")),
        (
            "kollege mw kollegen colleague",
            "kollege kollegen kollegen kollegen",
            "kollegen " * 4,
            ("colleague", "colleagues"),
        ),
        ("frau f frauen woman women", "frau frau frau frau", "frauen frauen frauen frauen", ("woman", "women")),
        ("bus m busse bus", "bus bus bus busses", "busse busse bussen busse", ("bus", "buses")),
        ("party f partys party", "party party party party", "partys partys partys partys", ("party", "parties")),
    ],
)
def test_nouns(line, singular, plural, english):
    noun = make_noun(line, "thing")
    assert [list(forms) for forms in noun.forms] == [singular.split(), plural.split()]
    assert noun.english == english


@pytest.mark.parametrize(
    ("line", "present", "preterite_and_participle"),
    [
        ("kaufen", "kaufe kaufst kauft kaufen kauft kaufen", "kaufte gekauft"),
        ("arbeiten", "arbeite arbeitest arbeitet arbeiten arbeitet arbeiten", "arbeitete gearbeitet"),
        ("streicheln", "streichle streichelst streichelt streicheln streichelt streicheln", "streichelte gestreichelt"),
        ("spielen", "spiele spielst spielt spielen spielt spielen", "spielte gespielt"),
        ("ein-laden/lädt/lud/geladen", "lade lädst lädt laden ladet laden", "lud eingeladen"),
        ("essen/isst/aß/gegessen", "esse isst isst essen esst essen", "aß gegessen"),
        ("halten/hält/hielt/gehalten", "halte hältst hält halten haltet halten", "hielt gehalten"),
        ("besuchen", "besuche besuchst besucht besuchen besucht besuchen", "besuchte besucht"),
        ("reparieren", "repariere reparierst repariert reparieren repariert reparieren", "reparierte repariert"),
    ],
)
def test_verbs(line, present, preterite_and_participle):
    verb = make_verb(f"{line} | do | i")
    assert list(verb.present) == present.split()
    assert f"{verb.preterite[2]} {verb.participle}" == preterite_and_participle


def test_separable_verbs_join_where_german_joins_them():
    verb, he = make_verb("auf-machen | open | t openable"), inflection.THIRD_SINGULAR
    present, perfect, can = (conjugate(verb, tense, he) for tense in (PRESENT, PERFECT, FIRST_MODAL))
    assert (present.finite, present.tail, present.final) == ("macht", "auf", "aufmacht")
    assert (perfect.finite, perfect.tail, perfect.final) == ("hat", "aufgemacht", "aufgemacht hat")
    assert (can.finite, can.tail, can.final) == ("kann", "aufmachen", "aufmachen kann")
    assert infinitive_with_zu(verb) == "aufzumachen"


def test_english_tenses():
    verb, he, we = make_verb("schreiben/schreibt/schrieb/geschrieben | write/wrote/written | t text"), 2, 3
    assert conjugate(verb, PRESENT, he).main == "writes"
    assert conjugate(verb, PRESENT, we).negated == "do not write"
    assert conjugate(verb, PRETERITE, he).negated == "did not write"
    assert conjugate(verb, ALREADY, he)[3:5] == ("has", "written")
    assert conjugate(verb, PROGRESSIVE, we)[3:5] == ("are", "writing")


def test_numbers_and_contractions():
    assert number_words(21) == ("einundzwanzig", "twenty-one")
    assert number_words(70) == ("siebzig", "seventy")
    assert contract("in", "dem garten") == "im garten"
    assert contract("in", "den garten") == "in den garten"
