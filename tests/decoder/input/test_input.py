"""Terms, walls, zones and unknown words against brute force; nothing else changes, and no instruction is a dead end."""

import random
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.input_settings import InputSettings
from phrasebeam.decoder.input.sentence_input import LONGEST_TERM, Input, Term
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import SOURCE, TARGET, WORD_MSD, random_lm, random_toy, write_model
from tests.naive.instructions import derivations, obeys
from tests.naive.search import features

pytestmark = pytest.mark.kernels

UNLIMITED = {"stack": 0, "beam_threshold": 0, "table_limit": 0, "pop_limit": 0}
SEEDS = st.integers(0, 2**20)
ALGORITHMS = st.sampled_from(["stack", "cube"])
POLICIES = st.sampled_from(["exclusive", "inclusive", "constraint"])
OOVS = st.sampled_from(["copy", "drop", "mark"])
ALL = 10**5
REORDERINGS = None, WORD_MSD, Reordering(orientation="hier", kind="mslr")


def test_tags_are_split_off_at_the_last_bar():
    found = Input.read(" das|ART  |||$( a|b|N\n", has_tags=True)
    assert found == Input(["das", "||", "a|b"], tags=("ART", "$(", "N"))
    assert Input.read("das|ART |", has_tags=False) == Input(["das|ART", "|"])
    assert Input.read("", has_tags=True) == Input([])
    for token in ("das", "das|", "|ART", "|"):
        with pytest.raises(ConfigError) as error:
            Input.read(f"ein|ART {token}", has_tags=True)
        assert str(error.value) == f"the token {token!r}, expected word|TAG, since the model has features of tags"
    with pytest.raises(ConfigError, match="1 tags are given for 2 words, expected one for each, or none"):
        Input(["das", "haus"], tags=("ART",))


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("toys")


def random_span(rng, n_words):
    begin = rng.randrange(n_words)
    return begin, rng.randint(begin + 1, n_words)


def random_terms(rng, words, table):
    """Up to three translations of a span or two; some are the phrase table's, some longer than any of it."""
    terms = []
    for _ in range(rng.randint(0, 2)):
        begin, end = random_span(rng, len(words))
        for _ in range(rng.randint(1, 2)):
            known = table.get(" ".join(words[begin:end]))
            if known and rng.random() < 0.5:
                target = rng.choice(known)[0].split()
            else:
                target = rng.choices([*TARGET, "new"], k=rng.choice([0, 1, 1, 1, 5]))
            terms.append(Term(begin, end, tuple(target), rng.choice([1.0, 0.3, 0.0])))
    return tuple(terms)


def random_zones(rng, n_words):
    zones = []
    for _ in range(rng.randint(0, 3)):
        with suppress(ConfigError):  # they would cross
            zones = list(Input(["w"] * n_words, zones=(*zones, random_span(rng, n_words))).zones)
    return tuple(zones)


def random_input(seed, table, policy, longest_sentence=4):
    rng = random.Random(seed)
    words = rng.choices([*SOURCE, *SOURCE, "x", "y2"], k=rng.randint(1, longest_sentence))
    walls = tuple(rng.sample(range(1, len(words)), k=min(rng.randint(0, 2), len(words) - 1)))
    return Input(words, random_terms(rng, words, table), policy, walls, random_zones(rng, len(words)))


def flat(translation):
    """The feature vector behind Translation.features."""
    return np.concatenate([np.atleast_1d(value) for value in translation.features.values()])


def shown(option, oov):
    target, _, _, is_unknown = option
    return "".join(f"<{word}>" for word in target) if is_unknown and oov == "mark" else " ".join(target)


@given(SEEDS, ALGORITHMS, POLICIES, OOVS, st.integers(-1, 4))
@settings(max_examples=80)
def test_the_list_is_the_full_enumeration(directory, seed, algorithm, policy, oov, distortion_limit):
    toy = random_toy(directory / f"{seed}", seed, reordering=REORDERINGS[seed % 3])
    sentence = random_input(seed, toy.table, policy)
    reading = InputSettings(oov=oov, oov_prefix="<", oov_suffix=">")
    limits = SearchSettings(algorithm=algorithm, distortion_limit=distortion_limit, **UNLIMITED)
    decoder = Decoder.load(toy.directory, limits, input_settings=reading)
    expected = []
    for derivation in derivations(toy.table, sentence, toy.longest, distortion_limit, oov):
        vector = features(derivation, 4, toy.reordering, toy.lm, toy.order)
        expected.append((tuple((span, shown(option, oov)) for span, option in derivation), toy.weights @ vector))
    found = decoder.nbest(sentence, ALL)
    for translation in found:
        assert toy.weights @ flat(translation) == pytest.approx(translation.score, abs=1e-6)
    have = [(tuple((p.source_span, p.target) for p in one.phrases), one.score) for one in found]
    assert sorted(key for key, _ in have) == sorted(key for key, _ in expected)
    assert [s for _, s in sorted(have)] == pytest.approx([s for _, s in sorted(expected)], abs=1e-4)
    assert found[0] == decoder.translate(sentence)
    assert found[0].score == pytest.approx(max(score for _, score in expected), abs=1e-4)


