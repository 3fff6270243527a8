"""The embedded corpus: reproducible, tokenized, varied, and German and English as grammars have them."""

import random
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError
from phrasebeam.training.demo.demo_corpus import generate, write_corpus, write_pairs
from phrasebeam.training.demo.grammar import SYMBOLS, conjugated, contract, decline, filled
from phrasebeam.training.demo.lexicon import DETERMINERS, NOUNS, SENTENCES, TENSES, VERBS, Pair, noun

ME, YOU, HE, WE, THEY = range(5)
seeds = st.integers(0, 2**32)
FIRST_PAIRS = [
    (
        "wir wissen nicht , ob einige köche michael dankten .",
        "we do not know whether some cooks thanked michael .",
    ),
    ("peter hat sich an eine wichtige prüfung erinnert .", "peter remembered an important exam ."),
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
    for rule in dict.fromkeys(SENTENCES):
        for side in filled(random.Random(seed).random, rule):
            assert side == " ".join(side.split()) == side.lower()
            assert not set(side) & set("{}_=+*")


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
    ("entry", "gender", "singular", "plural"),
    [
        ("hund m hundes hunde dog dogs", 0, "hund hund hund hundes", "hunde hunde hunden hunde"),
        ("kollege w kollegen kollegen colleague colleagues", 0, "kollege kollegen kollegen kollegen", "kollegen " * 4),
        ("frau f frau frauen woman women", 1, "frau frau frau frau", "frauen frauen frauen frauen"),
        ("büro n büros büros office offices", 2, "büro büro büro büros", "büros büros büros büros"),
    ],
)
def test_nouns(entry, gender, singular, plural):
    word = noun(entry, "thing")
    assert word.gender == gender and [list(forms) for forms in word.forms] == [singular.split(), plural.split()]
    assert list(word.en) == entry.split()[-2:]


def test_articles_and_adjectives_agree():
    dog = next(word for word in NOUNS["animal"] if word.en[0] == "dog")
    cases = [decline(lambda: 0.2, dog, DETERMINERS[i], False, case).de for i in (0, 1) for case in range(4)]
    assert cases == [
        *("der kleine hund", "den kleinen hund", "dem kleinen hund", "des kleinen hundes"),
        *("ein kleiner hund", "einen kleinen hund", "einem kleinen hund", "eines kleinen hundes"),
    ]


def verb(infinitive):
    return next(word for word in VERBS if word.prefix + word.infinitive == infinitive)


def test_every_verb_has_all_forms():
    for word in VERBS:
        assert len(word.en) == len(word.present) == len(word.past) == 5
        assert word.participle.startswith(word.prefix)
        assert bool(word.kinds) == (word.takes not in "igl")
        for tense in TENSES:
            for person in range(5):
                assert all(conjugated(word, tense, person, False)[part] for part in ("finite", "base"))


def test_separable_verbs_join_where_german_joins_them():
    parts = {tense: conjugated(verb("aufmachen"), tense, HE, False) for tense in ("present", "perfect", "can")}
    assert [parts["present"][part] for part in ("finite", "tail", "last")] == ["macht", "auf", "aufmacht"]
    assert [parts["perfect"][part] for part in ("finite", "tail", "last")] == ["hat", "aufgemacht", "aufgemacht hat"]
    assert [parts["can"][part] for part in ("finite", "tail", "last")] == ["kann", "aufmachen", "aufmachen kann"]
    assert parts["can"]["to_infinitive"] == "aufzumachen"


@pytest.mark.parametrize(
    ("tense", "person", "is_negative", "english"),
    [
        ("present", HE, False, "writes"),
        ("present", WE, True, "do not write"),
        ("past", HE, True, "did not write"),
        ("perfect", ME, False, "wrote"),
        ("already", HE, False, "has written"),
        ("progressive", WE, False, "are writing"),
        ("must", HE, False, "has to write"),
        ("must", THEY, True, "do not have to write"),
        ("had-to", YOU, False, "had to write"),
        ("can", HE, True, "cannot write"),
    ],
)
def test_english_tenses(tense, person, is_negative, english):
    parts = conjugated(verb("schreiben"), tense, person, is_negative)
    assert f"{parts['helper']} {parts['verb']}".strip() == english


def test_numbers_and_contractions():
    rule = Pair("{one.de}und{ten.de}", "{ten.en}-{one.en}")
    assert filled(lambda: 0.0, rule) == ("einundzwanzig", "twenty-one")
    assert contract("in", "dem garten") == "im garten"
    assert contract("in", "den garten") == "in den garten"


def test_every_rule_and_phrase_can_be_drawn():
    draw = random.Random(3).random
    for name, symbol in SYMBOLS.items():
        assert symbol(draw), name
