"""Tokenizers without rules for a language: what comes back of text is the text, whatever it is."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.input.raw_text_settings import SubwordSettings
from phrasebeam.decoder.tokenizers.escapes import JOIN, SPACE
from phrasebeam.decoder.tokenizers.neutral import NeutralTokenizer
from phrasebeam.decoder.tokenizers.simple_tokenizers import CharacterTokenizer, WhitespaceTokenizer
from phrasebeam.decoder.tokenizers.subwords import SubwordTokenizer

NASTY = st.lists(
    st.sampled_from(
        [*"ab1,.'\"- <>&|[]%{}\\n我ไทa:/@", JOIN, SPACE, "\u0301", "\u200d", "👍🏽", "&amp;", "%s", "<b x='1'>"]
    )
    | st.characters(exclude_categories=["Cs"]),
    max_size=20,
).map("".join)
BRIBRI = ["ye' tso' ù a", "e' dör ye' ù", "ye' kë̀ wa e' wã", "be' kiè ì? ye' dör Juan."]
ENGLISH = [
    "the dogs' house",
    "'the dogs'",
    "dogs and a house",
    "she said 'the house'",
    "the quotes",
    "'quotes' he said",
]
WHOLE = [
    "Ye'", "mba'éichapa", "Yɔ̂", "हिन्दी", "EU:n", "l·lecció", "convencional-pe", "1,000.50", "12:30", "ha'u", "ɗan'uwa",
    "http://a.b/c?d=e", "www.a.org", "ana.maria@correo.py", "%s", "%1$s", "%(name)s", "{0}", "{{name}}", "${x}", "<b>",
    "</b>", "&nbsp;", "\\n", "👨‍👩‍👧",
]  # fmt: skip


def composed(line):
    """A line as it comes back: in NFC, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", line).split())


def check(tokenizer, line):
    tokens = tokenizer.tokens(line)
    assert " ".join(tokens).split() == tokens
    assert not set("|<>[]") & set("".join(tokens))
    assert tokenizer.text(tokens) == composed(line)


@given(st.lists(NASTY, max_size=3), NASTY)
def test_text_comes_back_from_neutral_tokens(text, line):
    check(NeutralTokenizer.learn(text), line)


@pytest.mark.parametrize("tokenizer", [CharacterTokenizer(), WhitespaceTokenizer()], ids=["characters", "whitespace"])
@given(NASTY)
def test_text_comes_back_from_simple_tokens(tokenizer, line):
    check(tokenizer, line)


@pytest.fixture(scope="module")
def subwords():
    return SubwordTokenizer.learn([*BRIBRI, *ENGLISH] * 20, SubwordSettings(pieces=60))


@given(NASTY)
def test_text_comes_back_from_subwords(subwords, line):
    check(subwords, line)


def test_subwords_divide_words(subwords):
    tokens = subwords.tokens("the dogs and a houseboat")
    assert len(tokens) > 5
    assert SubwordTokenizer(subwords.model).tokens("the dogs and a houseboat") == tokens


@pytest.mark.parametrize("text", WHOLE)
def test_what_is_one_token(text):
    tokenizer = NeutralTokenizer.learn(BRIBRI)
    assert len(tokenizer.tokens(text)) == 1
    assert len(tokenizer.tokens(f"a {text} b")) == 3


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        ("«Hola», dijo.", "« Hola » , dijo ."),
        ("(uno, dos)", "( uno , dos )"),
        ("我爱你。", "我 爱 你 。"),
        ("see http://a.b/c.", "see http://a.b/c ."),
        ("50 % of a|b", f"50 {SPACE}% of a {JOIN}&#124;{JOIN} b"),
        ("Yo 'wa", f"Yo '{JOIN} wa"),
        ("a - b", "a - b"),
        ('<a href="x y"> z', '&lt;a&#32;href="x&#32;y"&gt; z'),
    ],
)
def test_marks_stand_only_where_spaces_are_unusual(line, tokens):
    tokenizer = NeutralTokenizer.learn(["a.", "(b)", "a, b", "¿c?"])
    assert " ".join(tokenizer.tokens(line)) == tokens


def test_usual_forms_are_those_of_the_text():
    lines = ["a 50 % b", "50 % c", "a* b* c*"]
    assert NeutralTokenizer.learn(lines).tokens("1 % d*") == ["1", "%", "d", "*"]
    assert NeutralTokenizer.learn(["50% a", "*b *c"]).tokens("1 % d*") == ["1", f"{SPACE}%", "d", f"{JOIN}*"]


def test_quotation_marks_that_open_are_others_than_those_that_close():
    tokenizer = NeutralTokenizer.learn(['"a" b', 'a "b" c', '"a b'])
    assert tokenizer.tokens('c "b" a') == ["c", '"', "b", f'{JOIN}"', "a"]


@pytest.mark.parametrize(("text", "line", "edge"), [(BRIBRI, "ye' ù", "ye'"), (ENGLISH, "dogs' house", "dogs")])
def test_apostrophes_at_edges_of_words_are_letters_where_words_have_them(text, line, edge):
    assert NeutralTokenizer.learn(text).tokens(line)[0] == edge


def test_tokens_of_other_tokenizers_are_read():
    assert NeutralTokenizer.learn([]).text(["a", "&apos;b"]) == "a 'b"
