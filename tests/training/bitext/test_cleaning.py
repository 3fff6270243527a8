"""Cleaning of training text: what is left out, what is mended, and what is said of it."""

import unicodedata
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

import phrasebeam
from phrasebeam.base.errors import FormatError
from phrasebeam.cli import main
from phrasebeam.training.bitext.cleaning import (
    CleaningSettings,
    PairCleaner,
    cleaned_files,
    n_words,
)
from phrasebeam.training.demo.demo_corpus import write_pairs

PAIRS = [
    ("der hund", "the dog"),
    ("", "empty"),
    ("der hund", "the dog"),
    ("Berlin", "Berlin"),
    ("2010", "2010"),
    ("a", "b " * 10),
    ("a " * 101, "b " * 101),
    ("caf&eacute; &amp; Scho\u0308n", "cafe\u0301 &nosuch; &copy"),
    ("a\x07b", "c\u0085d\ufeff"),
]


def cleaner(is_raw=True, is_one_language=False, **settings):
    return PairCleaner(CleaningSettings(**settings), is_raw, is_one_language)


def test_what_is_left_out_and_mended():
    one = cleaner()
    assert [one.cleaned(*pair) for pair in PAIRS] == [
        *[("der hund", "the dog"), None, None, None, ("2010", "2010"), None, None],
        *[("caf\xe9 & Sch\xf6n", "caf\xe9 &nosuch; &copy"), ("a b", "c d")],
    ]
    assert one.n_kept == 4
    assert {reason: (found.times, found.line) for reason, found in one.left_out.items()} == {
        "empty sides": (1, 2),
        "repeated pairs": (1, 3),
        "copies of the source": (1, 4),
        "length ratio above 9": (1, 6),
        "more than 100 words": (1, 7),
    }
    assert "1 of 9 pairs left out: empty sides, such as line 2: '' | 'empty'" in list(one.notes())
    assert "2 mended: not in NFC, such as line 8: 'café & Scho\u0308n'" in list(one.notes())


def test_copies_and_repetitions_of_one_language_stay():
    one = cleaner(is_one_language=True)
    assert [one.cleaned("the", "the"), one.cleaned("the", "the")] == [("the", "the")] * 2
    assert cleaner(is_one_language=True, copies=True).cleaned("the", "the") is None


def test_tokens_keep_their_references():
    assert cleaner(is_raw=False).cleaned("a &apos;s", "b &#124;") == ("a &apos;s", "b &#124;")
    assert cleaner(is_raw=False, normalization="none").cleaned("e\u0301", "b") == ("e\u0301", "b")


def test_words_of_scripts_without_spaces():
    assert [n_words(text) for text in ("", " ", "a b", "彼は家に", "ab彼は c", "สวัสดี")] == [0, 0, 2, 2, 3, 3]


@given(st.text(max_size=40), st.text(max_size=40))
def test_what_is_clean_stays(source, target):
    pair = cleaner(copies=False, entities=False).cleaned(source, target)
    if pair:
        assert cleaner(copies=False, entities=False).cleaned(*pair) == pair
        for text, before in zip(pair, (source, target)):
            assert "\n" not in text
            assert unicodedata.is_normalized("NFC", text)
            assert not [one for one in text if unicodedata.category(one) == "Cc"]
            assert [one for one in unicodedata.normalize("NFD", text) if one.isalnum()] == [
                one for one in unicodedata.normalize("NFD", before) if one.isalnum()
            ]


@given(st.text("&#;xabcdefgl039", max_size=20))
def test_references_are_those_of_html(text):
    pair = cleaner(copies=False).cleaned(f"a {text}", "b")
    assert pair
    if "&" not in text or ";" not in text:
        assert pair[0].split() == ["a", *text.split()]
    elif unescape(text) == text:
        assert pair[0].split() == unicodedata.normalize("NFC", f"a {text}").split()


def write(path, *lines):
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


def test_files_are_there_while_they_are_read(tmp_path, caplog):
    sides = [write(tmp_path / name, *texts) for name, texts in zip(("a.de", "a.en"), zip(*PAIRS))]
    with cleaned_files(sides, tmp_path / "new", cleaner()) as files:
        assert [path.read_text("utf-8").splitlines()[0] for path in files] == ["der hund", "the dog"]
        assert len(files[1].read_text("utf-8").split("\n")) == 5
    assert not (tmp_path / "new").exists()
    assert "a.de, a.en: 1 of 9 pairs left out: repeated pairs, such as line 3: 'der hund' | 'the dog'" in caplog.text
    with (
        pytest.raises(FormatError, match=r"a.de \(cleaned\):7: wrong"),
        cleaned_files(sides, tmp_path / "new", cleaner()) as files,
    ):
        raise FormatError(files[0], "wrong", 7)


@pytest.mark.parametrize(
    ("options", "source", "complaint"),
    [
        (["--clean"], b"a b\n\n", "a.de: no pair is left after cleaning (2 empty sides)"),
        (["--clean"], b"a b\n\xff", "a.de:2: byte 0xff at column 1 is not UTF-8"),
        (["--clean"], b"a\n", "ends after line 1"),
        (["--clean", "--alignment", "points"], b"a b\nc\n", "leave out --clean, or leave out the alignment"),
    ],
)
def test_mistakes_are_one_line(tmp_path, monkeypatch, capsys, options, source, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.de").write_bytes(source)
    (tmp_path / "a.en").write_bytes(b"\na b\n" if source.startswith(b"a b\n\n") else b"x\ny\n")
    (tmp_path / "points").write_text("0-0\n0-0\n")
    assert main(["train-model", "--source", "a.de", "--target", "a.en", "--output", "model", *options]) == 2
    error = capsys.readouterr().err
    assert complaint in error.splitlines()[-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.de", "a.en", "points"]


def test_a_recipe_cleans_training_data_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_pairs(tmp_path / "train", 60, 1, 0.0)
    for side, text in (("de", "hund\n"), ("en", "\n")):
        file = tmp_path / f"train.{side}"
        file.write_text(file.read_text() + text)
    recipe = {"stages": [{"kind": "train-model", "settings": {"alignment": {"aligner": "fast_align"}}}]}
    sides = "train.de", "train.en"
    result = phrasebeam.train(*sides, *sides, "best", recipe=recipe, clean=True)
    assert result.sentences == {"training": 60, "development": 61}
    note = "train.de, train.en: 1 of 61 pairs left out: empty sides, such as line 61: 'hund' | ''"
    assert note in result.cleaning
    assert note in (tmp_path / "best" / "recipe" / "report.md").read_text()
    assert not phrasebeam.train(*sides, *sides, "other", recipe=recipe).cleaning
