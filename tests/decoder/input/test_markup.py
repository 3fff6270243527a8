"""Markup in lines: what it says, what is plain text, what is refused and how."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.base.errors import FormatError
from phrasebeam.decoder.input.markup import read_all_markup, read_markup
from phrasebeam.decoder.input.sentence_input import Input, Term
from phrasebeam.lm.text.corpus import split
from tests.decoder.input.test_input import random_input

READ = ["exclusive", "inclusive", "constraint", "ignore"]
PLAIN = st.text(st.sampled_from('ab <>/="\\|&;\u00a0\t'), max_size=30).filter(
    lambda line: not any(start in line for start in ("<a", "<b", "</", "\\<"))
)


def term(begin, end, text, probability=1.0):
    return Term(begin, end, tuple(text.split()), probability)


@pytest.mark.parametrize(
    ("line", "words", "instructions"),
    [
        ('das <n translation="house">Haus</n> .', "das Haus .", {"terms": (term(1, 2, "house"),)}),
        ('<n translation="a b">x y</n>', "x y", {"terms": (term(0, 2, "a b"),)}),
        (
            '<n translation="a||b c" prob="0.7||.3">x</n>',
            "x",
            {"terms": (term(0, 1, "a", 0.7), term(0, 1, "b c", 0.3))},
        ),
        ('<any-name.2 english="a" other="1" >x</any-name.2 >', "x", {"terms": (term(0, 1, "a"),)}),
        ('x y z <n translation="a" span="1-2"/>', "x y z", {"terms": (term(1, 3, "a"),)}),
        ('<n translation="a" span="1"> x y z </n>', "x y z", {"terms": (term(1, 2, "a"),)}),
        (
            '<n translation="a"><m translation="b">x</m> y</n>',
            "x y",
            {"terms": (term(0, 1, "b"), term(0, 2, "a"))},
        ),
        ('<b>x</b> <br/> <n translation="">y</n>', "x y", {}),
        ('x<n translation="a">y</n>z', "x y z", {"terms": (term(1, 2, "a"),)}),
        (r'<n translation="say \"a\" > < c:\d">x</n>', "x", {"terms": (term(0, 1, 'say "a" > < c:\\d'),)}),
        ("x <wall/> y<wall />z", "x y z", {"walls": (1, 2)}),
        ("<wall/> x <wall> y </wall> z <wall/>", "x y z", {"walls": (0, 1, 2, 3)}),
        ("x <zone> y <zone> z </zone> </zone>", "x y z", {"zones": ((2, 3), (1, 3))}),
        (r"\<n> x\<y 3 < 4 > &lt; <3 <", "<n> x<y 3 < 4 > &lt; <3 <", {}),
    ],
)
def test_markup(line, words, instructions):
    for policy in ("exclusive", "inclusive", "constraint"):
        assert read_markup(line, policy) == Input(words.split(), policy=policy, **instructions)
    ignored = instructions | {"terms": ()}
    assert read_markup(line, "ignore") == Input(words.split(), **ignored)
    assert read_markup(line, "pass-through") == Input(line.split())


@given(PLAIN, st.sampled_from(READ))
def test_a_line_without_tags_is_plain_text(line, markup):
    found = read_markup(line, markup)
    assert (found.words, found.terms, found.walls, found.zones) == (split(line), (), (), ())


@given(st.integers(0, 2**30), st.sampled_from(READ[:3]))
def test_what_is_written_is_read(seed, policy):
    rng = random.Random(seed)
    wanted = random_input(seed, {}, policy, longest_sentence=9)
    words = [rng.choice([word, '"', "\\", "<", "<b", "/>", "|||"]) for word in wanted.words]
    terms = tuple(
        Term(one.begin, one.end, tuple(rng.choice([word, '"', ">", "<n"]) for word in one.target) or ("|",), 0.25)
        for one in wanted.terms
    )
    tags = [f'<wall span="{wall}-{wall}"/>' for wall in wanted.walls]
    for one in terms:
        text = " ".join(one.target).replace('"', '\\"')
        tags.append(f'<t span="{one.begin}-{one.end - 1}" translation="{text}" prob="{one.probability}"/>')
    tags += [f'<zone span="{begin}-{end - 1}"></zone>' for begin, end in wanted.zones]
    pieces = [*(word.replace("<b", "\\<b") for word in words), *tags]
    for tag in tags:  # where they stand makes no difference
        pieces.remove(tag)
        pieces.insert(rng.randint(0, len(pieces)), tag)
    found = read_markup(" ".join(pieces), policy)
    assert found.words == words
    assert (found.policy, sorted(found.terms, key=str), sorted(found.zones)) == (
        policy,
        sorted(terms, key=str),
        sorted(wanted.zones),
    )
    # In Moses a wall around a word stands before and behind it.
    assert set(found.walls) == {place for wall in wanted.walls for place in (wall, wall + 1)}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("a <b c", "malformed tag at character 3, '<b c': expected <name attribute=\"value\">, </name> or <name/>"),
        ("a <" + "b" * 41 + ">", "malformed tag at character 3"),
        ("<wall/> " * 1002, "more than 1000 elements of markup; split the line"),
        ("a </b> <", "</b> closes a tag that was not opened"),
        ("a <b> c", "<b> is not closed, expected </b>; a < that begins no tag is written \\<"),
        ("<b> <c> a </b> </c>", "<c> is closed by </b>, expected </c>"),
        ("<b translation=x>a</b>", "malformed tag at character 1"),
        ('<b translation="x>a</b>', "malformed tag at character 1"),
        ("<b>a</b/>", "malformed tag at character 5, '</b/>'"),
        ("a </ b>", "malformed tag at character 3"),
        ('<b translation="x"></b>', "a translation is given for no words, expected at least one"),
        ('<b translation="x||">a</b>', "<b> gives a translation without words; remove a ||"),
        (
            '<b translation="x||y" prob="1">a</b>',
            "<b> gives 2 translations and 1 probabilities, expected the same number",
        ),
        ('<b translation="x" prob="much">a</b>', '<b> has prob="much", expected a number'),
        ('<b translation="x" prob="-1">a</b>', "a translation has probability -1.0, expected"),
        ('<b translation="x" prob="nan">a</b>', "a translation has probability nan, expected"),
        ('<b translation="x" span="one">a</b>', '<b> has span="one", expected the numbers of the first and the last'),
        (
            '<b translation="x" span="0-1">a</b>',
            "a translation is given for words 0 to 1, the sentence has",
        ),
        ('<b translation="x" span="1-0">a b</b>', "a translation is given for no words"),
        ("<zone></zone> a", "a zone holds no words"),
        ('a b c <zone span="0-1"/> <zone span="1-2"/>', "the zones of words 0 to 1 and words 1 to 2 cross"),
        ('a <wall span="1-999999999"/>', "walls are put around words 1 to 999999999, the sentence has"),
        (f'a <wall span="{"9" * 5000}"/>', "<wall> has span="),
        ('a <wall span="4"/>', "walls are put around words 4 to 4, the sentence has words 0 to 0"),
        (
            '<ne translation="@num@" entity="3">@num@</ne>',
            "<ne> has a meaning in Moses that the decoder does not support",
        ),
        (f'<b translation="x">{"a " * 64}</b>', "a translation is given for 64 words, at most 63 can have one"),
    ],
)
def test_what_is_refused(line, complaint):
    for markup in READ:
        with pytest.raises(FormatError) as error:
            list(read_all_markup(["fine", line], markup, "standard input"))
        assert str(error.value).startswith(f"standard input:2: {complaint}")
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("markup", READ)
def test_tags_of_tokens(markup):
    found = read_markup('a|N <b translation="x|y">c|V \\<d|N</b> <wall/> |||X', markup, has_tags=True)
    assert (found.words, found.tags, found.walls) == (["a", "c", "<d", "||"], ("N", "V", "N", "X"), (3,))
    assert [term.target for term in found.terms] == ([] if markup == "ignore" else [("x|y",)])
    for line in ("a|N b", "a|N <b>c</b>"):
        with pytest.raises(FormatError, match=r"^input:7: the token '[bc]', expected word\|TAG, since"):
            read_markup(line, markup, number=7, has_tags=True)


def test_long_lines_are_not_shown_whole():
    with pytest.raises(FormatError) as error:
        read_markup("<b " + "x" * 1000, "exclusive")
    assert str(error.value).startswith("input: malformed tag")
    assert len(str(error.value)) < 200
