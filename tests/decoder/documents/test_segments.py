"""Markup of segments comes back in translations: nothing is lost, doubled or torn."""

import doctest
import time
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lxml import etree
from translate.filters.checks import StandardChecker

from phrasebeam.decoder.documents import protected_segment, segment_markup
from phrasebeam.decoder.documents.protected_segment import DocumentSegment, ProtectedSegment, is_strict, keeps_markup
from phrasebeam.decoder.documents.segment_markup import text_pieces
from phrasebeam.decoder.documents.segment_translation import translate_segments
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.raw_text.preprocessing import RawText
from tests.decoder.documents.given import CHARACTERS, SEGMENTS, as_they_are, backwards, decoders, inner_xml

CHECKS = ("printf", "variables", "newlines", "startwhitespace", "endwhitespace", "escapes", "tabs")


def translated(segment, translate_all=as_they_are, tokenization=None, is_xml=False, terms=None):
    """A segment in another language."""
    (text,) = translate_segments([DocumentSegment(segment, is_xml)], translate_all, tokenization, terms)
    return text


def markup(segment, is_xml=False):
    pieces = DocumentSegment(segment, is_xml).pieces()
    return Counter(one.written for one in pieces if one.kind != "text" and is_strict(one))


def assert_kept(made, segment, is_xml=False):
    assert markup(made, is_xml) == markup(segment, is_xml)
    assert keeps_markup(DocumentSegment(made, is_xml), DocumentSegment(segment, is_xml))


def raw_text():
    raw = RawText(RawTextSettings(source_language="en", target_language="es", casing="lowercase"))
    return Tokenization(raw.before, raw.after, raw.target.line)


@pytest.mark.parametrize("module", [segment_markup, protected_segment])
def test_examples(module):
    assert doctest.testmod(module).failed == 0


@given(segment=SEGMENTS)
def test_pieces_are_the_segment(segment):
    assert "".join(piece.written for piece in text_pieces(segment)) == segment


@given(segment=SEGMENTS, translate_all=decoders())
def test_markup_comes_back(segment, translate_all):
    made = translated(segment, translate_all)
    assert_kept(made, segment)
    check = StandardChecker()
    for name in CHECKS:
        if name != "printf" or "$" not in segment:  # whose numbers it compares with the order of the source
            getattr(check, name)(segment, made)


@given(segment=SEGMENTS, translate_all=decoders(), is_split=st.booleans())
def test_markup_comes_back_through_a_tokenizer(segment, translate_all, is_split):
    made = translated(segment, translate_all, CHARACTERS if is_split else raw_text())
    assert_kept(made, segment)


@given(segment=SEGMENTS)
def test_tags_in_their_order_pass_the_check(segment):
    assume("\\" not in segment)  # an escape stands at the word that it touches, not at a sign before it
    StandardChecker().xmltags(segment, translated(segment))


@given(segment=inner_xml(), translate_all=decoders())
def test_elements_of_xliff_come_back(segment, translate_all):
    made = translated(segment, translate_all, is_xml=True)
    assert_kept(made, segment, True)
    given, found = (etree.fromstring(f"<source>{xml}</source>") for xml in (segment, made))
    assert Counter(one.tag for one in found.iter()) == Counter(one.tag for one in given.iter())


@pytest.mark.parametrize(
    ("segment", "expected"),
    [
        ("Open %s in <b>{app} now</b>", "<b>now {app}</b> in %s Open"),
        ("Save _File or &Quit", "&Quit or _File Save"),
        ("see :ref:`the text <x>`\n``a b``", ":ref:`text the <x>` see\n``a b``"),
        ("a *b c* d", "d *c b* a"),
        (" a b \n c d\t", " b a \n d c\t"),
        ("foo&hellip; &quot;a b&quot; c", "c &quot;b a&quot; foo&hellip;"),
        ("&lt;b&gt;a b&lt;/b&gt; c", "c &lt;b&gt;b a&lt;/b&gt;"),
        ("a&nbsp;%s", "&nbsp;%s a"),
        ("a <filename> b <br>", "b <filename> a <br>"),
        ("%s/%s a %d-%d", "%s/%s a %d-%d"),  # values would change places
        ("%1$s a %2$s", "%2$s a %1$s"),
        ("x%sy don\\'t", "don\\'t x%sy"),
        ("<b>a\nb</b> c", "c<b>\nb a</b>"),
        ("a\\nb c", "a\\nc b"),
        ("<pre>a b</pre> c", "<pre>a b</pre> c"),
        ("<i translate='no'>a b</i> c d", "<i translate='no'>a b</i> d c"),
        ("", ""),
        ("%s", "%s"),
        ("zx0xz %s", "%s zx0xz"),  # as a stand-in would be
        ("<title>a %s</title>", "<title>%s a</title>"),
    ],
)
def test_where_markup_goes(segment, expected):
    assert translated(segment, backwards) == expected
    assert translated(segment) == segment


