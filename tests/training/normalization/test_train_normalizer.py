"""A normalizer, trained and used by the commands as a user would."""

import pytest
import yaml

from phrasebeam import train, translate
from phrasebeam.base.errors import SmtError
from phrasebeam.cli import main
from phrasebeam.decoder.normalization.normalizer import Normalizer
from phrasebeam.training.normalization import letter_model
from tests.training.normalization.made_up_words import write_words

RECIPE = {"normalizer": {"folds": 2, "candidates": {"nbest": 10}}}
COMMAND = ["train", "--recipe", "recipe.yaml", "--pairs", "train.tsv", "--words", "known", "--threads", "1"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A directory with made-up words, and a normalizer in `model`."""
    directory = tmp_path_factory.mktemp("normalizer")
    write_words(directory)
    (directory / "recipe.yaml").write_text(yaml.safe_dump(RECIPE))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        assert main([*COMMAND, "--output", "model"]) == 0
    return directory


@pytest.fixture
def here(trained, monkeypatch):
    monkeypatch.chdir(trained)
    return trained


def test_sentences_a_line(here):
    forms = translate("model", input="test.words")
    gold = (here / "test.forms").read_text().splitlines()
    pairs = [
        pair for one, other in zip(forms, gold, strict=True) for pair in zip(one.split(), other.split(), strict=True)
    ]
    assert sum(a == b for a, b in pairs) / len(pairs) > 0.97


def test_words_a_line_are_the_same_words(here):
    sentences = [line.split() for line in (here / "test.words").read_text().splitlines()]
    (here / "lines").write_text("\n\n".join(map("\n".join, sentences)) + "\n")
    lines = translate("model", input="lines", confidence=True)
    assert [bool(line) for line in lines] == [bool(line) for line in (here / "lines").read_text().splitlines()]
    forms = [line.split("\t")[0] for line in lines if line]
    assert forms == [form for line in translate("model", input="test.words") for form in line.split()]
    assert all(0 < float(line.split("\t")[1]) <= 1 for line in lines if line)


def test_confidence_behind_sentences(here):
    (plain, *_), (shown, *_) = (
        translate("model", input="test.words"),
        translate("model", input="test.words", confidence=True),
    )
    text, numbers = shown.split(" ||| ")
    assert text == plain
    assert len(numbers.split()) == len(text.split())


def test_threads_and_seeds_do_not_matter(here):
    assert translate("model", input="test.words", threads=2) == translate("model", input="test.words")
    train(None, None, None, None, "again", recipe=RECIPE, pairs="train.tsv", words="known", threads=2)
    for name in ("pairs.tsv", "words.txt", "edits.npy", "sparse.npy"):
        assert (here / "again" / name).read_bytes() == (here / "model" / name).read_bytes()
    first, second = (Normalizer.load(name).description for name in ("model", "again"))
    assert (first.weights, first.held_out) == (second.weights, second.held_out)


def test_python(here):
    normalizer = Normalizer.load("model")
    assert normalizer.normalize([]) == []
    sentence = (here / "test.words").read_text().splitlines()[0].split() + ["vckeyths"]  # of many forms
    best, others = normalizer.normalize(sentence), normalizer.alternatives(sentence, most=3)
    assert [forms[0] for forms in others] == best
    assert any(len(forms) > 1 for forms in others)
    for forms in others:
        confidences = [one.confidence for one in forms]
        assert len(forms) <= 3
        assert sorted(confidences, reverse=True) == confidences
        assert sum(confidences) <= 1 + 1e-9
    (word,) = normalizer.normalize(["vns"])
    assert word.form == "uns"
    assert 0.3 < word.confidence <= 1


def test_two_files_and_development_pairs(here):
    rows = [line.split("\t") for line in (here / "train.tsv").read_text().splitlines()]
    (here / "words").write_text("\n".join(row[0] for row in rows))
    (here / "forms").write_text("\n".join(row[1] if row[0] else "" for row in rows))
    (here / "dev.tsv").write_text("".join(f"{word}\t{form}\n" for word, form in (row for row in rows[:60] if row[0])))
    found = train("words", "forms", None, None, "two", recipe=RECIPE, dev_pairs="dev.tsv", threads=1)
    assert found.held_out.words == len((here / "dev.tsv").read_text().splitlines())
    assert found.held_out.accuracy > 90


def test_forms_of_sounds(here):
    rows = [line.split("\t") for line in (here / "train.tsv").read_text().splitlines() if line]
    sounds = {word: " ".join(form.replace("sch", "ʃ")).replace("e r", "er") for word, form in rows}
    words = sorted(sounds)
    (here / "sounds.tsv").write_text("\n".join(f"{word}\t{sounds[word]}" for word in words[::2] + words[1::4]))
    train(None, None, None, None, "sounds", recipe=RECIPE, pairs="sounds.tsv", threads=1)
    normalizer = Normalizer.load("sounds")
    assert normalizer.description.has_spaced_forms
    found = [normalizer.normalize([word])[0].form for word in words[3::4]]
    right = sum(form == sounds[word] for form, word in zip(found, words[3::4]))
    assert right > 0.6 * len(found)
    assert any("er" in form.split() for form in found)


def test_what_was_stopped_goes_on(here, monkeypatch):
    built = []
    build = letter_model.train_model

    def counted(source, target, output, *others, **named):
        built.append(output.name)
        if output.name == "fold-1" and built.count("fold-1") == 1:
            raise KeyboardInterrupt
        return build(source, target, output, *others, **named)

    monkeypatch.setattr(letter_model, "train_model", counted)
    arguments = {"recipe": RECIPE, "pairs": "train.tsv", "words": "known", "threads": 1}
    with pytest.raises(KeyboardInterrupt):
        train(None, None, None, None, "stopped", **arguments)
    train(None, None, None, None, "stopped", **arguments)
    assert sorted(built) == ["all", "fold-0", "fold-1", "fold-1"]
    assert (here / "stopped" / "sparse.npy").read_bytes() == (here / "model" / "sparse.npy").read_bytes()
    assert train(None, None, None, None, "stopped", **arguments).held_out.words
    assert len(built) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (COMMAND[:3] + ["--output", "x"], "--pairs is missing"),
        ([*COMMAND, "--raw", "--output", "x"], "--raw has no effect on the recipe normalize"),
        ([*COMMAND, "--source", "words", "--output", "x"], "leave out --source and --target"),
        (["train", "--pairs", "train.tsv", "--output", "x"], "--pairs is for --recipe normalize"),
        (["train", "--output", "x"], "--source is missing"),
        ([*COMMAND[:5], "--output", "model"], "another normalizer; give --force"),
        (["translate", "--model", "model", "--nbest", "3", "--nbest-output", "x"], "--nbest has no effect on a norm"),
        (["serve", "--model", "model"], "a normalizer, which is not served"),
    ],
)
def test_mistakes(here, capsys, arguments, message):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
    assert not (here / "x").exists()


def test_damage_is_told(here, tmp_path):
    import shutil

    shutil.copytree(here / "model", tmp_path / "model")
    (tmp_path / "model" / "words.txt").write_text("other\n")
    with pytest.raises(SmtError, match=r"words\.txt: has changed since it was written"):
        Normalizer.load(tmp_path / "model")
    (tmp_path / "model" / "words.txt").unlink()
    with pytest.raises(SmtError, match=r"words\.txt: missing"):
        Normalizer.load(tmp_path / "model")
