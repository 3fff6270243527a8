"""The command align without a translation model: trained, saved, scored, judged, and what is refused."""

import shutil
from typing import get_args

import numpy as np
import pytest

import phrasebeam
from phrasebeam.cli import main
from phrasebeam.training.bitext.parallel_text import read_bitext
from phrasebeam.training.demo.demo_corpus import write_pairs
from phrasebeam.training.word_alignment.alignment import align
from phrasebeam.training.word_alignment.alignment_points import write_pharaoh
from phrasebeam.training.word_alignment.alignment_settings import Aligner, AlignmentConfig

pytestmark = pytest.mark.needs_jit
TEXT = "--source", "text.de", "--target", "text.en"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A bitext of 150 sentence pairs, with an empty line on one side, and 20 others."""
    directory = tmp_path_factory.mktemp("align")
    write_pairs(directory / "text", 150, 1, 0.1)
    write_pairs(directory / "more", 20, 2, 0.1)
    lines = (directory / "text.de").read_text().splitlines()
    (directory / "text.de").write_text("".join(f"{line}\n" for line in [*lines[:5], "", *lines[6:]]))
    return directory


@pytest.fixture
def here(corpus, tmp_path, monkeypatch):
    """A directory with the bitext, which is the current one."""
    for path in corpus.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return main(["align", *map(str, arguments)])


def lines_of(path):
    return path.read_text().splitlines()


def test_links_are_those_that_train_model_makes(here, capsys):
    assert run(*TEXT) == 0
    found = capsys.readouterr()
    assert "text.de, text.en: 1 of 150 pairs skipped: one side is empty" in found.err
    bitext = read_bitext("text.de", "text.en")
    write_pharaoh([align(bitext.source, bitext.target, AlignmentConfig())], "expected")
    assert found.out == (here / "expected").read_text()
    aligned = phrasebeam.align("text.de", "text.en", threads=1)
    assert aligned.lines == lines_of(here / "expected") and aligned.lines[5] == ""
    assert (aligned.sentence_pairs, aligned.links) == (150, sum(len(line.split()) for line in aligned.lines))
    other = phrasebeam.align("text.de", "text.en", seed=2, heuristic="intersection")
    assert other.lines != aligned.lines
    assert other.lines == phrasebeam.align("text.de", "text.en", seed=2, heuristic="intersection").lines


@pytest.mark.parametrize("aligner", get_args(Aligner))
def test_what_was_saved_aligns_as_what_was_trained(here, capsys, aligner):
    assert run(*TEXT, "--aligner", aligner, "--save", "saved", "--scores", "scores", "--output", "trained") == 0
    assert capsys.readouterr().out.startswith("trained: 150 sentence pairs with ")
    assert run(*TEXT, "--model", "saved", "--scores", "again", "--output", "loaded") == 0
    pairs = list(zip(lines_of(here / "trained"), lines_of(here / "loaded"), strict=True))
    differing = sum(len({*one.split()} ^ {*other.split()}) for one, other in pairs)
    share = differing / sum(len(one.split()) + len(other.split()) for one, other in pairs)
    assert share == 0 if aligner != "eflomal" else share < 0.1  # which draws samples
    assert lines_of(here / "scores") == lines_of(here / "again")
    assert lines_of(here / "scores")[5] == "-inf"
    # One direction alone, and text with new words
    (here / "more.de").write_text("ganz neu hier .\n" + "\n".join(lines_of(here / "more.de")[1:]) + "\n")
    more = phrasebeam.align("more.de", "more.en", model="saved", heuristic="source_to_target")
    assert more.sentence_pairs == 20 and more.links > 40
    assert all(len({*line.split()}) == len({link.split("-")[1] for link in line.split()}) for line in more.lines)


def test_scores_tell_translations_from_others(here):
    shifted = lines_of(here / "more.en")
    (here / "shifted.en").write_text("".join(f"{line}\n" for line in shifted[1:] + shifted[:1]))
    phrasebeam.align("text.de", "text.en", save="saved")
    found = {}
    for name in ("more.en", "shifted.en"):
        phrasebeam.align("more.de", name, model="saved", scores="scores")
        found[name] = np.array(list(map(float, lines_of(here / "scores"))))
    assert (found["more.en"] < 0).all()
    assert np.mean(found["more.en"] > found["shifted.en"]) > 0.9


def test_raw_text_in_a_language_without_rules(here, capsys):
    raw = [("Ye' wôqkela.", "Yo soy grande."), ("Ye' i wôqkela!", "¡Yo soy grande!")] * 30
    for side, name in enumerate(("raw.bzd", "raw.es")):
        (here / name).write_text("".join(f"{pair[side]}\n" for pair in raw))
    text = "--source", "raw.bzd", "--target", "raw.es"
    languages = "--raw", "--source-language", "bzd", "--target-language", "es"
    assert run(*text, *languages, "--save", "saved", "--output", "links", "--lexicon", "lex.f2e") == 0
    assert lines_of(here / "links") == phrasebeam.align("raw.bzd", "raw.es", model="saved").lines
    assert {line.split()[1].lower() for line in lines_of(here / "lex.f2e")} >= {"ye'", "wôqkela"}
    tokens = phrasebeam.preprocess("saved", "source", input="raw.bzd")
    assert [line.lower() for line in tokens[:2]] == ["ye' wôqkela .", "ye' i wôqkela !"]
    assert not [path for path in here.iterdir() if path.name.startswith(".")]
    phrasebeam.align("raw.bzd", "raw.es", save="tokens")
    with pytest.raises(phrasebeam.ModelError, match="tokens: an aligner for tokenized text; save one with align --raw"):
        phrasebeam.preprocess("tokens", "source", input="raw.bzd")


def test_errors_by_alignments_by_hand(here, capsys):
    links = phrasebeam.align("text.de", "text.en", aligner="fast_align").lines
    (here / "gold").write_text("".join(f"{line}\n" for line in links))
    assert run(*TEXT, "--aligner", "fast_align", "--gold", "gold", "--output", "out") == 0
    told = capsys.readouterr().out.splitlines()[1]
    n_links = sum(len(line.split()) for line in links)
    assert told == (
        f"AER 0.00 %, precision 100.00 %, recall 100.00 % (150 sentence pairs, {n_links} sure and 0 possible links)"
    )
    points = [(i, *map(int, link.split("-"))) for i, line in enumerate(links) for link in line.split()]
    (here / "naacl").write_text(
        "".join(f"{i + 1} {s + 1} {t + 1} {'SP'[s == t]}\n" for i, s, t in points if i % 7 == 0)
    )
    assert run(*TEXT, "--aligner", "fast_align", "--gold", "naacl") == 0
    assert "AER 0.00 %, precision 100.00 %, recall 100.00 % (22 sentence pairs," in capsys.readouterr().err


REFUSED = [
    ("--model saved --aligner hmm", "--aligner is only for training, and saved is a saved aligner; leave out one"),
    ("--model saved --save other", "--save is only for training"),
    ("--model saved --raw", "--raw is only for training"),
    ("--model model --seed 3", "--seed is only for training, and model is a translation model"),
    ("--model model --scores new", "--scores is only for aligners, and model is a translation model"),
    ("--model model --heuristic source_to_target", "--heuristic source_to_target is only for aligners"),
    ("--source-language bzd", "--source-language is for raw text; give --raw, too"),
    ("--raw", "raw text needs both languages"),
    ("--lexicon-format marian", "--lexicon-format needs --lexicon"),
    ("--save saved", "saved: has a saved aligner; give --force"),
    ("--save .", ".: exists and is not a saved aligner"),
    ("--save new --output text.en", "text.en: is an input"),
    ("--lexicon text.de", "text.de: is an input"),
    ("--gold short", "short: 1 lines for 150 sentence pairs; expected one for each"),
    ("--gold outside", "outside:2: a link of 0 and 99 in sentence pair 2, which has "),
    ("--gold many", "many:1: sentence pair 151, and there are 150"),
    ("--gold words", "words:1: 'x' is not an alignment point"),
    ("--gold missing", "missing: No such file"),
    ("--target more.en", "more.en: 20 lines, but text.de has 150"),
    ("--source bad", "bad:2: byte 0xff at column 1 is not UTF-8"),
    ("--model damaged", "a word aligner ended with status"),
    ("--model partial", "source_to_target.yml: missing; save the aligner again"),
    ("--model strange", "aligner.yaml: format: "),
]


@pytest.fixture(scope="module")
def refusing(corpus, tmp_path_factory):
    """The bitext with what is damaged, an aligner, and what is not one."""
    directory = tmp_path_factory.mktemp("refused")
    for path in corpus.iterdir():
        shutil.copy(path, directory)
    phrasebeam.align(directory / "text.de", directory / "text.en", aligner="fast_align", save=directory / "saved")
    for name in ("damaged", "partial", "strange"):
        shutil.copytree(directory / "saved", directory / name)
    (directory / "damaged" / "source_to_target.fa_lexnd").unlink()
    (directory / "partial" / "source_to_target.yml").unlink()
    (directory / "strange" / "aligner.yaml").write_text("format: other\n")
    texts = {"short": "0-0\n", "outside": "0-0\n0-99\n" + "\n" * 148, "many": "151 1 1\n", "words": "x\n"}
    for name, text in texts.items():
        (directory / name).write_text(text)
    (directory / "bad").write_bytes(b"a\n\xff\n")
    (directory / "model").mkdir()
    return directory


@pytest.mark.parametrize(("arguments", "said"), REFUSED)
def test_refusals_are_one_line_and_leave_nothing(refusing, capsys, monkeypatch, arguments, said):
    monkeypatch.chdir(refusing)
    before = sorted(path.name for path in refusing.rglob("*"))
    given = dict(zip(TEXT[::2], TEXT[1::2]))
    words = arguments.split()
    given = {name: file for name, file in given.items() if name not in words}
    assert run(*(word for pair in given.items() for word in pair), *words, "--quiet") == 2
    error = capsys.readouterr().err.splitlines()
    told = [line for line in error if not line.startswith(("Traceback", " ", "OSError"))]  # of a dead aligner
    assert said in told[-1], error
    assert sorted(path.name for path in refusing.rglob("*")) == before