@pytest.mark.parametrize(
    ("segment", "expected"),
    [
        ('<g id="1">a b</g> c <x id="2"/>', '<x id="2"/> c <g id="1">b a</g>'),
        ('a<x id="2"/> b', 'b a<x id="2"/>'),
        ('<bpt id="1">&lt;</bpt>a b<ept id="1">&gt;</ept> c', 'c <bpt id="1">&lt;</bpt>b a<ept id="1">&gt;</ept>'),
        ('<sc id="1"/>a b<ec startRef="1"/> c', 'c <sc id="1"/>b a<ec startRef="1"/>'),
        (
            '<mrk mtype="seg" mid="1">a b</mrk> <mrk mtype="seg" mid="2">c d</mrk>',
            '<mrk mtype="seg" mid="1">b a</mrk> <mrk mtype="seg" mid="2">d c</mrk>',
        ),
        ('<mrk mtype="protected">a b</mrk> c', 'c <mrk mtype="protected">a b</mrk>'),
        ("&lt;b&gt;a b&lt;/b&gt; &amp; %s", "%s &amp; &lt;b&gt;b a&lt;/b&gt;"),
        ("<!-- x -->a b", "b <!-- x -->a"),
    ],
)
def test_where_elements_of_xliff_go(segment, expected):
    assert translated(segment, backwards, is_xml=True) == expected


def test_markup_that_a_model_makes_up_is_left_out():
    def translate_all(inputs):
        for one in as_they_are(inputs):
            yield type(one)(f"{one.text} %s ``x`` {{0}} <b> \\n $5 * end", 0.0, dict, lambda one=one: one.phrases)

    assert translated("a {0} b", translate_all) == "a {0} b $5 end"
    assert translated("*a* * b", translate_all) == "*a* * b $5 * end"


def test_text_between_braces_stays_a_field_of_a_format():
    for segment in ("a ``{`` b ``}`` c", "a ``{`` b {name} c"):
        assert translated(segment, backwards) == segment
    assert translated("a ``{`` b", backwards) == "b ``{`` a"


def test_decoder_is_told_what_stays():
    protected = ProtectedSegment.of(DocumentSegment("a <b>b %s c</b> d %d"))
    (sentence,) = protected.sentences
    assert protected.walls(sentence) == [sentence.text.index("zx", 10)]
    seen = []
    translated("a <b>b %(x)s c</b> d", lambda inputs: as_they_are(seen.extend(one := list(inputs)) or one))
    assert seen[0].terms[0].target == (seen[0].words[2],)
    assert seen[0].zones == ((1, 4),)
    translated("a %s b %d", lambda inputs: as_they_are(seen.extend(one := list(inputs)) or one))
    assert (seen[1].walls, seen[1].zones) == ((3,), ())


def test_segments_come_in_their_order_as_they_are_ready():
    asked = []

    def segments():
        for text in ("a b", "%s", "c\nd", ""):
            asked.append(text)
            yield DocumentSegment(text)

    found = translate_segments(segments(), backwards)
    assert next(found) == "b a"
    assert asked == ["a b"]
    assert list(found) == ["%s", "c\nd", ""]


def test_raw_text_gets_its_case_and_spaces():
    assert translated("Hello, %s! (See {url}).", tokenization=raw_text()) == "Hello, %s! (See {url})."


@pytest.mark.parametrize(
    "part", ["<", "{", "{a", "`", "``a", "*a ", "**", "&", "&lt;", "%(", "\\", "[", ":a:`", "a_", "/a", "<!--", "\n"]
)
def test_time_is_nearly_linear(part):
    start = time.perf_counter()
    text_pieces(part * (20_000 // len(part)))
    assert time.perf_counter() - start < 20
