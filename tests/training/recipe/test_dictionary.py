"""A dictionary: its entries are added to the training pairs, never held out, and never learned from by trainers."""

import numpy as np
import pytest

import phrasebeam
from phrasebeam.base.files import read_lines, write_lines
from phrasebeam.cli import main
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.recipe_texts.dictionary import with_entries
from phrasebeam.training.recipe_texts.recipe_data import RecipeFiles, TwinData
from tests.training.recipe.stages import MAXFORCE, STAGES, TUNE

ENTRIES = "zwölfuhrläuten\tnoon bells\nTaxi\tTaxi\n\nohne\t\n"
FILES = "--source train.de --target train.en --output out --dev-folds 5 --dictionary words.tsv"
RAW = {"raw": True, "source_language": "de", "target_language": "en"}


def data_of(folder, **lines):
    """Files in a new folder, by name, with these lines."""
    folder.mkdir()
    for name, texts in lines.items():
        write_lines(folder / name, texts)
    return {name: folder / name for name in lines}


def test_entries_follow_the_pairs_with_all_links_and_are_left_out(tmp_path):
    pairs = data_of(tmp_path / "a", source="ab", target="AB", alignment=["0-0"] * 2, left_out="1")
    more = data_of(tmp_path / "b", source=["c d", "e"], target=["C D", "E F G"])
    whole = data_of(tmp_path / "c", source="abz", target="ABZ", alignment=["0-0"] * 3)
    training, all_pairs = (BitextFiles(one["source"], [one["target"]], one["alignment"]) for one in (pairs, whole))
    read = TwinData(RecipeFiles(training, held_out_of=all_pairs), pairs["left_out"])
    found = with_entries(read, BitextFiles(more["source"], [more["target"]]), tmp_path / "out")
    links = ["0-0 0-1 1-0 1-1", "0-0 0-1 0-2"]
    for files, before in ((found.files.training, ["a", "b"]), (found.files.held_out_of, ["a", "b", "z"])):
        source, target, alignment = map(list, map(read_lines, files.parallel))
        assert source == [*before, "c d", "e"]
        assert target == [*(one.upper() for one in before), "C D", "E F G"]
        assert alignment == ["0-0"] * len(before) + links
    assert list(read_lines(found.left_out)) == ["1", "3", "4"]


@pytest.mark.needs_jit
def test_the_model_translates_words_of_the_dictionary(here):
    (here / "words.tsv").write_text(ENTRIES)
    recipe = {"stages": [STAGES[0], {"kind": "tune", "settings": TUNE}, {"kind": "refit"}], "dev_sentences": 30}
    result = phrasebeam.train(
        "train.de", "train.en", None, None, "out", recipe=recipe, dev_folds=5, dictionary="words.tsv", **RAW
    )
    assert "words.tsv: 2 entries are added to the training pairs" in result.cleaning
    assert result.sentences["training"] <= 400
    (here / "new").write_text("Zwölfuhrläuten\n")
    (text,) = phrasebeam.translate(model="out", input="new")
    assert text.lower() == "noon bells"
    held_out = [*read_lines("out/recipe/data/held-out/held-out.source")]
    assert len(held_out) == 30 and not {"zwölfuhrläuten", "Taxi"} & {*held_out}


@pytest.mark.needs_jit
def test_trainers_do_not_decode_the_entries(here):
    write_lines(here / "words.tsv", (f"wort{i}\tword{i}" for i in range(50)))
    recipe = {"stages": [STAGES[0], MAXFORCE | {"start": "train-model"}], "twins": {"left_out_of": "nothing"}}
    phrasebeam.train("train.de", "train.en", "dev.de", "dev.en", "out", recipe=recipe, dictionary="words.tsv")
    left_out = np.loadtxt(here / "out/recipe/data/with-dictionary/left-out", int)
    assert left_out.tolist() == list(range(401, 451))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (FILES, "words.tsv: No such file"),
        (FILES.replace("words.tsv", "train.de"), "train.de: its name has no known extension; expected one such as"),
        ("--recipe normalize --pairs words.tsv --output out --dictionary words.tsv", "--dictionary has no effect"),
    ],
)
def test_bad_dictionaries(here, capsys, options, complaint):
    assert main(["train", *options.split()]) == 2
    assert complaint in capsys.readouterr().err
    assert not (here / "out").exists()
