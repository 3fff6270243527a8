"""Term bases, and their terms in sentences and translations; the decoder with all that segments ask of it."""

import doctest
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.decoder.documents import term_base
from phrasebeam.decoder.documents.protected_segment import DocumentSegment
from phrasebeam.decoder.documents.segment_translation import translate_segments
from phrasebeam.decoder.documents.term_base import TermBase, read_terms
from phrasebeam.decoder.output.translation import Phrase
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.documents.given import CHARACTERS, SEGMENTS, as_they_are
from tests.decoder.documents.test_segments import assert_kept, raw_text
from tests.decoder.marked_text.given import translation_of
from tests.decoder.models import random_toy

TBX = """<?xml version="1.0"?>
<martif type="TBX"><text><body>
<termEntry id="1"><langSet xml:lang="en-US"><tig><term>Operating System</term></tig><tig><term>OS</term></tig></langSet>
<langSet xml:lang="de"><tig><term>Betriebssystem</term></tig></langSet>
{}</termEntry>
<termEntry id="2"><langSet xml:lang="en-US"><tig><term>disk</term></tig></langSet></termEntry>
</body></text></martif>
"""
FRENCH = '<langSet xml:lang="fr"><tig><term>système</term></tig></langSet>'


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    directory = tmp_path_factory.mktemp("toy")
    random_toy(directory, 1)
    return Decoder.load(directory, SearchSettings(stack=20))


def read(folder, name, content, *sides):
    (folder / name).write_text(content)
    return read_terms(folder / name, *sides)


def found(terms, text):
    return [(text[one.begin : one.end], *one.targets) for one in terms.found(text)]


def test_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(term_base).failed == 0


def test_longest_terms_at_words():
    terms = TermBase([("a", "1"), ("a b", "2"), ("a b c", "3"), ("a", "4"), ("C++", "5"), ("Straße", "6"), ("Yɔ̂", "7")])
    assert found(terms, "A  b x a B c; Aa C++, c+ STRASSE yɔ̂ Yɔ") == [
        *(("A  b", "2"), ("a B c", "3"), ("C++", "5"), ("STRASSE", "6"), ("yɔ̂", "7"))
    ]
    assert found(TermBase([("操作系统", "OS"), ("系统", "system")]), "新的操作系统和系统") == [
        ("操作系统", "OS"),
        ("系统", "system"),
    ]
    assert found(TermBase([]), "a") == []


@given(
    pairs=st.lists(st.tuples(st.text("aB -'", min_size=1).filter(str.strip), st.just("x")), max_size=5),
    text=st.text("Ab -'", max_size=20),
)
def test_terms_are_those_of_the_base(pairs, text):
    plain = [" ".join(source.lower().split()) for source, _ in pairs]
    for one in TermBase(pairs).found(text):
        assert any(text[one.begin : one.end].lower().replace(" ", "") == source.replace(" ", "") for source in plain)


@pytest.mark.parametrize(
    ("name", "content", "sides"),
    [
        ("x.csv", '"Operating System",Betriebssystem\nOS,Betriebssystem\n"a, b","c ""d"""\n', ()),
        ("x.csv", "de;note,de,en\nx,Betriebssystem,Operating System\n,Betriebssystem,OS\n", ("en", "de")),
        ("x.tsv", 'Operating System\tBetriebssystem\nOS\tBetriebssystem\n\n"\t"\n', ()),
        ("x.tbx", TBX.format(""), ()),
        ("x.tbx", TBX.format(FRENCH), ("en", "de-CH")),
    ],
)
def test_files(tmp_path, name, content, sides):
    terms = read(tmp_path, name, content, *sides)
    assert found(terms, "the os, OPERATING system") == [
        ("os", "Betriebssystem"),
        ("OPERATING system", "Betriebssystem"),
    ]


@pytest.mark.parametrize(
    ("name", "content", "sides", "message"),
    [
        ("x.txt", "", (), "x.txt: its name has no known extension; expected one such as .csv, .tsv"),
        ("x.csv", "a,b\nc,\n", (), "x.csv:2: no translation beside 'c', expected both; add it or remove both"),
        ("x.csv", "a,b\n,c\n", (), "x.csv:2: no term beside 'c'"),
        ("x.csv", 'a,"b\n', (), "x.csv:1: unexpected end of data"),
        ("x.tsv", "a\n", (), "x.tsv:1: 1 column, expected at least 2"),
        (
            "x.tbx",
            TBX.format(FRENCH),
            (),
            "x.tbx: has the languages en-US, de, fr; give the languages of source and target",
        ),
        ("x.tbx", TBX.format(""), ("en", "es"), "x.tbx: no terms from en to es; its languages are de, en-US"),
        ("x.tbx", "<martif>", (), "x.tbx:1: "),
    ],
)
def test_refusals_are_one_line(tmp_path, name, content, sides, message):
    with pytest.raises((FormatError, ConfigError)) as raised:
        read(tmp_path, name, content, *sides)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_terms_are_written_as_they_are_given():
    terms = TermBase([("system", "das System"), ("os", "iOS")])

    def translate_all(inputs):
        for one in inputs:
            phrases, place = [], 0
            for term in sorted(one.terms, key=lambda term: term.begin):
                span = place, place + len(term.target)
                source = " ".join(one.words[term.begin : term.end])
                phrases.append(Phrase(source, " ".join(term.target), (term.begin, term.end), span, (), False))
                place = span[1]
            yield translation_of(phrases)

    (made,) = translate_segments([DocumentSegment("SYSTEM %s os")], translate_all, raw_text(), terms)
    assert made == "das System %s iOS"
    (made,) = translate_segments([DocumentSegment("os")], translate_all, raw_text(), terms)
    assert made == "iOS"
    seen, segments = [], [DocumentSegment("system%s osx")]
    list(translate_segments(segments, lambda given: as_they_are(seen.extend(given) or seen), terms=terms))
    assert [term.target for term in seen[0].terms] == [(seen[0].words[0],)]  # no part of a token is a term


PARTS = ["a ", "b ", "c ", "d", "%s ", "{x} ", "<b>", "</b>", "\n"]


@settings(max_examples=40, deadline=None)
@given(segment=SEGMENTS | st.lists(st.sampled_from(PARTS), max_size=14).map("".join))
def test_decoder_keeps_markup(decoder, segment):
    terms = TermBase([("a b", "Q r"), ("c", "Z")])
    for tokenization in (None, CHARACTERS):
        (made,) = translate_segments([DocumentSegment(segment)], decoder.translate_all, tokenization, terms)
        assert_kept(made, segment)


def test_decoder_translates_around_markup(decoder):
    text, terms = "a b <b>%s c</b> d {x}\nc %d/%d c a", TermBase([("c", "Zed")])
    translate_all = partial(decoder.translate_all, threads=2)
    found = list(translate_segments([DocumentSegment(text)] * 3, translate_all, terms=terms))
    assert len(set(found)) == 1
    assert_kept(found[0], text)
    assert found[0].count("Zed") == 3
    assert not {"a", "b", "c"} & set(found[0].replace("<b>", " ").replace("</b>", " ").split())
