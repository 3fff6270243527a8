"""Translation memories of files: exact texts, similar segments, and `translate --tm`."""

import logging

import pytest

from phrasebeam.api.translate import translate
from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.cli import main
from phrasebeam.decoder.documents.protected_segment import DocumentSegment
from phrasebeam.decoder.documents.sentence_pairs import SegmentPair
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.decoder.translate.text_translation import translate_texts
from phrasebeam.decoder.translation_memory.memory_files import MemoryFile, known_translation, read_memory
from tests.decoder.models import random_toy

TMX = """<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4"><header srclang="de" adminlang="en" datatype="plaintext" segtype="sentence" creationtool="x"
 creationtoolversion="1" o-tmf="x"/><body>
<tu><tuv xml:lang="de"><seg>a  b c d</seg></tuv><tuv xml:lang="en"><seg>neu z Z</seg></tuv></tu>
<tu><tuv xml:lang="de"><seg>x y</seg></tuv><tuv xml:lang="en"><seg>alt</seg></tuv></tu>
<tu><tuv xml:lang="de"><seg>x y</seg></tuv><tuv xml:lang="en"><seg>zuletzt</seg></tuv></tu>
<tu><tuv xml:lang="de"><seg>ohne</seg></tuv></tu>
</body></tmx>
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 1).directory


@pytest.fixture
def memory_path(tmp_path):
    path = tmp_path / "team.tmx"
    path.write_text(TMX, encoding="utf-8")
    return path


def test_a_memory_has_texts_and_similar_segments(memory_path):
    memory = read_memory(memory_path, "de", "en")
    assert len(memory) == 2
    assert (memory.exact(" a b  c d "), memory.exact("x y"), memory.exact("a")) == ("neu z Z", "zuletzt", None)
    match = memory.best(["a", "b", "c", "x"], 0.5)
    assert (match.similarity, match.origin, match.segment.translation) == (0.75, "team.tmx", ("neu", "z", "Z"))
    assert memory.best(["a", "b", "c", "x"], 0.8) is None


def test_texts_with_tags_are_left_to_the_decoder():
    memory = MemoryFile([SegmentPair("a <b", "s & t"), SegmentPair("c", "<u>"), SegmentPair("d", "v")], "m")
    assert known_translation(DocumentSegment(" a <b\n"), [memory]) == " s & t\n"
    assert known_translation(DocumentSegment("a <b", is_xml=True), [memory]) is None
    assert known_translation(DocumentSegment("c", is_xml=True), [memory]) is None
    assert known_translation(DocumentSegment("d", is_xml=True), [MemoryFile([], "none"), memory]) == "v"


def test_what_is_confirmed_comes_before_files(model, memory_path):
    memory = read_memory(memory_path, "de", "en")
    decoder = AdaptedDecoder.load(model, files=[memory])
    answer = decoder.answer("a b c d")
    assert (answer.translation.text, answer.match.origin, answer.match.similarity) == ("neu z Z", "team.tmx", 1)
    assert answer.match.segment == decoder.match("a b c d").segment and answer.match.segment.alignment
    decoder.confirm("a b c d", "selbst")
    assert decoder.translate("a b c d").text == "selbst" and decoder.match("a b c d").origin == ""
    assert decoder.match("x y").segment.translation == ("zuletzt",)
    assert list(translate_texts(decoder, ["a b c d", "  x y", "c"]))[1] == "  zuletzt"


def test_translate_keeps_what_memories_have(model, memory_path, tmp_path, capsys, caplog):
    (tmp_path / "source").write_text("a b c d\nx y\na b c x\n", encoding="utf-8")
    languages = {"source_column": "de", "target_column": "en"}
    found = translate(model, input=tmp_path / "source", tm=memory_path, **languages)
    assert found[:2] == ["neu z Z", "zuletzt"]
    plain = translate(model, input=tmp_path / "source")
    strict = translate(model, input=tmp_path / "source", tm=memory_path, similarity=0.9, **languages)
    assert strict == [*found[:2], plain[2]]
    (tmp_path / "text.tsv").write_text("a b c d\t\nc\t\n", encoding="utf-8")
    given = ["--tm", str(memory_path), "--source-column", "1", "--target-column", "2"]
    command = ["translate", "--model", str(model), "--input", str(tmp_path / "text.tsv")]
    assert main([*command, *given]) == 2
    (tmp_path / "memory.tsv").write_text("a b c d\tneu\n", encoding="utf-8")
    capsys.readouterr()
    with caplog.at_level(logging.INFO, "phrasebeam"):
        translate(model, input=tmp_path / "text.tsv", tm=tmp_path / "memory.tsv", output=tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text(encoding="utf-8").startswith("a b c d\tneu\n")
    assert "2 segments; the memories have 1" in caplog.text


@pytest.mark.parametrize(
    ("name", "content", "error", "said"),
    [
        ("m.tmx", TMX.replace('"en"', '"fr"'), ConfigError, "has no segments from de to en; its languages are de"),
        ("m.tmx", TMX[:400], FormatError, "m.tmx"),
        ("m.tsv", "a\t\n", ConfigError, "no segment has a translation"),
        ("m.txt", "a\n", ConfigError, "m.txt"),
    ],
)
def test_a_memory_that_says_nothing_is_refused(tmp_path, name, content, error, said):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(error, match=said):
        read_memory(tmp_path / name, "de", "en")


@pytest.mark.parametrize("more", [["--similarity", "0.5"], ["--tm", "none.tmx", "--engine", "ray"]])
def test_options_that_do_not_go_together(model, tmp_path, capsys, more):
    (tmp_path / "source").write_text("a\n", encoding="utf-8")
    assert main(["translate", "--model", str(model), "--input", str(tmp_path / "source"), *more]) == 2
    assert capsys.readouterr().err.count("\n") == 1
