"""Models of raw text: trained, translated with and imported by the commands; the same by any number of processes."""

import gzip
import random
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml

from phrasebeam import Decoder, RawText
from phrasebeam.base.config import parse_config
from phrasebeam.base.errors import FormatError, SmtError
from phrasebeam.cli import main
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings, SubwordSettings
from phrasebeam.decoder.moses.exporting import export_moses
from phrasebeam.decoder.raw_text.truecaser import Truecaser
from phrasebeam.decoder.tokenizers.subwords import SubwordTokenizer
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary
from phrasebeam.server.serving.served_models import open_served
from phrasebeam.training.model_building import preprocessing
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model

GERMAN = {"der Hund": "the dog", "die Katze": "the cat", "Anna": "Anna", "Bobs Haus": "Bob's house", "es": "it"}
VERBS = {"schläft": "sleeps", "ist alt": "is old", "sieht Anna": "sees Anna", "mag das": "likes that"}
ENDS = {".": ".", "!": "!", ", und die Katze auch.": ", and so does the cat.", " \u2013 „ja“!": ' - "yes"!'}
LANGUAGES = {"source_language": "de", "target_language": "en"}
SMALL = {"alignment": {"effort": 0.2}, "language_model": {"order": 3}}


def write_corpus(directory, n_pairs=120):
    """Raw text whose sentences begin with a capital and may hold two clauses."""
    rng, pairs = random.Random(1), []
    for _ in range(n_pairs):
        parts = [rng.choice(list(choices.items())) for choices in (GERMAN, VERBS, ENDS)]
        source, target = (f"{a} {b}{c}" for a, b, c in zip(*parts))
        pairs.append((source[0].upper() + source[1:], target[0].upper() + target[1:]))
    for name, texts in zip(("raw.de", "raw.en"), zip(*pairs)):
        (directory / name).write_text("".join(f"{text}\r\n" for text in texts), encoding="utf-8", newline="")
    return directory / "raw.de", directory / "raw.en"


def config(**changes):
    return parse_config({**SMALL, "preprocessing": LANGUAGES, **changes}, TrainModelConfig, "test")