@given(SEEDS, POLICIES, st.integers(-1, 6), st.sampled_from([1, 5]), ALGORITHMS)
@settings(max_examples=60)
def test_instructions_are_no_dead_end(directory, seed, policy, distortion_limit, stack, algorithm):
    toy = random_toy(directory / "dead ends", 7, most=3)
    sentence = random_input(seed, toy.table, policy, longest_sentence=14)
    limits = SearchSettings(algorithm=algorithm, stack=stack, distortion_limit=distortion_limit)
    covered = [False] * len(sentence.words)
    for phrase in Decoder.load(toy.directory, limits).translate(sentence).phrases:
        begin, end = phrase.source_span
        assert obeys(sentence, distortion_limit, covered, begin, end)
        covered[begin:end] = [True] * (end - begin)
    assert all(covered)


@pytest.fixture(scope="module")
def monotone(tmp_path_factory):
    """A model that translates words one by one and would rather do it from right to left."""
    folder = tmp_path_factory.mktemp("backwards")
    random_lm(folder, random.Random(1), 2)
    ones, swap = np.zeros(4, np.float32), np.log([0.1, 1, 0.1] * 2).astype(np.float32)
    write_model(folder, {word: [(word.upper(), ones, swap)] for word in "abcdefghij"}, Weights(
        language_model=[0], distortion=0, word_penalty=0), 1, 2, Reordering())  # fmt: skip
    return Decoder.load(folder, SearchSettings(distortion_limit=10, beam_threshold=0))


@pytest.mark.parametrize(
    ("instructions", "text"),
    [
        ({}, "J I H G F E D C B A"),
        ({"walls": (4,)}, "D C B A J I H G F E"),
        ({"walls": (4, 6, 0, 10)}, "D C B A F E J I H G"),
        ({"zones": ((3, 6),)}, "J I H G F E D C B A"),
        ({"terms": (Term(2, 4, ("x", "y"), 1.0),)}, "J I H G F E x y B A"),
        ({"terms": (Term(0, 10, ("all",), 1.0),)}, "all"),
        ({"terms": (Term(0, 10, (), 1.0),)}, ""),
    ],
)
def test_what_instructions_do(monotone, instructions, text):
    for algorithm in ("stack", "cube"):
        limits = monotone.search_settings.model_copy(update={"algorithm": algorithm})
        assert Decoder(monotone.model, limits).translate(Input([*"abcdefghij"], **instructions)).text == text


def test_walls_inside_zones_hold_there(monotone):
    inner = monotone.translate(Input([*"abcdefghij"], zones=((3, 6),), walls=(4,))).text.replace(" ", "")
    assert "DFE" in inner
    both = monotone.translate(Input([*"abcdefghij"], zones=((3, 6), (2, 8)), walls=(4, 7))).text.replace(" ", "")
    assert "DFE" in both
    assert set(both[both.index("H") - 5 : both.index("H")]) == set("CDEFG")


def test_a_translation_that_the_table_has_as_well_has_its_reordering_scores(monotone):
    decoder = Decoder(monotone.model, SearchSettings(distortion_limit=0))
    plain = decoder.translate("a b c")
    same = decoder.translate(Input([*"abc"], (Term(1, 2, ("B",), 1.0),)))
    other = decoder.translate(Input([*"abc"], (Term(1, 2, ("X",), 1.0),)))
    assert (same.text, same.score, same.features) == (plain.text, plain.score, plain.features)
    ln, none = np.log(0.1), 0.0
    assert plain.features["reordering"] == pytest.approx([3 * ln, none, none, 2 * ln, none, none])
    assert other.features["reordering"] == pytest.approx([2 * ln, none, none, ln, none, none])
    copied = monotone.nbest(Input(["a"], (Term(0, 1, ("X",), 0.0),), "constraint"), 5)
    assert [one.features["translation"] for one in copied] == [[-25.0] * 4]


def test_words_inside_a_term_are_copied_at_the_price_of_unknown_words(monotone):
    found = monotone.nbest(Input([*"ab"], (Term(0, 2, ("X",), 1.0),)), 5)
    assert sorted(one.text for one in found) == ["X", "a b", "b a"]
    assert [one.features["unknown_word_penalty"] for one in found] == [0, -200, -200]


