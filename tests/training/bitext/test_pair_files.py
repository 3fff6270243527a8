"""Commands read files of both sides as they do two files of text."""

import pytest
from translate.storage.pypo import pofile

import phrasebeam
from phrasebeam.cli import main
from phrasebeam.training.demo.demo_corpus import write_pairs
from tests.decoder.documents.given import PO, TMX, XLIFF_1

SMALL = {"alignment": {"aligner": "fast_align"}}


def tmx(pairs):
    units = (
        f'<tu><tuv xml:lang="de-DE"><seg>{a}</seg></tuv><tuv xml:lang="en"><seg>{b}</seg></tuv></tu>' for a, b in pairs
    )
    return f'<tmx version="1.4"><header/><body>{"".join(units)}</body></tmx>'


def xliff(pairs):
    units = (
        f"<trans-unit id='{i}'><source>{a}</source><target>{b}</target></trans-unit>" for i, (a, b) in enumerate(pairs)
    )
    head = "<xliff xmlns='urn:oasis:names:tc:xliff:document:1.2' version='1.2'><file source-language='de'"
    return f"{head} target-language='en'><body>{''.join(units)}</body></file></xliff>"


def po(pairs):
    store = pofile()
    for a, b in pairs:
        store.addsourceunit(a).target = b
    return bytes(store).decode()


FILES = {
    "x.tsv": lambda pairs: "".join(f"{a}\t{b}\n" for a, b in pairs),
    "x.tmx": tmx,
    "x.xlf": xliff,
    "x.po": po,
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """train.de, train.en; the same as files of both sides; a model of them."""
    directory = tmp_path_factory.mktemp("pairs")
    write_pairs(directory / "train", 100, 1, 0.0)
    pairs = list(zip(*((directory / f"train.{side}").read_text().splitlines() for side in ("de", "en"))))
    pairs = list(dict(pairs).items())
    for i, side in enumerate(("de", "en")):
        (directory / f"train.{side}").write_text("".join(f"{pair[i]}\n" for pair in pairs))
    for name, content in FILES.items():
        (directory / name).write_text(content(pairs))
    phrasebeam.train_model(directory / "train.de", directory / "train.en", directory / "model", config=SMALL)
    return directory


@pytest.fixture
def here(corpus, monkeypatch):
    monkeypatch.chdir(corpus)
    return corpus


@pytest.mark.parametrize("name", FILES)
def test_models_are_the_same(here, tmp_path, name):
    languages = {"source_column": "de", "target_column": "en"} if name == "x.tmx" else {}
    phrasebeam.train_model(name, None, tmp_path / "model", config=SMALL, **languages)
    for file in ("lm.bin", "source.vocab", "phrases/entry_source_offsets.npy", "alignment"):
        if (here / "model" / file).exists():
            assert (tmp_path / "model" / file).read_bytes() == (here / "model" / file).read_bytes()
    description = (tmp_path / "model" / "model.yaml").read_text()
    assert description.count(f"file: {name}") >= 2
    assert "phrasebeam-" not in description


@pytest.mark.parametrize("name", FILES)
def test_align_and_evaluate(here, tmp_path, name):
    languages = {"source_column": "de", "target_column": "en"} if name == "x.tmx" else {}
    counts = phrasebeam.align("train.de", "train.en", model="model", output=tmp_path / "expected")
    assert phrasebeam.align(name, None, model="model", output=tmp_path / "found", **languages) == counts
    assert (tmp_path / "found").read_bytes() == (tmp_path / "expected").read_bytes()
    column = {"target_column": "en"} if languages else {}
    evaluation = phrasebeam.evaluate(name, "train.en", tokenize="none", **column)
    assert round(evaluation.results["BLEU"][0].score, 2) == 100


def test_tune_and_train(here, tmp_path):
    (result,), _ = phrasebeam.tune(
        "model", "x.tsv", None, tmp_path / "tuned", iterations=1, nbest=5, test_source="x.po"
    )
    assert result.test_score
    recipe = {"stages": [{"kind": "train-model", "settings": SMALL}]}
    given = {"recipe": recipe, "test_source": "x.po"}
    phrasebeam.train("x.tsv", None, "x.xlf", None, tmp_path / "best", **given)
    made = (tmp_path / "best" / "recipe" / "report.md").read_text()
    assert "phrasebeam train \\\n  --source x.tsv \\\n  --target x.tsv" in made
    assert "--dev-source x.xlf" in made


def test_what_is_left_out_is_told(tmp_path, monkeypatch, caplog, corpus):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.po").write_text(PO)
    phrasebeam.align("x.po", None, model=corpus / "model", output="out")
    assert "x.po: 3 sentence pairs; left out: 4 untranslated, 1 fuzzy" in caplog.text
    (tmp_path / "x.xlf").write_text(XLIFF_1)
    phrasebeam.align("x.xlf", None, model=corpus / "model", output="out")
    assert "x.xlf: 1 sentence pairs" in caplog.text


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--source", "x.tsv", "--target", "train.en"), "x.tsv: has both sides; leave out --target train.en"),
        (("--source", "train.de", "--target", "x.po"), "x.po: has both sides; give it as --source only"),
        (("--source", "train.de"), "train.de: is plain text of one side, but --target is missing; give it, or a file"),
        (
            ("--source", "x.tmx"),
            "x.tmx: a memory has several languages; give both (--source-column",
        ),
        (
            ("--source", "x.tsv", "--source-column", "1", "--target-column", "3"),
            "x.tsv:1: 2 columns, expected at least",
        ),
        (("--source", "x.tsv", "--source-column", "de", "--target-column", "en"), "x.tsv: no column 'de'"),
        (("--source", "x.tsv", "--source-column", "de"), "x.tsv: columns de and 2; give names for both, or numbers"),
        (("--source", "none.xlf"), "none.xlf: No such file"),
        (("--source", "empty.po"), "empty.po: no sentence pairs, segments: 1 untranslated; give a file"),
        (
            ("--source", "fr.tmx", "--source-column", "es", "--target-column", "it"),
            "fr.tmx: has no segments from es to it",
        ),
    ],
)
def test_mistakes_are_one_line(here, tmp_path, capsys, options, complaint):
    (here / "empty.po").write_text('msgid "a"\nmsgstr ""\n')
    (here / "fr.tmx").write_text(TMX)
    assert main(["align", "--model", "model", "--output", str(tmp_path / "out"), *options]) == 2
    assert complaint in capsys.readouterr().err.splitlines()[-1]
    assert not list(tmp_path.iterdir())


def test_a_file_of_pairs_is_not_replaced(here, capsys):
    assert main(["align", "--model", "model", "--source", "x.tsv", "--output", "x.tsv"]) == 2
    assert "x.tsv: is an input and would be replaced" in capsys.readouterr().err
