"""Casing by the rules of languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.raw_text.casing import begin_with_capitals, capitalized, lower, upper


@pytest.mark.parametrize(
    ("language", "small", "capital"),
    [
        ("tr", "istanbul'da \u0131ş\u0131k iyi", "İSTANBUL'DA IŞIK İYİ"),
        ("az-Latn", "i\u015f\u0131q", "\u0130\u015eIQ"),
        ("tr_TR", "diş", "DİŞ"),
        ("en", "istanbul", "ISTANBUL"),
        ("el", "οδοσ", "ΟΔΟΣ"),
    ],
)
def test_lower_and_upper_case(language, small, capital):
    assert upper(small, language) == capital
    assert lower(capital, language) == small.replace("οδοσ", "οδος")


def test_the_first_letter():
    assert capitalized("iyi günler", "tr") == "İyi günler"
    assert capitalized("\u0131ş\u0131k", "az") == "Iş\u0131k"
    assert capitalized("iyi", "trv") == "Iyi"
    assert capitalized("ǆep", "hr") == "ǅep"
    assert capitalized("გამარჯობა", "ka") == "გამარჯობა"  # whose capitals are for whole texts
    assert capitalized("", "de") == ""
    assert lower("I\u0307zmir I", "tr") == "izmir \u0131"


WITHOUT_CASE = st.characters(categories=["Lo", "Nd", "Po", "So"]).filter(lambda one: one.lower() == one.upper() == one)


@given(st.text(WITHOUT_CASE), st.sampled_from(["tr", "en"]))
def test_what_has_no_case_stays(text, language):
    assert lower(text, language) == capitalized(text, language) == text


@given(st.text(), st.sampled_from(["en", "ka", "el"]))
def test_other_languages_have_the_rules_of_unicode(text, language):
    assert (lower(text, language), upper(text, language)) == (text.lower(), text.upper())


@pytest.mark.parametrize(
    ("lines", "has_capitals"),
    [
        (["Ye' wôqkela", "ì", "¿Ima?"], True),
        (["mexɨka", "'ik+ t+r+", "Tau"], False),
        (["यह है", "…", ""], True),
    ],
)
def test_capitals_at_the_beginning_are_as_in_most_lines(lines, has_capitals):
    assert begin_with_capitals(lines) == has_capitals
