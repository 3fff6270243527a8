"""`translate` of documents, of raw text with placeholders, and with term bases, as people run it."""

import gzip
import signal
import subprocess
import sys
import time

import pytest
import yaml
from translate.filters.checks import StandardChecker
from translate.storage.pypo import pofile
from translate.storage.xliff import xlifffile

from phrasebeam import Decoder, translate
from phrasebeam.cli import main
from tests import ROOT
from tests.decoder.documents.given import PO, XLIFF_1
from tests.decoder.models import random_toy
from tests.decoder.translate_here import translate_here

RAW = {"source_language": "en", "target_language": "de", "casing": "keep", "source_tokenizer": "neutral"}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory


@pytest.fixture(scope="module")
def raw_model(tmp_path_factory):
    directory = random_toy(tmp_path_factory.mktemp("raw"), 7, most=3).directory
    description = yaml.safe_load((directory / "model.yaml").read_text())
    (directory / "model.yaml").write_text(yaml.safe_dump(description | {"preprocessing": RAW}))
    for side in ("source", "target"):
        (directory / f"tokenizer.{side}").write_text("{}\n")
    return directory


def run(model, source, output, *options):
    return main(["translate", "--model", str(model), "--input", str(source), "--output", str(output), *options])


@pytest.mark.parametrize("threads", ["1", "2"])
def test_po(model, raw_model, tmp_path, threads):
    (tmp_path / "x.po").write_text(PO)
    for one in (model, raw_model):
        assert run(one, tmp_path / "x.po", tmp_path / "y.po", "--threads", threads) == 0
        store = pofile.parsefile(str(tmp_path / "y.po"))
        units = [unit for unit in store.unit_iter() if not unit.isheader()]
        assert all(unit.target for unit in units)
        assert [unit.isfuzzy() for unit in units] == [True, False, True, False, True, True, True]
        for unit in units:
            StandardChecker().printf(str(unit.source), str(unit.target))
            StandardChecker().newlines(str(unit.source), str(unit.target))


def test_xliff_and_tables(model, tmp_path):
    (tmp_path / "x.xlf").write_text(XLIFF_1)
    assert run(model, tmp_path / "x.xlf", tmp_path / "y.xlf.gz") == 0
    store = xlifffile.parsestring(gzip.decompress((tmp_path / "y.xlf.gz").read_bytes()))
    assert all(unit.target for unit in store.units[:2])
    (tmp_path / "x.tsv").write_text("note\ten\tde\nn\ta b {x}\t\nm\tc\tdone\n")
    sides = "--source-column", "en", "--target-column", "de"
    assert run(model, tmp_path / "x.tsv", tmp_path / "y.tsv", *sides) == 0
    expected = translate(model, input=tmp_path / "x.tsv", source_column="en", target_column="de")
    assert (tmp_path / "y.tsv").read_text() == f"note\ten\tde\nn\ta b {{x}}\t{expected[0]}\nm\tc\tdone\n"
    assert "{x}" in expected[0]


def test_a_document_goes_to_standard_output(model, tmp_path, capfdbinary):
    (tmp_path / "x.tsv").write_text("a\t\n")
    assert run(model, tmp_path / "x.tsv", "-") == 0
    text = Decoder.load(model).translate("a").text
    assert capfdbinary.readouterr().out == f"a\t{text}\n".encode()


@pytest.mark.parametrize(
    ("name", "content", "options", "complaint"),
    [
        ("x.po", "msgid", (), "x.po:1: Syntax error"),
        ("x.po", PO, ("--nbest", "2", "--nbest-output", "n"), "--nbest works only for lines"),
        ("x.po", PO, ("--alignment",), "--alignment works only for lines"),
        ("x.po", PO, ("--confidence",), "--confidence works only for lines"),
        ("x.po", PO, ("--markup", "exclusive"), "--markup works only for lines"),
        ("x.tmx", "<tmx/>", (), "x.tmx: is no document to translate; give a PO, XLIFF, TSV or text file"),
        ("x.tsv", "a\tb\n", ("--source-column", "en", "--target-column", "de"), "no column 'en' in its first line"),
        ("x.tsv", "a\n\xff\n", (), "x.tsv:2: byte 0xff at column 1 is not UTF-8"),
        ("x.txt", "a\n", ("--terms", "none.csv"), "none.csv: No such file"),
        ("x.txt", "a\n", ("--terms", "x.po"), "x.po: its name has no known extension"),
    ],
)
def test_mistakes_are_one_line(model, tmp_path, monkeypatch, capsys, name, content, options, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    assert run(model, name, "out", *options) == 2
    assert complaint in capsys.readouterr().err.splitlines()[-1]
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_document_is_not_replaced_by_itself(model, tmp_path, capsys):
    (tmp_path / "x.tsv").write_text("a\t\n")
    assert run(model, tmp_path / "x.tsv", tmp_path / "x.tsv") == 2
    assert "is an input and would be replaced" in capsys.readouterr().err


def test_nothing_is_half_written(model, tmp_path):
    (tmp_path / "x.tsv").write_text("a b c d\t\n" * 20_000)
    command = [sys.executable, "-m", "phrasebeam", "translate", "--model", str(model), "--output", tmp_path / "y.tsv"]
    process = subprocess.Popen([*command, "--input", tmp_path / "x.tsv"], cwd=ROOT, stderr=subprocess.PIPE)
    while process.poll() is None and len(list(tmp_path.iterdir())) < 2:  # the unfinished file is there
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode != 0
    assert [path.name for path in tmp_path.iterdir()] == ["x.tsv"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.tsv", "b c\tNeues  Wort\n"),
        ("t.csv", 'B C,"Neues Wort"\n'),
        (
            "t.tbx",
            '<martif type="TBX"><text><body><termEntry id="1">'
            '<langSet xml:lang="en"><tig><term>b c</term></tig></langSet>'
            '<langSet xml:lang="de"><tig><term>Neues Wort</term></tig></langSet>'
            "</termEntry></body></text></martif>",
        ),
    ],
)
def test_terms(model, raw_model, tmp_path, name, content):
    (tmp_path / name).write_text(content)
    (tmp_path / "x.tsv").write_text("a b c d\t\n")
    terms = "--terms", tmp_path / name
    for one, more in ((model, ()), (raw_model, ("--raw",))):
        status, lines, errors = translate_here(one, b"a b c d\nd b\n", *terms, *more)
        assert (status, "Neues Wort" in lines[0], "Neues" in lines[1], errors) == (0, True, False, "")
        assert "Neues Wort" in translate(one, input=tmp_path / "x.tsv", terms=tmp_path / name)[0]
    status, lines, errors = translate_here(model, b"a b c d\n", *terms, "--alignment")
    assert lines[0].count("|||") == 1


def test_raw_text_keeps_its_placeholders(raw_model):
    text = "a <b>b</b> %s {0}\n\nc &amp; d, a\n"
    status, lines, errors = translate_here(raw_model, text.encode(), "--raw")
    assert (status, errors, lines[1]) == (0, "", "")
    assert all(one in lines[0] for one in ("<b>", "</b>", "%s", "{0}"))
    assert "&amp;" in lines[2]
