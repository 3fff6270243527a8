"""A model of raw text takes raw text in all commands, and does with it what it does with its tokens."""

import json
from pathlib import Path

import pytest

import phrasebeam
from phrasebeam.cli import main

SIDES = {"de": "source", "en": "target"}
SHORT = {"iterations": 1, "nbest": 10}


@pytest.fixture
def both(here):
    """Names of the files of a text and a side, raw or as tokens, with the argument that says so of the latter."""
    for text in ("train", "dev"):
        for language, side in SIDES.items():
            phrasebeam.preprocess("raw-model", side, input=f"raw.{text}.{language}", output=f"tokens.{text}.{language}")
    return {
        "raw": (lambda text, side: f"raw.{text}.{side}", {}),
        "tokens": (lambda text, side: f"tokens.{text}.{side}", {"raw": False}),
    }


def made(both, make):
    """What `make` makes of raw files and of tokens, which is the same."""
    found = [make(kind, *given) for kind, given in both.items()]
    assert found[0] == found[1]
    return found[0]


def test_tune(both):
    def tune(kind, name, how):
        data = name("dev", "de"), name("dev", "en")
        return phrasebeam.tune("raw-model", *data, f"tuned-{kind}", **SHORT, **how).gain.before

    assert made(both, tune) > 30
    phrasebeam.report("tuned-raw", "report.html")
    assert "Scores and translations of iterations are those of tokenized text." in Path("report.html").read_text()


def test_trainers_find_the_alignment_that_the_model_keeps(both):
    def train(kind, name, how):
        data = [name(*one) for one in (("train", "de"), ("train", "en"), ("dev", "de"), ("dev", "en"))]
        alignment = {"alignment": "raw-model/alignment"} if kind == "tokens" else {}
        config = {"iterations": 1, "sentences": 20, "lm_folds": 0, "scales": [1.0], "tune": None}
        phrasebeam.train_maxforce("raw-model", *data, f"learned-{kind}", config=config, **alignment, **how)
        return Path(f"learned-{kind}/weights.yaml").read_text()

    made(both, train)


def test_online_tuning(both):
    def tune(kind, name, how):
        dev = {"dev_source": name("dev", "de"), "dev_reference": name("dev", "en")}
        online = {"method": "online", "iterations": 1}
        phrasebeam.tune("raw-model", name("dev", "de"), name("dev", "en"), f"online-{kind}", **online, **dev, **how)
        return Path(f"online-{kind}/weights.yaml").read_text()

    made(both, tune)


def test_forced_decoding_alignment_and_explanation(both):
    def forced(kind, name, how):
        phrasebeam.forced_decode("raw-model", name("dev", "de"), name("dev", "en"), f"forced.{kind}", **how)
        return [json.loads(line) for line in Path(f"forced.{kind}").read_text().splitlines()]

    def aligned(kind, name, how):
        files = {"model": "raw-model", "output": f"aligned.{kind}"}
        phrasebeam.align(name("dev", "de"), name("dev", "en"), **files, **how)
        return Path(f"aligned.{kind}").read_text()

    assert len(made(both, forced)) == len(made(both, aligned).splitlines()) == 20


def test_selection_by_the_tokens_of_raw_text(here):
    texts = "raw.train.de", "raw.train.en", "raw.dev.de", "few.de", "few.en"
    raw = phrasebeam.select(*texts, sentences=10, raw=True, source_language="de")
    lines = Path("raw.train.de").read_text().splitlines()
    assert all(line in lines for line in Path("few.de").read_text().splitlines())
    assert phrasebeam.select(*texts, sentences=10).all.n_words < raw.all.n_words  # periods are words
    for wrong in ({"source_language": "de"}, {"raw": True}, {"raw": True, "source_language": "d"}):
        with pytest.raises(phrasebeam.ConfigError):
            phrasebeam.select(*texts, sentences=10, **wrong)


