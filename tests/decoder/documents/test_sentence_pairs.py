"""Sentence pairs of tables, translation memories, XLIFF and PO."""

import doctest
import gzip
import itertools

import pytest
from backports import zstd
from translate.storage.pypo import pofile
from translate.storage.tmx import tmxfile

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.decoder.documents import language_codes, open_document, sentence_pairs
from phrasebeam.decoder.documents.sentence_pairs import read_pairs
from tests import ROOT
from tests.decoder.documents.given import PO, TMX, XLIFF_1, XLIFF_2
from tests.documents import environment, run_python  # noqa: F401


def pairs_in(folder, name, content, *sides):
    """The pairs of a file of this name, and what was left out."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    pairs = read_pairs(path, *sides)
    return [tuple(one) for one in pairs], dict(pairs.left_out)


@pytest.mark.parametrize("module", [language_codes, open_document, sentence_pairs])
def test_examples(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(module).failed == 0


def test_page(environment, tmp_path):  # noqa: F811
    run_python(ROOT / "docs/files.md", environment, tmp_path)


@pytest.mark.parametrize(
    ("content", "sides"),
    [
        ("a\tb\nc d\t e \n", ()),
        ("a\tx\tb\nc d\tx\te\n", (1, 3)),
        ("b\tx\ta\ne\tx\tc d\n", ("3", "1")),
        ("en\tnote\tes\na\tx\tb\nc d\tx\te\n", ("en", "es")),
        ("\ufeffes\ten\r\nb\ta\r\n\r\ne\tc  d\r\n", ("en", "es")),
    ],
)
def test_columns(tmp_path, content, sides):
    assert pairs_in(tmp_path, "x.tsv", content, *sides) == ([("a", "b"), ("c d", "e")], {})


def test_tables_are_read_as_they_are_asked_for(tmp_path):
    path = tmp_path / "x.tsv.gz"
    path.write_bytes(gzip.compress(b"a\tb\n\tb\n" * 200_000 + b"a\n"))
    pairs = read_pairs(path)
    assert len(list(itertools.islice(pairs, 1000))) == 1000
    assert pairs.left_out == {"untranslated": 999}
    with pytest.raises(FormatError, match=r"x.tsv.gz:400001: 1 column, expected at least 2"):
        list(pairs)


def test_translation_memories(tmp_path):
    expected = [("Hello you and you", "Hallo du und du"), ("Bye", "Tschüs")]
    left_out = {"other languages": 1, "untranslated": 1}
    for sides in (("en", "de"), ("en-US", "de-CH"), ("EN_us", "DE-de")):
        assert pairs_in(tmp_path, "x.tmx", TMX, *sides) == (expected, left_out)
    assert pairs_in(tmp_path, "x.tmx.zst", zstd.compress(TMX.encode()), "de", "en")[0] == [
        pair[::-1] for pair in expected
    ]
    assert pairs_in(tmp_path, "y.tmx", TMX.replace("xml:lang", "lang"), "en", "de")[0] == expected  # TMX 1.1


def test_memories_of_the_toolkit(tmp_path):
    store = tmxfile(sourcelanguage="en", targetlanguage="gn")
    for i in range(50):
        store.addtranslation(f"text {i} & <b>", "en", f"moñe'ẽrã {i}", "gn")
    expected = [(f"text {i} & <b>", f"moñe'ẽrã {i}") for i in range(50)]
    assert pairs_in(tmp_path, "x.tmx", bytes(store), "en", "gn") == (expected, {})


def test_xliff(tmp_path):
    assert pairs_in(tmp_path, "x.xlf", XLIFF_1, "en", "de") == (
        [("Done it", "Fertig damit")],
        {"untranslated": 4, "fuzzy": 1, "locked": 1},
    )
    assert pairs_in(tmp_path, "x.xliff", XLIFF_2) == ([("Yes sir", "Ja Herr")], {"untranslated": 2, "fuzzy": 1})


def test_po(tmp_path):
    expected = [("Done", "Fertig"), ("%d dog", "%d Hund"), ("%d dogs", "%d Hunde")]
    assert pairs_in(tmp_path, "x.po", PO) == (expected, {"untranslated": 4, "fuzzy": 1})
    store = pofile()
    store.addsourceunit("a\nb").target = "c\nd"
    assert pairs_in(tmp_path, "x.po.gz", gzip.compress(bytes(store)))[0] == [("a b", "c d")]


@pytest.mark.parametrize(
    ("name", "content", "sides", "message"),
    [
        ("x.doc", "", (), "x.doc: its name has no known extension; expected one such as .tsv, .tab"),
        ("x.tsv", "a\tb\nc\n", (), "x.tsv:2: 1 column, expected at least 2; add the missing columns"),
        ("x.tsv", b"a\t\xff\n", (), "x.tsv:1: byte 0xff at column 3 is not UTF-8"),
        ("x.tsv", "en\tes\n", ("en", "gn"), "x.tsv: no column 'gn' in its first line, expected one of 'en', 'es'"),
        ("x.tsv", "", ("en", 2), "x.tsv: columns en and 2; give names for both, or numbers for both"),
        ("x.tsv", "", (0, 1), "x.tsv: column 0, expected 1 or more"),
        ("x.tmx", TMX, (), "x.tmx: a memory has several languages; give both"),
        (
            "x.tmx",
            TMX,
            ("en", "es"),
            "x.tmx: has no segments from en to es; its languages are en-US (4), de (3), fr (1)",
        ),
        ("x.tmx", TMX[:300], ("en", "de"), "x.tmx:5: "),
        ("x.tmx", "<html><tu/></html>", ("en", "de"), "x.tmx: no element <tmx>, expected a translation memory (TMX)"),
        ("x.tmx", "", ("en", "de"), "x.tmx: "),
        ("x.tmx.gz", gzip.compress(TMX.encode(), mtime=0)[:200], ("en", "de"), "x.tmx.gz: damaged compressed data"),
        ("x.xlf", XLIFF_1[:700], (), "x.xlf:16: "),
        ("x.xlf", "<html/>", (), "x.xlf: not a supported XLIFF file, expected XLIFF 1.2 or 2"),
        (
            "x.xlf",
            XLIFF_1,
            ("en", "fr"),
            "x.xlf: is from en-US to de, not from en to fr; give the languages of the file",
        ),
        ("x.po.gz", gzip.compress(PO.encode(), mtime=0)[:90], (), "x.po.gz: damaged compressed data"),
        ("x.po", PO.encode("utf-16"), (), "x.po: byte 0xff is not UTF-8; convert it (msgconv --to-code=UTF-8)"),
        ("x.po", PO.replace("Fertig", "Schluß").encode("latin-1"), (), "x.po: byte 0xdf is not UTF-8; convert it"),
        ("x.po", "Hello!\n", (), "x.po:1: Syntax error, expected a PO file of gettext; mend it"),
        ("x.po", PO + 'msgid "x\n', (), "x.po:41: end-of-line within string, expected a PO file of gettext"),
    ],
)
def test_refusals_are_one_line(tmp_path, name, content, sides, message):
    with pytest.raises((FormatError, ConfigError)) as found:
        pairs_in(tmp_path, name, content, *sides)
    assert message in str(found.value)
    assert "\n" not in str(found.value)


def test_without_the_toolkit(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "translate.storage.pypo", None)
    with pytest.raises(ConfigError, match=r"pip install 'phrasebeam\[files\]'"):
        pairs_in(tmp_path, "x.po", PO)
    assert pairs_in(tmp_path, "x.tsv", "a\tb\n")[0] == [("a", "b")]
