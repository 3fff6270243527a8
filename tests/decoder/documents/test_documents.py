"""Documents: what is not translated is filled in and marked, all else stays."""

import gzip
from difflib import unified_diff

import pytest
from lxml import etree
from translate.filters.checks import StandardChecker
from translate.storage.pypo import pofile
from translate.storage.xliff import xlifffile
from translate.storage.xliff2 import Xliff2File

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.decoder.documents.open_document import open_document
from phrasebeam.decoder.documents.segment_translation import translate_segments
from tests.decoder.documents.given import PO, TMX, XLIFF_1, XLIFF_2, backwards


def filled(folder, name, content, *sides):
    """A document with its segments backwards, and how many there were, of how many."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = path.read_bytes()
    document = open_document(path, *sides)
    document.fill(translate_segments(document.segments, backwards))
    document.write(folder / f"out-{name}")
    assert path.read_bytes() == before
    return (folder / f"out-{name}").read_bytes().decode(), (len(document.segments), document.n_translated)


def changes(before, after):
    """The lines that are not the same, with - and +."""
    lines = unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in list(lines)[2:] if not line.startswith("@@")]


def test_po(tmp_path):
    made, counts = filled(tmp_path, "x.po", PO)
    assert counts == (5, 3)
    assert changes(PO, made) == [
        *("-#, c-format", "+#, c-format, fuzzy", '-msgstr ""', '+msgstr "%s Hello\\n"'),
        *("+#, fuzzy", '-msgstr[0] ""', '-msgstr[1] ""', '+msgstr[0] "file big %d"', '+msgstr[1] "files big %d"'),
        *("+#, fuzzy", '+"one\\n"', '+" two"'),
        *("+#, fuzzy", '-msgstr ""', '+msgstr "https://a.b"'),
    ]
    store = pofile.parsestring(made.encode())
    units = {unit.source: unit for unit in store.units if not unit.isheader()}
    assert units["one\n two"].target == "one\n two"
    assert [unit.isfuzzy() for unit in store.units] == [False, True, False, True, False, True, True, True, False]
    for unit in store.units:
        for name in ("printf", "variables", "xmltags", "newlines", "startwhitespace", "endwhitespace", "escapes"):
            if not unit.isheader():
                assert getattr(StandardChecker(), name)(str(unit.source), str(unit.target))


@pytest.mark.parametrize(
    ("header", "language", "expected"),
    [
        ("nplurals=3; plural=0;", None, ["file big %d", "files big %d", "files big %d"]),
        ("nplurals=1; plural=0;", None, ["files big %d"]),
        ("nplurals=INTEGER; plural=EXPRESSION;", "ja", ["files big %d"]),
        ("nplurals=INTEGER; plural=EXPRESSION;", "pl", ["file big %d", "files big %d", "files big %d"]),
        ("nplurals=INTEGER; plural=EXPRESSION;", "bzd", ["file big %d", "files big %d"]),
    ],
)
def test_plural_forms(tmp_path, header, language, expected):
    made, _ = filled(tmp_path, "x.pot", PO.replace("nplurals=2; plural=(n != 1);", header), None, language)
    (unit,) = [one for one in pofile.parsestring(made.encode()).units if one.getcontext() == "menu"]
    assert unit.target.strings == expected


def test_xliff_1(tmp_path):
    made, counts = filled(tmp_path, "x.xlf", XLIFF_1, "en", "de")
    assert counts == (4, 2)
    review = '<target state="needs-review-translation"'
    assert changes(XLIFF_1, made) == [
        f'+        {review}>{{name}} &amp; <g id="1">world <x id="2"/> big</g> Hello</target>',
        '-      <trans-unit id="4"><source><![CDATA[<b>Bold</b> text]]></source><target xml:lang="de"/></trans-unit>',
        '+      <trans-unit id="4"><source><![CDATA[<b>Bold</b> text]]></source>'
        '<target xml:lang="de" state="needs-review-translation">text &lt;b&gt;Bold&lt;/b&gt;</target></trans-unit>',
        '-      <trans-unit id="6"><source>Copy</source><target state="new">Copy</target></trans-unit>',
        f'+      <trans-unit id="6"><source>Copy</source>{review}>Copy</target></trans-unit>',
        f'+        {review}><mrk mtype="seg" mid="1">two. One</mrk> '
        '<mrk mtype="seg" mid="2">four. Three</mrk></target>',
    ]
    assert [unit.target for unit in xlifffile.parsestring(made.encode()).units][3] == "text <b>Bold</b>"
    assert filled(tmp_path, "y.xlf", XLIFF_1.replace("\n", "\r\n"))[0] == made.replace("\n", "\r\n")
    wide = XLIFF_1.replace("utf-8", "UTF-16").encode("utf-16")
    (tmp_path / "w.xlf").write_bytes(wide)
    document = open_document(tmp_path / "w.xlf")
    document.write(tmp_path / "w.xlf")
    assert etree.parse(tmp_path / "w.xlf").docinfo.encoding == "UTF-16"


def test_xliff_2(tmp_path):
    made, counts = filled(tmp_path, "x.xlf", XLIFF_2)
    assert counts == (2, 2)
    assert changes(XLIFF_2, made) == [
        '-      <segment id="s1">',
        '+      <segment id="s1" state="translated" subState="phrasebeam:machine">',
        '+        <target>world <ph id="2"/> <pc id="1">big</pc> Hello</target>',
        '-      <segment state="initial"><source>Bye</source><target>Bye</target></segment>',
        '+      <segment state="translated" subState="phrasebeam:machine">'
        "<source>Bye</source><target>Bye</target></segment>",
    ]
    assert Xliff2File.parsestring(made.encode()).units[0].target == "world big Hello"
    assert filled(tmp_path, "y.xlf", made) == (made, (0, 4))


def test_white_space_of_xliff(tmp_path):
    content = XLIFF_1.replace("Copy", "a\n   b")
    assert '<target state="needs-review-translation">b a</target>' in filled(tmp_path, "x.xlf", content)[0]
    content = content.replace('<trans-unit id="6">', '<trans-unit id="6" xml:space="preserve">')
    assert '<target state="needs-review-translation">a\n   b</target>' in filled(tmp_path, "x.xlf", content)[0]


def test_tables(tmp_path):
    assert filled(tmp_path, "x.tsv", "a b\n\nc d\tx\te\nf g\t\tz\n") == ("a b\tb a\n\nc d\tx\te\nf g\tg f\tz\n", (2, 1))
    named = "note\tde\ten\nx\t\ta b\ny\tc\td\n"
    assert filled(tmp_path, "x.tsv", named, "en", "de") == ("note\tde\ten\nx\tb a\ta b\ny\tc\td\n", (1, 1))


def test_text(tmp_path):
    assert filled(tmp_path, "x.txt", " a %s\n\nb c") == (" %s a\n\nc b\n", (2, 0))


def test_compressed(tmp_path):
    path, output = tmp_path / "x.po.gz", tmp_path / "y.po.zst"
    path.write_bytes(gzip.compress(PO.encode()))
    document = open_document(path)
    document.write(output)
    document.write(path)
    assert gzip.decompress(path.read_bytes()).decode() == PO
    assert [one.written for one in open_document(output).segments] == [one.written for one in document.segments]


def test_refusals(tmp_path):
    for name, content, message in (
        ("x.tmx", TMX, "x.tmx: is no document to translate; give a PO, XLIFF, TSV or text file"),
        ("x.xlf", XLIFF_1.replace("<source>Copy</source>", ""), "x.xlf:20: a segment without <source>"),
    ):
        with pytest.raises((ConfigError, FormatError)) as found:
            filled(tmp_path, name, content)
        assert message in str(found.value)
    (tmp_path / "x.po").write_text(PO)
    with pytest.raises(ConfigError, match="2 translations for 5 segments"):
        open_document(tmp_path / "x.po").fill(["a", "b"])
    (tmp_path / "x.xlf").write_text(XLIFF_1)
    with pytest.raises(FormatError, match=r"x.xlf: the translation .* has what XML cannot have"):
        open_document(tmp_path / "x.xlf").fill(["\x00"] * 4)