def test_translations_with_prefixes_and_confirmed_ones(both):
    def translated(kind, name, how):
        Path(f"prefix.{kind}").write_text("The\n" * 20 if kind == "raw" else "the\n" * 20)
        options = {"input": name("dev", "de"), "prefix": f"prefix.{kind}", **how}
        lists = {"nbest": 3, "nbest_output": f"{kind}.nbest"}
        lines = phrasebeam.translate("raw-model", **options, **lists)
        confirmed = phrasebeam.translate("raw-model", input=name("dev", "de"), adapt=name("dev", "en"), **how)
        texts = [line.split(" ||| ")[1] for line in Path(f"{kind}.nbest").read_text().splitlines()]
        if kind == "tokens":
            after = phrasebeam.RawText.load("raw-model").after
            lines, confirmed, texts = (list(map(after, some)) for some in (lines, confirmed, texts))
        return lines, confirmed, texts

    lines, confirmed, texts = made(both, translated)
    assert all(line.startswith("The") for line in [*lines, *texts])
    assert all(line[0].isupper() and line.endswith(".") for line in [*confirmed, *lines])


def test_training_sentences(both):
    languages = {"source_language": "de", "target_language": "en"}
    phrasebeam.train_model("raw.train.de", "raw.train.en", "raw-model", raw=True, clean=False, force=True, **languages)

    def translated(kind, name, how):
        files = {"reference": name("train", "en"), "word_alignment": "raw-model/alignment", "leave_one_out": "drop"}
        lines = phrasebeam.translate("raw-model", input=name("train", "de"), **files, **how)[:20]
        return lines if kind == "raw" else list(map(phrasebeam.RawText.load("raw-model").after, lines))

    made(both, translated)


def test_terms_are_written_as_they_are_given(here):
    decoder = phrasebeam.Decoder.load("raw-model")
    for target in ("iPhone", "l\u2019Orange-O'Neill", "AT&T"):
        text = decoder.translate_text(f'Der <x translation="{target}">Hund</x> schläft.', "exclusive")
        assert text == f"The {target} sleeps."
    first = decoder.translate_text('<x translation="die HUNDE">Der Hund</x> schläft.', "exclusive")
    assert first == "die HUNDE sleeps."


def test_commands_with_markup(here, capfd):
    Path("in.de").write_text('Der <x translation="IT-Hund">Hund</x> schläft.\n')
    assert main(["translate", "--model", "raw-model", "--input", "in.de", "--markup", "exclusive"]) == 0
    assert capfd.readouterr().out == "The IT-Hund sleeps.\n"
    Path("in.de").write_text('Der Hund <x translation="a" span="1">schläft</x>.\n')
    assert main(["translate", "--model", "raw-model", "--input", "in.de", "--markup", "exclusive"]) == 2
    assert "in.de:1: <x> has span=, which counts tokens, and the text is raw" in capfd.readouterr().err
    assert main(["translate", "--model", "raw-model", "--input", "raw.dev.de", "--alignment"]) == 2
    assert "to tokens, which raw text does not show; give tokens (--no-raw)" in capfd.readouterr().err
    assert main(["translate", "--model", "model", "--input", "dev.de", "--raw"]) == 2
    assert "no preprocessing, so that the model knows only tokenized text" in capfd.readouterr().err


def test_an_error_names_the_raw_file(here):
    Path("short.en").write_text("The dog sleeps.\n")
    with pytest.raises(phrasebeam.FormatError, match=r"^short\.en: 1 lines, raw\.dev\.de has 20; expected the same"):
        phrasebeam.tune("raw-model", "raw.dev.de", "short.en", "tuned")
    assert not Path("tuned").exists()


def test_text_of_models_of_tokenized_text(here):
    decoder = phrasebeam.Decoder.load("model")
    assert decoder.translate_text("der hund schläft .") == decoder.translate("der hund schläft .").text
    opened = phrasebeam.Decoder(phrasebeam.Decoder.load("raw-model").model)
    with pytest.raises(phrasebeam.ConfigError, match=r"open it by Decoder\.load"):
        opened.translate_text("Der Hund schläft.")
    with pytest.raises(phrasebeam.ConfigError, match="translate_all"):
        decoder.translate(["der hund schläft .", "die katze schläft ."])