def contents(directory):
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the corpus and a model of it, which the command made."""
    directory = tmp_path_factory.mktemp("raw")
    source, target = write_corpus(directory)
    (directory / "small.yaml").write_text(yaml.safe_dump(SMALL), encoding="utf-8")
    options = {"source": source, "target": target, "output": directory / "model", "config": directory / "small.yaml"}
    options |= {"source-language": "de", "target-language": "en"}
    arguments = [str(part) for name, value in options.items() for part in (f"--{name}", value)]
    assert main(["train-model", "--raw", "--no-clean", *arguments]) == 0
    return directory


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    """Runs a command on a text; its lines of output."""

    def call(text, *arguments):
        (tmp_path / "input").write_text(text, encoding="utf-8", newline="")
        with open(tmp_path / "input", encoding="utf-8") as file:
            monkeypatch.setattr(sys, "stdin", file)
            assert main(list(map(str, arguments))) == 0
        output, errors = capfd.readouterr()
        assert all("the model does not know" in line for line in errors.splitlines())  # a hint
        return output.removesuffix("\n").split("\n")

    return call


def test_raw_text_is_cleaned(folder, tmp_path, caplog):
    description = train_model(folder / "raw.de", folder / "raw.en", tmp_path / "model", config())
    sides = [(folder / f"raw.{side}").read_text("utf-8").splitlines() for side in ("de", "en")]
    assert description.sentence_pairs == len({*zip(*sides)})
    assert "repeated pairs, such as line" in caplog.text
    written = yaml.safe_load((tmp_path / "model" / "model.yaml").read_text("utf-8"))
    assert written["settings"]["cleaning"]["longest"] == 100
    assert not (tmp_path / "model" / "cleaned").exists()
    assert "cleaning" not in yaml.safe_load((folder / "model" / "model.yaml").read_text("utf-8"))["settings"]


def test_the_model_says_what_was_done(folder):
    written = yaml.safe_load((folder / "model" / "model.yaml").read_text("utf-8"))
    expected = {**LANGUAGES, "normalize": True, "casing": "truecase", "escape": True}
    expected |= {"source_tokenizer": "moses", "target_tokenizer": "moses"}
    assert written["preprocessing"].items() >= expected.items()
    assert written["settings"]["preprocessing"].items() > expected.items()
    assert written["data"]["source"]["file"] == "raw.de"
    truecaser = Truecaser.load(folder / "model" / "truecase.source")
    assert (truecaser.best["katze"], truecaser.best["die"]) == ("Katze", "die")
    words = FixedVocabulary(folder / "model" / "target.vocab").words
    assert {"the", "&quot;", "Anna", "&apos;s"} <= set(words)
    assert not {"The", '"', "sleeps."} & set(words)
    assert not (folder / "model" / "preprocessed").exists()


def test_raw_text_in_and_out(folder, run):
    text = "Der Hund ist alt!\n\nDie Katze schläft \u2013 „ja“!\r\nSiehe http://a.de/b|c, ||| |0-1| <s> & 🙂\n"
    lines = run(text, "translate", "--raw", "--model", folder / "model", "--threads", "2")
    assert lines[:3] == ["The dog is old!", "", 'The cat sleeps - "yes"!']
    assert all(part in lines[3] for part in ("http://a.de/b", "|", "<s>", "&", "🙂"))
    decoder, raw_text = Decoder.load(folder / "model"), RawText.load(folder / "model")
    plain = text.split("\n")[:3]
    assert [raw_text.after(decoder.translate(raw_text.before(line)).text) for line in plain] == lines[:3]


def test_tokens_without_raw_and_in_lists(folder, tmp_path, run):
    tokens = run("Bobs Haus schläft.\n", "preprocess", "--model", folder / "model", "--side", "source")
    assert tokens == ["Bobs Haus schläft ."]
    options = ("--model", folder / "model", "--nbest", 2, "--nbest-output", tmp_path / "nbest")
    assert run(tokens[0], "translate", "--no-raw", *options) == ["Bob &apos;s house sleeps ."]
    assert (tmp_path / "nbest").read_text("utf-8").startswith("0 ||| Bob &apos;s house sleeps . ||| ")
    for raw in ((), ("--raw",)):
        assert run("Bobs Haus schläft.", "translate", *raw, *options) == ["Bob's house sleeps."]
        assert (tmp_path / "nbest").read_text("utf-8").startswith("0 ||| Bob's house sleeps. ||| ")
    assert run("The dog.\n", "preprocess", "--model", folder / "model", "--side", "target") == ["the dog ."]


def test_any_number_of_processes_makes_the_same(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(preprocessing, "BATCH", 17)
    (tmp_path / "few").write_text("A few lines need no process.\n", encoding="utf-8")
    texts = [folder / "raw.de", tmp_path / "few"]
    made = []
    for threads in (1, 2):
        directory = tmp_path / str(threads)
        with preprocessing.preprocessed(texts, config().preprocessing, directory, threads):
            made.append(contents(directory))
    assert made[0] == made[1]
    assert made[0]["truecase.source"] == (folder / "model" / "truecase.source").read_bytes()
    assert made[0]["preprocessed/0/raw.de"].count(b"\n") == 120


def each_in_its_own_thread(function, items, threads):
    for item in items:
        with ThreadPoolExecutor(1) as thread:
            yield thread.submit(function, item).result()


def test_processes_outlive_the_threads_that_call_them(folder, tmp_path, monkeypatch):
    """When one thread had ended, the process that it had started was killed while another thread waited for it."""
    monkeypatch.setattr(preprocessing, "BATCH", 17)
    monkeypatch.setattr(preprocessing, "map_ordered", each_in_its_own_thread)
    texts = [folder / "raw.de", folder / "raw.en"]
    with preprocessing.preprocessed(texts, config().preprocessing, tmp_path / "made", 2):
        assert contents(tmp_path / "made")["preprocessed/0/raw.de"].count(b"\n") == 120


def test_other_ways_with_case_and_more_text(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    texts = [tmp_path / "a" / "text", tmp_path / "b" / "text", tmp_path / "more.gz"]
    texts[0].write_text("Der [A]\n\nDer\u2028B\n", encoding="utf-8")
    texts[1].write_text("The ape.\n\nSo the bee!\n", encoding="utf-8")
    with gzip.open(texts[2], "wt", encoding="utf-8") as file:
        file.write("The C\n")
    expected = {
        "truecase": ["Der &#91; A &#93;\n\nDer B\n", "the ape .\n\nSo the bee !\n", "the C\n"],
        "lowercase": ["der &#91; a &#93;\n\nder b\n", "the ape .\n\nso the bee !\n", "the c\n"],
        "keep": ["Der &#91; A &#93;\n\nDer B\n", "The ape .\n\nSo the bee !\n", "The C\n"],
    }
    for casing, lines in expected.items():
        settings = parse_config({**LANGUAGES, "casing": casing}, RawTextSettings, "test")
        directory = tmp_path / casing
        with preprocessing.preprocessed(texts, settings, directory, 1) as made:
            assert [path.read_text("utf-8") for path in made] == lines
        left = ["truecase.source", "truecase.target"] if casing == "truecase" else []
        assert sorted(path.name for path in directory.iterdir()) == left


def test_more_text_for_the_language_model(folder, tmp_path):
    (tmp_path / "more").write_text("The elephant's alive.\n", encoding="utf-8")
    text = {"order": 3, "text": [str(tmp_path / "more")]}
    train_model(folder / "raw.de", folder / "raw.en", tmp_path / "model", config(language_model=text))
    model = LanguageModel.load(tmp_path / "model" / "lm.bin")
    ids = model.word_ids(["elephant", "alive", "alive.", "nowhere"]).tolist()
    assert ids[0] != ids[3] != ids[1]
    assert ids[2] == ids[3]


def test_a_moses_model_of_raw_text(folder, tmp_path, run, capfd):
    export_moses(folder / "model", tmp_path / "moses")
    command = ["import-moses", str(tmp_path / "moses" / "moses.ini"), "--output", str(tmp_path / "again")]
    languages = ["--source-language", "de", "--target-language", "en"]
    truecasers = [f"--truecaser-{side}={folder / 'model' / f'truecase.{side}'}" for side in ("source", "target")]
    assert main([*command, *languages, *truecasers]) == 0
    capfd.readouterr()
    assert run("Bobs Haus schläft.", "translate", "--raw", "--model", tmp_path / "again") == ["Bob's house sleeps."]
    written = yaml.safe_load((tmp_path / "again" / "model.yaml").read_text("utf-8"))
    assert written["preprocessing"]["casing"] == "truecase"
    assert written["data"]["truecaser_source"]["file"] == "truecase.source"
    assert main([*command, *languages, "--lowercase", "--force"]) == 0
    assert RawText.load(tmp_path / "again").before("Bobs Haus") == "bobs haus"


MISTAKES = {
    "no languages": (["--raw"], "raw text needs both languages; give --source-language and --target-language"),
    "one language": (["--raw", "--source-language", "de"], "raw text needs both languages"),
    "not raw": (["--source-tokenizer", "neutral"], "tokenizers are for raw text; give --raw, too"),
    "no code": (["--raw", "--source-language", "German!", "--target-language", "en"], "a language code (BCP 47)"),
    "alignment": (["--config", "raw.yaml", "--alignment", "raw.de"], "raw.de: a word alignment counts tokens"),
    "lengths": (["--config", "raw.yaml", "--target", "short"], "short: ends after line 1, and raw.de has more"),
    "bytes": (["--config", "raw.yaml", "--target", "latin"], "latin:2: byte 0xe9 at column 4 is not UTF-8"),
    "no words": (["--config", "raw.yaml", "--source", "blank", "--target", "blank"], "blank: no pair is left"),
}


@pytest.mark.parametrize(("arguments", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path)
    (tmp_path / "raw.yaml").write_text(yaml.safe_dump({**SMALL, "preprocessing": LANGUAGES}), encoding="utf-8")
    (tmp_path / "short").write_text("One.\n", encoding="utf-8")
    (tmp_path / "latin").write_bytes("One.\ncaf\xe9\n".encode("latin-1"))
    (tmp_path / "blank").write_text(" \n\u00a0\n", encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    files = ["--source", "raw.de", "--target", "raw.en", "--output", "model", "--threads", "1"]
    assert main(["train-model", *files, *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error.splitlines()[-1]
    assert ".model." not in error.splitlines()[-1]
    assert sorted(tmp_path.iterdir()) == before


def test_more_mistakes(folder, tmp_path, capsys):
    ini = ["import-moses", "moses.ini", "--output", str(tmp_path / "model")]
    for arguments, message in (
        ([*ini, "--lowercase"], "raw text needs both languages"),
        ([*ini, "--source-language", "d", "--target-language", "en"], "a language code (BCP 47)"),
        ([*ini, "--truecaser-source", "a"], "--truecaser-source and --truecaser-target need each other"),
        ([*ini, "--truecaser-source", "a", "--truecaser-target", "b", "--lowercase"], "leave out --lowercase"),
    ):
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1


def test_short_text_is_named_as_people_know_it(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"{name}\n", encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        train_model(tmp_path / "a", tmp_path / "b", tmp_path / "model", config(language_model={"order": 4}))
    assert str(caught.value).startswith(f"{tmp_path / 'b'}: too little text")
    assert caught.value.path == str(tmp_path / "b")


def test_a_process_that_dies(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(preprocessing, "BATCH", 50)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(SmtError, match="a process that tokenizes ended with status 1; if memory ran out"):
        train_model(folder / "raw.de", folder / "raw.en", tmp_path / "model", config())
    assert list(tmp_path.iterdir()) == []


TARGETS = ["ye' mía.", "be' ù", "ye' tö be' ù sawé."]


@pytest.mark.parametrize("tokenizer", ["neutral", "characters", "subwords", "whitespace"])
def test_languages_without_rules_of_moses(tmp_path, tokenizer):
    """Apostrophes and spaces of translations are those of the text that the model was made of."""
    sources = ["yo voy.", "tu casa", "yo veo tu casa."]
    for name, lines in (("a", sources * 20), ("b", TARGETS * 20)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    raw = {"source_language": "qaa-x-test", "target_language": "bzd", "target_tokenizer": tokenizer, "casing": "keep"}
    settings = config(preprocessing={**raw, "subwords": {"pieces": 30}})
    train_model(tmp_path / "a", tmp_path / "b", tmp_path / "model", settings)
    text, decoder = RawText.load(tmp_path / "model"), Decoder.load(tmp_path / "model")
    assert [text.after(text.target.line(line)) for line in TARGETS] == TARGETS
    translations = [text.after(decoder.translate(text.before(line))) for line in sources]
    assert translations[1] == TARGETS[1]
    if tokenizer != "subwords":  # of which so small a text has too few
        assert translations == TARGETS


@pytest.mark.parametrize(
    ("language", "given", "output"),
    [("hch", None, "the dog sleeps."), ("hch", True, "The dog sleeps."), ("en", None, "The dog sleeps.")],
)
def test_translations_begin_as_the_target_text_does(tmp_path, language, given, output):
    source, target = write_corpus(tmp_path)
    target.write_text(target.read_text(encoding="utf-8").lower(), encoding="utf-8")
    raw = {"source_language": "de", "target_language": language, "capitalize": given}
    train_model(source, target, tmp_path / "model", config(preprocessing=raw))
    raw_text = RawText.load(tmp_path / "model")
    assert raw_text.after(Decoder.load(tmp_path / "model").translate(raw_text.before("Der Hund schläft."))) == output


def test_subwords_by_a_model_that_is_given(tmp_path):
    source, target = write_corpus(tmp_path)
    (tmp_path / "given").write_bytes(SubwordTokenizer.learn(target.open(), SubwordSettings(pieces=60)).model)
    raw = {**LANGUAGES, "target_tokenizer": "subwords", "subwords": {"target_model": str(tmp_path / "given")}}
    train_model(source, target, tmp_path / "model", config(preprocessing=raw))
    assert (tmp_path / "model" / "tokenizer.target").read_bytes() == (tmp_path / "given").read_bytes()
    for content, found in ((b"", "no pieces"), (b"neither", "INTERNAL")):
        (tmp_path / "given").write_bytes(content)
        with pytest.raises(FormatError, match=f"given: not a SentencePiece model .*{found}.*; give a model"):
            train_model(source, target, tmp_path / "other", config(preprocessing=raw))


def test_languages_of_tokenized_text(folder, tmp_path):
    """Servers know them, and text stays as it is."""
    texts = {"--source": folder / "raw.de", "--target": folder / "raw.en", "--config": folder / "small.yaml"}
    given = [str(word) for pair in texts.items() for word in pair]
    languages = ["--source-language", "gsw", "--target-language", "en-GB"]
    assert main(["train-model", *given, *languages, "--output", str(tmp_path / "model")]) == 0
    assert main(["train-model", *given, "--output", str(tmp_path / "plain")]) == 0
    export_moses(tmp_path / "model", tmp_path / "moses")
    assert (
        main(
            [
                "import-moses",
                str(tmp_path / "moses/moses.ini"),
                *languages,
                "--no-raw",
                "--output",
                str(tmp_path / "back"),
            ]
        )
        == 0
    )
    for name in ("model", "back"):
        served = open_served(name, tmp_path / name)
        assert served.languages == ("gsw", "en-GB") and served.raw_text is None
    plain, model = contents(tmp_path / "plain"), contents(tmp_path / "model")
    assert {name for name in model if model[name] != plain[name]} <= {"model.yaml", "README.md"}


def test_languages_of_tokenized_text_are_two(folder, tmp_path, capsys):
    command = ["train-model", "--source", str(folder / "raw.de"), "--target", str(folder / "raw.en")]
    command += ["--output", str(tmp_path / "model")]
    assert main([*command, "--source-language", "gsw"]) == 2
    assert "give both --source-language and --target-language" in capsys.readouterr().err
    assert main([*command, "--source-tokenizer", "neutral"]) == 2
    assert "tokenizers are for raw text; give --raw, too" in capsys.readouterr().err
