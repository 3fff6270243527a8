"""Sentences of HTML, and the way of their tags into translations: nothing is lost, doubled or torn apart."""

import time
from collections import Counter
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.marked_text.html_document import DEEPEST, EMPTY, html_document
from phrasebeam.decoder.marked_text.html_tokens import html_tokens
from phrasebeam.decoder.marked_text.marked_text import plain_document
from phrasebeam.decoder.marked_text.translated import translated
from tests.decoder.marked_text.given import DOCUMENTS, SENTENCES, translations, word_by_word


def render(html, order=None, data=None):
    """A document whose sentences are translated word by word, in an order, or at random."""
    document = html_document(html)
    texts = []
    for sentence in document.sentences:
        words = sentence.text.split()
        one = data.draw(translations(words)) if data else word_by_word(words, order)
        texts.append(translated(sentence, words, one, one.text, escape=document.escape))
    return document.filled(texts)


def tags(html):
    return [token.written for token in html_tokens(html) if token.kind in ("start", "end", "other")]


def words(html):
    """Text as it is seen, without tags and white space."""
    return "".join("".join(unescape(one.written) for one in html_tokens(html) if one.kind == "text").split())


@given(html=DOCUMENTS)
def test_tokens_are_the_document(html):
    assert "".join(token.written for token in html_tokens(html)) == html


@given(html=DOCUMENTS)
def test_what_is_translated_by_itself_stays(html):
    made = render(html)
    assert words(made) == words(html)
    if "<a" not in html.lower() and "<!-" not in html:  # of which nobody knows where they end
        assert tags(made) == tags(html)


@given(html=SENTENCES, data=st.data())
def test_each_tag_is_there_once_and_tags_stay_nested(html, data):
    made = render(html, data=data)
    assert Counter(tags(made)) == Counter(tags(html))
    n_tags = sum(token.kind in ("start", "end") and token.name not in EMPTY for token in html_tokens(html))
    if 2 * pairs(html).total() == n_tags:  # none is without its other tag
        assert pairs(made) == pairs(html)


def pairs(html):
    """How many elements have both tags, as a browser would close them."""
    open_names, n_pairs = [], Counter()
    for token in html_tokens(html):
        if token.kind == "start" and token.name not in EMPTY:
            open_names.append(token.name)
        elif token.kind == "end" and token.name in open_names:
            while open_names.pop() != token.name:
                pass
            n_pairs[token.name] += 1
    return n_pairs


@given(
    html=st.lists(st.sampled_from(["<b>", "</b>", "<i>", "</i>", " der ", " hund", "."]), max_size=15).map("".join),
    data=st.data(),
)
def test_the_text_is_that_of_the_translation(html, data):
    document = html_document(html)
    for sentence in document.sentences:
        source = sentence.text.split()
        one = data.draw(translations(source))
        made = translated(sentence, source, one, one.text)
        assert "".join(token.written for token in html_tokens(made) if token.kind == "text") == one.text


@pytest.mark.parametrize(
    ("html", "order", "expected"),
    [
        ("<p>der <b>hund</b> schläft .</p>", [0, 1, 2, 3], "<p>der <b>hund</b> schläft .</p>"),
        ("<p>der <b>hund schläft</b> .</p>", [0, 2, 1, 3], "<p>der <b>schläft hund</b> .</p>"),
        (
            "er <b>hat</b> das <i>haus</i> <b>gesehen</b>",
            [0, 1, 4, 2, 3],
            "er <b>hat</b> <b>gesehen</b> das <i>haus</i>",
        ),
        ("<b>a b</b> c", [0, 2, 1], "<b>a c b</b>"),  # all between them, where nobody else has it
        ("<b>a b c</b> <i>d</i>", [0, 1, 3, 2], "<b>a b</b> <i>d</i> c"),  # else the most that stand together
        ("a <b>b <i>c</i></b>", [2, 0, 1], "<b><i>c</i> a b</b>"),
        ("<b> a </b>", [0], "<b> a </b>"),
        ("a<br>b", [0, 1], "a<br>b"),
        ("a <br> b", [1, 0], " <br> b a"),
        ("<img> a <img><br> b <br>\n", [0, 1], "<img> a <img><br> b <br>\n"),
        ("a <!-- b --> c</i> d", [0, 1, 2], "a <!-- b -->c</i> d"),
        ("a <b></b> c", [0, 1], "a <b></b>c"),
        ("a &lt;&#98; &amp;&nbsp;c", [0, 1, 2, 3], "a &lt;b &amp; c"),
        ("x <a", [0, 1], "x &lt;a"),
    ],
)
def test_where_tags_go(html, order, expected):
    assert render(html, order) == expected


@pytest.mark.parametrize(
    "kept",
    [
        "<script>var a = '<b>c</b>';</script>",
        "<STYLE>a < b</style >",
        "<!-- a <b>c</b> -->",
        "<!DOCTYPE html>",
        "<pre>a\n  b</pre>",
        "<textarea> a </textarea>",
        '<div translate="no">a <div>b</div> c</div>',
        "<svg><text>a</text></svg>",
        "<p></p>",
        " \n ",
        "&nbsp;",
        "<svg/>",
        "<pre>a",
    ],
)
def test_what_is_not_translated(kept):
    document = html_document(f"<p>x</p>{kept}")
    assert [sentence.text for sentence in document.sentences] == ["x"]
    assert document.filled(["y"]) == f"<p>y</p>{kept}"


def test_sentences_end_at_blocks_alone():
    html = "<title>a &amp; b</title><ul><li>c<li>d <em>e</em></ul><table><td>f<td><x-y>g</x-y></table>h<hr>i"
    assert [one.text for one in html_document(html).sentences] == ["a & b", "c", "d e", "f", "g", "h", "i"]


@pytest.mark.parametrize(
    "part", ["<", "<a ", "<!--", "<a b='", '<a b="x', "</a ", "<script>", "<b>a", "<p>a ", "<!", "&", "a b "]
)
def test_time_is_linear(part):
    start = time.perf_counter()
    html_document(part * (100_000 // len(part)))
    assert time.perf_counter() - start < 20


def test_elements_within_each_other_without_end():
    html = "<b>" * 3 * DEEPEST + "a" + "</b>" * 3 * DEEPEST
    assert render(html) == html


@given(text=st.text("ab \t\n\r\u2028", max_size=20))
def test_lines_keep_their_white_space(text):
    document = plain_document(text)
    assert document.filled([one.text for one in document.sentences]) == text
    assert all(one.text == one.text.strip() != "" for one in document.sentences)
