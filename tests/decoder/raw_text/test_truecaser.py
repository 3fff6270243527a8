"""Truecasing against sacremoses' own, which takes quadratic time, and files of truecasers, ours and Moses'."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesDetruecaser, MosesTruecaser

from phrasebeam.base.errors import FormatError
from phrasebeam.decoder.raw_text.sentence_case import SentenceCase
from phrasebeam.decoder.raw_text.truecaser import MOSES_ENGLISH, Truecaser, save_truecaser

WORDS = ["the", "The", "THE", "Hund", "hund", "iPhone", ".", ":", "?", "(", "&quot;", "'", ",", "3", "ßa", "Éa", "éa"]
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)


def counted(corpus):
    moses = MosesTruecaser()
    return Counter(word for tokens in corpus for _, word, _ in moses.learn_truecase_weights(tokens))


@given(sentences)
def test_the_same_words_are_counted_as_by_sacremoses(tokens):
    found = MosesTruecaser().learn_truecase_weights(tokens, possibly_use_first_token=True)
    expected = [word for _, word, weight in found if weight == 1]
    assert MOSES_ENGLISH.words_of_own_case(tokens) == expected


@given(sentences)
def test_the_same_words_get_capitals_as_by_sacremoses(tokens):
    tokens = [token for token in tokens if token[0] != "ß"]  # Ss, where sacremoses has SS
    assert MOSES_ENGLISH.capitalized(tokens) == MosesDetruecaser().detruecase(" ".join(tokens))


def test_other_tokenizers_have_other_signs():
    case = SentenceCase("tr", "neutral")
    assert case.capitalized(["«", "iyi", "\uffed.", "'\u0131\u015f\u0131k", "…", "¿", "a"]) == [
        "«",
        "İyi",
        "\uffed.",
        "'I\u015f\u0131k",
        "…",
        "¿",
        "A",
    ]
    assert case.words_of_own_case(["¡", "Iyi", "Ankara", "\uffed!", "Bir", "AB"]) == ["Ankara", "AB"]
    assert case.lower("IŞIK") == "\u0131\u015f\u0131k"


@given(st.lists(sentences, min_size=1, max_size=8), sentences)
def test_agrees_with_sacremoses(tmp_path_factory, corpus, tokens):
    path = tmp_path_factory.getbasetemp() / "truecaser"
    save_truecaser(counted(corpus), path)
    moses = MosesTruecaser(str(path))
    assert Truecaser.load(path).truecase(tokens) == moses.truecase(" ".join(tokens), use_known=True)


def test_only_what_starts_a_sentence_is_changed_and_what_was_never_seen(tmp_path):
    corpus = [
        ["Ja", ",", "der", "Hund", "und", "der", "Mann"],
        ["Nein", ",", "Der", "SPIEGEL", "sagt", ":", "Der", "Hund"],
    ]
    save_truecaser(counted(corpus), tmp_path / "model")
    truecaser = Truecaser.load(tmp_path / "model")
    text = "&quot; Der Hund . Hunde DER Der spiegel : Der Neue"
    assert " ".join(truecaser.truecase(text.split())) == "&quot; der Hund . Hunde der Der SPIEGEL : der Neue"


def test_the_file_is_that_of_moses_and_always_the_same(tmp_path):
    counts = {"b": 1, "B": 1, "a": 2, "A": 3, "C": 1}
    for i, order in enumerate((counts, dict(reversed(counts.items())))):
        save_truecaser(order, tmp_path / str(i))
        assert (tmp_path / str(i)).read_text("utf-8") == "A (3/5) a (2)\nb (1/2) B (1)\nC (1/1)\n"


def test_counts_of_moses_need_not_be_whole(tmp_path):
    (tmp_path / "model").write_text("die (20.1/20.2) Die (0.1)\n\nU\u00a0S (1/1)\n", encoding="utf-8")
    assert Truecaser.load(tmp_path / "model").best == {"die": "die", "u\u00a0s": "U\u00a0S"}


@pytest.mark.parametrize("line", ["die", "die (3", "die (3/4) Die", "die 3", "(3/4) die"])
def test_what_is_no_truecaser(tmp_path, line):
    (tmp_path / "model").write_text(f"das (1/1)\n{line}\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"model:2: expected 'word \(27/30\) Word \(3\)'"):
        Truecaser.load(tmp_path / "model")


@pytest.mark.parametrize("tokens", [["a<b", "Der"], ["x", "<y", "Der>", "Hund"], ["U\u00a0S", "Der"]])
def test_tokens_stay_tokens_which_sacremoses_joins_and_splits(tmp_path, tokens):
    """Why there is a truecaser here: that of sacremoses takes < and > for tags, and white space of Unicode for spaces.

    Word alignments, markup and factors count tokens. When this fails for sacremoses, its truecaser can be used.
    """
    save_truecaser({"x": 1}, tmp_path / "model")
    assert Truecaser.load(tmp_path / "model").truecase(tokens) == tokens
    assert MosesTruecaser(str(tmp_path / "model")).truecase(" ".join(tokens), use_known=True) != tokens
