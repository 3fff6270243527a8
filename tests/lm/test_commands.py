"""The command build-lm: files written, and one line for each mistake."""

import gzip

import pytest

from phrasebeam.cli import main

pytestmark = pytest.mark.kernels

TEXT = "the cat sat\nthe dog sat down\n\na cat saw the dog\n"


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text"
    path.write_text(TEXT)
    return path


def call(*arguments):
    return main(["build-lm", *map(str, arguments)])


def test_writes_arpa_and_binary(tmp_path, text):
    kenlm = pytest.importorskip("kenlm")
    outputs = [tmp_path / "lm.arpa", tmp_path / "lm.arpa.gz", tmp_path / "deep" / "lm.bin"]
    options = [part for output in outputs for part in ("--output", output)]
    assert call("--text", text, "--order", 3, *options, "--memory", "384M", "--scratch", tmp_path) == 0
    arpa = outputs[0].read_bytes()
    assert arpa.startswith(b"\\data\\\nngram 1=10\n")
    assert gzip.decompress(outputs[1].read_bytes()) == arpa
    from_arpa, from_binary = kenlm.Model(str(outputs[0])), kenlm.Model(str(outputs[2]))
    for sentence in ("the cat sat", "a dog flew", ""):
        assert from_arpa.score(sentence) == pytest.approx(from_binary.score(sentence), abs=1e-6)


def test_same_text_same_bytes(tmp_path, text):
    for name in ("one.arpa.gz", "two.arpa.gz", "one.bin", "two.bin"):
        assert call("--text", text, "--order", 2, "--output", tmp_path / name) == 0
    for suffix in ("arpa.gz", "bin"):
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--text", "absent"), "absent: No such file or directory"),
        (("--text", "text", "--order", "9"), "order"),
        (("--text", "text", "--prune", "0 x"), "--prune: found '0 x', expected counts such as '0 0 1'"),
        (("--text", "text", "--prune", "1"), "prune: found 1, expected at most 4 counts, 0 for words"),
        (
            ("--text", "text", "--memory", "plenty"),
            "options: memory: should be a size such as",
        ),
        (("--text", "empty"), "empty: too little text: order 4 needs a sentence of at least 2 words"),
        (("--text", "text", "--scratch", "nowhere"), "No such file or directory"),
        ((), "--text"),
    ],
)
def test_mistakes(tmp_path, text, capsys, monkeypatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").touch()
    assert call(*arguments, "--output", "lm") == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "lm").exists()


def test_several_texts(tmp_path, text):
    (tmp_path / "empty").touch()
    assert call("--text", text, "--text", tmp_path / "empty", "--order", 6, "--output", tmp_path / "lm") == 0


@pytest.mark.parametrize("size", ["", "G", "-4G", "0", "4X", "1e9", "383M"])
def test_bad_sizes(tmp_path, text, size, capsys):
    assert call("--text", text, "--memory", size, "--output", tmp_path / "lm") == 2
    assert "options: memory: " in capsys.readouterr().err
