"""Tokens, texts and punctuation as from Moses' scripts: seen from the scripts, and from a twin that follows them."""

from pathlib import Path

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st
from sacremoses.corpus import NonbreakingPrefixes

from phrasebeam.decoder.input.raw_text_settings import MOSES_LANGUAGES
from phrasebeam.decoder.tokenizers.moses import ADDRESS, MosesTokenizer
from phrasebeam.decoder.tokenizers.moses_normalizer import PunctuationNormalizer
from phrasebeam.decoder.tokenizers.moses_prefixes import NEVER_FOUND, nonbreaking_prefixes
from phrasebeam.decoder.tokenizers.moses_tokenizer import JOINER, MARKS
from tests.naive import moses_tokenizer as naive

# Language, text, tokens, text again, and whether the scripts say the same (HEAD of mosesdecoder, Perl 5.36).
SENTENCES = Path(__file__).with_name("moses_sentences.tsv").read_text("utf-8").splitlines()
# What the scripts do not do: marks of the scripts of India stay in words, no space stands before a danda.
NOT_MOSES = regex.compile(rf"{MARKS}|{JOINER}|[\u200c\u200d\u0964\u0965]", regex.V1)
LANGUAGES = ["en", "de", "fr", "it", "ca", "ga", "cs", "es", "fi", "sv", "tdt", "so", "ko", "pt"]
ODD = "abclsABZ.,;:!?'\"`\u00b4„“”\u2018\u2019\u201a«»()[]{}<>|&#@$€/\\-\u2013—…059"
SPACES_AND_LETTERS = " \t\r\x00\x1f\x7f\x85\xa0\u3000\u200bßäÂ·\u017fİ\u0131ºª½٣中한"
WORDS = [
    *["...", "..", ",,", "''", "'s", "l'", "qu'", "1990's", "5,000", "3.5", "No.", "Art.", "e.g.", "z.B.", "EU:n"],
    *["S:t", "e-mail", "li", "mail", "ssa", "hanko", "Ssä", ":", "ha'u", "col·lecció", "Â·", "&apos;", "&amp;lt;"],
    *["nº\xa05", "5\xa0%", "5\xa0000\xa0000", "\xa0«\xa0ja\xa0»\xa0", '."', '.".".x', ',"', "(a )", ") ."],
    *["a\u2019b\u2019c", "中国", "の", "￥", "¿qué", "@-@", "3 , 5", "je - li a", "x.'", ". '", "Mr.", "čl."],
]


@st.composite
def lines(draw):
    word = (
        st.sampled_from(WORDS)
        | st.text(ODD + SPACES_AND_LETTERS, max_size=4)
        | st.characters(exclude_categories=["Cs"])
    )
    line = draw(st.sampled_from(["", " "])).join(draw(st.lists(word, max_size=12)))
    return NOT_MOSES.sub("", line.replace("\n", ""))


@pytest.mark.parametrize("sentence", SENTENCES)
def test_sentences_of_each_language(sentence):
    language, text, tokens, back, _ = sentence.split("\t")
    assert " ".join(MosesTokenizer(language, normalize=False).tokens(text)) == tokens
    assert MosesTokenizer(language).text(tokens.split()) == back


def test_each_language_has_sentences_and_prefixes():
    assert {sentence.split("\t")[0] for sentence in SENTENCES} == MOSES_LANGUAGES
    assert set(NonbreakingPrefixes().available_langs.values()) - {"yue", "zh"} == MOSES_LANGUAGES
    for language, words in NEVER_FOUND.items():
        assert set(words) <= set(NonbreakingPrefixes().words(language))
    assert len(nonbreaking_prefixes("en")) == 105
    assert nonbreaking_prefixes("tdt")["Nu"]


@given(lines(), st.sampled_from(LANGUAGES))
@example("a,,5 5,,5 ,,5 5,,, x", "de")
@example("he said.'", "en")
def test_tokens_are_those_of_the_script(line, language):
    if "DOTMULTI" not in line and not ADDRESS.search(" ".join(line.split())):
        expected = naive.tokenize(line, language, nonbreaking_prefixes(language))
        assert MosesTokenizer(language, normalize=False).tokens(line) == expected


@given(lines(), st.sampled_from([language for language in LANGUAGES if language not in ("ca", "ga")]))
@example("je - li x - mail . ; 3 , 5 . 5 ; „ a “ “ b", "cs")
@example("( ? : ?", "fr")
def test_texts_are_those_of_the_script(line, language):
    tokens = line.split()
    assert MosesTokenizer(language).text(tokens) == naive.detokenize(" ".join(tokens), language)


@given(lines(), st.sampled_from(LANGUAGES))
def test_punctuation_is_that_of_the_script(line, language):
    assert PunctuationNormalizer(language).normalize(line) == naive.normalize(line, language)


@pytest.mark.parametrize("text", ["র‍্যাব", "ক্‌ষ", "हिन्दी", "दर्‍या", "ಎಕ್ಸ್", "നടന്നു", "ꯅꯨꯡꯁꯤ꯭"])
def test_marks_of_india_stay_in_words(text):
    assert MosesTokenizer("en").tokens(f"{text}!") == [text, "!"]
    assert MosesTokenizer("en").tokens("a\u200db") == ["a", "\u200d", "b"]


def test_long_lines_take_linear_time():
    for text in (".", "x.", ',"', '."', "(", "'", "a'", "&", " )", "中", "\u0301"):
        assert MosesTokenizer("fr").text(MosesTokenizer("fr").tokens(text * 50_000 + "!"))
