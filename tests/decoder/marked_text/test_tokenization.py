"""Sentences of raw text with markup, and terms as they are written in translations."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from phrasebeam.base.errors import FormatError
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings
from phrasebeam.decoder.input.sentence_input import Input, Term
from phrasebeam.decoder.marked_text.tokenization import TOKENIZED, Tokenization
from phrasebeam.decoder.output.translation import Phrase, found_translation
from phrasebeam.decoder.raw_text.preprocessing import RawText

RAW = RawText(RawTextSettings(source_language="en", target_language="de", casing="lowercase"))
TEXT = Tokenization.of(RAW)
PIECES = ["The", "dog's", "3.5", "“ja”", "don't", ".", ",", "a-b", "www.a.de", "…", "&", "[x]", "ẃ"]
words = st.lists(st.sampled_from(PIECES), max_size=8)


@given(some=words, data=st.data())
def test_tags_around_whole_words_change_no_tokens(some, data):
    """The words are those of the text without tags, and an element has those that stand in it."""
    line = " ".join(some)
    plain = TEXT.sentence(line)
    assert list(plain.words) == RAW.before(line).split()
    begin = data.draw(st.integers(0, len(some)))
    end = data.draw(st.integers(begin, len(some)))
    marked = " ".join([*some[:begin], "<zone>", *some[begin:end], "</zone>", *some[end:]])
    given = TEXT.sentence(marked, "ignore") if end > begin else plain
    assert given.words == plain.words
    if given.zones:
        parts = some[:begin], some[begin:end], some[end:]
        before, inside, after = (RAW.before(" ".join(part)).split() for part in parts)
        # Else, as of "… …", tokens depend on what stands beside them
        assume([*before, *inside, *after] == list(plain.words))
        first, behind = given.zones[0]
        assert (first, behind - first) == (len(before), len(inside))


@given(line=st.text(st.characters(exclude_categories=["Cs"]), max_size=30).map(lambda line: line.replace("\n", " ")))
def test_any_text_can_be_marked(line):
    line = line.replace("<", "").replace("\\", "")
    marked = f'{line}<x translation="Ja">dog</x> {line}'
    given = TEXT.sentence(marked, "exclusive")
    (term,) = given.terms
    assert (term.target, term.written) == (("ja",), "Ja")
    assert "".join(given.words[term.begin : term.end]) == "dog"


def test_a_word_that_a_tag_divides_is_two():
    given = TEXT.sentence('Two <x translation="Hund">dog</x>s, <wall/>it.', "inclusive")
    assert list(given.words) == ["two", "dog", "s", ",", "it", "."]
    assert given.terms == (Term(1, 2, ("hund",), written="Hund"),)
    assert (given.walls, given.policy) == ((4,), "inclusive")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('a <x translation="b" span="0">c</x>', "<x> has span=, which counts tokens, and the text is raw"),
        ("a <x>b", "<x> is not closed"),
        ('<x translation="b"> </x>', "a translation is given for no words"),
        ('<x translation=" ">b</x>', "gives a translation without words"),
    ],
)
def test_markup_that_cannot_be_obeyed(line, message):
    with pytest.raises(FormatError, match=f"^file:3: .*{message}"):
        TEXT.sentence(line, "exclusive", "file", 3)
    with pytest.raises(FormatError, match="features of tags; give tokens"):
        TEXT.sentence("a", has_tags=True)


def translation(*phrases):
    """A translation of phrases (source span, target)."""
    found, n = [], 0
    for span, target in phrases:
        size = len(target.split())
        found.append(Phrase("", target, span, (n, n + size), (), False))
        n += size
    return found_translation(" ".join(target for _, target in phrases), 0.0, {}, tuple(found), {}, {})


def test_terms_are_written_as_they_are_given():
    terms = (
        Term(1, 2, ("l&apos;orange-o", "&amp;", "x"), written="l\u2019Orange-O & X"),
        Term(2, 3, ("hund",), written="HUND"),
    )
    given = Input(["a", "b", "c", "d"], terms)
    assert TEXT.text_of(
        translation(((0, 1), "der"), ((1, 2), "l&apos;orange-o &amp; x"), ((2, 3), "hund"), ((3, 4), ".")), given
    ) == ("Der l\u2019Orange-O & X HUND.")
    within = translation(((0, 1), "ja"), ((1, 4), "der große hund ,"))
    assert TEXT.text_of(within, given) == "Ja der große HUND,"
    assert TEXT.text_of(translation(((0, 4), "ja")), given) == "Ja"
    alternatives = Term(0, 1, ("haus",), written="Haus"), Term(0, 1, ("heim",), written="HEIM")
    assert TEXT.text_of(translation(((0, 1), "heim"), ((1, 2), "haus")), Input(["a", "b"], alternatives)) == "HEIM haus"


def test_prefixes_and_tokenized_text():
    assert TEXT.prefix("Der Hu", True).words == ("der", "hu")
    assert TEXT.prefix("Der Hu", True).is_partial
    assert not TEXT.prefix("Der Hund ", True).is_partial
    assert list(TOKENIZED.sentence("a <x translation='b'>").words) == ["a", "<x", "translation='b'>"]
    assert TOKENIZED.prefix("Der Hu ", True).words == ("Der", "Hu")
    assert TOKENIZED.text_of(translation(((0, 1), "a .")), Input(["a"], (Term(0, 1, ("a",), written="B"),))) == "B ."