@given(st.lists(st.sampled_from([*SOURCE, "x"]), max_size=9), POLICIES)
@settings(max_examples=30)
def test_without_instructions_nothing_changes(directory, words, policy):
    decoder = Decoder.load(random_toy(directory / "plain", 7, most=3).directory, SearchSettings(stack=20))
    assert decoder.translate(Input(words, (), policy)) == decoder.translate(" ".join(words))
    assert decoder.nbest(Input(words, (), policy), 9) == decoder.nbest(" ".join(words), 9)


@pytest.mark.parametrize("distortion_limit", [pytest.param(-1, marks=pytest.mark.needs_jit), 4])
@pytest.mark.parametrize("algorithm", ["stack", "cube"])
def test_long_terms_and_zones(directory, algorithm, distortion_limit):
    toy = random_toy(directory / "long", 7, most=3)
    decoder = Decoder.load(
        toy.directory, SearchSettings(algorithm=algorithm, stack=3, pop_limit=9, distortion_limit=distortion_limit)
    )
    line = " ".join(np.random.default_rng(1).choice([*SOURCE, "x"], 80))
    plain, words = decoder.translate(line), line.split()
    term = Term(7, 7 + LONGEST_TERM, tuple("stuvw" * 20), 1.0)
    for one in (Input(words, (term,)), Input(words, (term,), "inclusive", (40,), ((5, 78),))):
        found = decoder.translate(one)
        assert sorted(i for phrase in found.phrases for i in range(*phrase.source_span)) == list(range(80))
        assert found.score == pytest.approx(toy.weights @ flat(found), abs=1e-6)
        assert one.policy == "inclusive" or " ".join(term.target) in [phrase.target for phrase in found.phrases]
    assert decoder.translate(line) == plain


def test_threads_make_no_difference(directory):
    toy = random_toy(directory / "threads", 7, most=3)
    decoder = Decoder.load(toy.directory, SearchSettings(stack=20), input_settings=InputSettings(oov="drop"))
    some = [random_input(seed, toy.table, "inclusive", 9) for seed in range(30)]
    assert list(decoder.translate_all(some, 3)) == [decoder.translate(one) for one in some]


def test_a_sentence_of_dropped_words(directory):
    toy = random_toy(directory / "drop", 7)
    decoder = Decoder.load(toy.directory, input_settings=InputSettings(oov="drop"))
    found = decoder.translate("x y z")
    assert (found.text, found.alignment, [p.target for p in found.phrases]) == ("", [], [""] * 3)
    assert found.features["unknown_word_penalty"] == -300
    assert not any(phrase.is_copied for phrase in found.phrases)
    assert [one.text for one in decoder.nbest("x y z", 9, distinct=True)] == [""]
    kept = decoder.translate("x 4th")
    assert (kept.text, kept.alignment) == ("4th", [(1, 0)])


def test_marked_words_are_other_words_for_readers_alone(directory):
    toy = random_toy(directory / "mark", 7)
    copied, marked = (
        Decoder.load(toy.directory, input_settings=InputSettings(oov=oov)).translate("x s") for oov in ("copy", "mark")
    )
    assert (marked.text, marked.score) == (copied.text.replace("x", "UNKx").replace("s", "UNKs"), copied.score)
    assert all(phrase.is_copied for phrase in marked.phrases)


@pytest.mark.parametrize(
    ("instructions", "complaint"),
    [
        ({"terms": (Term(1, 1, ("x",)),)}, "a translation is given for no words, expected at least one"),
        ({"terms": (Term(1, 4, ("x",)),)}, "a translation is given for words 1 to 3, the sentence has words 0 to 2"),
        ({"terms": (Term(-1, 1, ("x",)),)}, "a translation is given for words -1 to 0, the sentence"),
        ({"terms": (Term(0, 1, ("x",), -0.5),)}, "a translation has probability -0.5, expected"),
        ({"terms": (Term(0, 1, ("x",), float("nan")),)}, "a translation has probability nan"),
        ({"terms": (Term(0, 2, ("x",), 1.0, ((2, 0),)),)}, "a translation is aligned .*, which is not entirely inside"),
        ({"walls": (4,)}, "a wall is before word 4, but the sentence has words 0 to 2"),
        ({"zones": ((2, 2),)}, "a zone holds no words"),
        ({"zones": ((0, 4),)}, "a zone holds words 0 to 3, the sentence has words 0 to 2"),
        ({"zones": ((0, 2), (1, 3))}, "the zones of words 0 to 1 and words 1 to 2 cross; nest or separate them"),
    ],
)
def test_impossible_instructions(instructions, complaint):
    with pytest.raises(ConfigError, match=complaint):
        Input([*"abc"], **instructions)


def test_terms_are_not_too_long():
    with pytest.raises(ConfigError, match="given for 64 words, at most 63 can have one; split it"):
        Input(["a"] * 64, (Term(0, 64, ("x",)),))
