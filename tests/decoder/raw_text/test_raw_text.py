"""Raw text to tokens and back: nothing that people write breaks a line, a format or the program."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.base.config import load_config, parse_config, save_config
from phrasebeam.base.errors import ConfigError, FormatError, ModelError
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings, raw_preprocessing, tokenizer_of
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.decoder.raw_text.preprocessing import RawText
from phrasebeam.decoder.raw_text.truecaser import Truecaser
from phrasebeam.decoder.tokenizers.moses import MosesTokenizer
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.lm.text.corpus import split
from tests.decoder.models import random_toy

LANGUAGES = ["en", "de", "fr", "cs", "fi", "it", "es", "ar", "hi", "ko", "nds"]
ODD = "abzA.,;:!?'\"`\u00b4„“”«»()[]{}<>|&#@$%€£/\\-\u2013…01 \t\r\x00\x1f\x7f\x85\u00a0\u3000\u2028\u200b\u200fß"
PIECES = [
    *(
        *ODD,
        "🙂",
        "👍🏽",
        "中国",
        "の",
        "한",
        "مرحبا،",
        "हिन्दी",
        "DOTMULTI",
        "http://a.b/c?d=e&f|g",
        "h-j.m@web.de",
        "www.",
    ),
    *("&apos;", "&#124;", "&amp;lt;", "<s>", "</s>", "|||", "...", "''", "``", "l'", "x' - li", "DOTMULTI"),
]
lines = st.lists(st.sampled_from(PIECES) | st.characters(exclude_categories=["Cs"]), max_size=15).flatmap(
    lambda pieces: st.sampled_from(["", " "]).map(lambda space: space.join(pieces).replace("\n", " "))
)
RAW = {
    "It's Bob's hat (of 1900).": None,
    'He says: "Mr. Smith, 3.5."': None,
    "Mehr auf https://a-b.de/x?y=1&z=2|3, oder hans.maier@web.de!": None,
    "(Siehe www.a.de/b.)": None,
    "AT&T | [x] <b>": "AT & T | [x] < b >",
    "  \t\u00a0Zu   viel\u3000Platz \r": "Zu viel Platz",
    "Er „lacht“ \u2013 3,5\u00a0% …": 'Er "lacht" - 3,5%...',
    "مرحبا يا صديقي.": None,
    "🙂 👍🏽": "🙂 👍 🏽",
    "": "",
    " \t\x00\u2028": "",
}


def settings(source="de", target="de", **changes):
    return parse_config({"source_language": source, "target_language": target, **changes}, RawTextSettings, "test")


def test_another_language_has_its_own_tokenizer():
    section = settings("es", "bzd", source_tokenizer="subwords", target_tokenizer="characters").model_dump()
    same = raw_preprocessing(section, {"source_language": "es", "target_language": "bzd"})
    assert (same.source_tokenizer, same.target_tokenizer) == ("subwords", "characters")
    other = raw_preprocessing(section, {"source_language": "de", "target_language": "bzd"})
    assert (other.source_tokenizer, other.target_tokenizer) == ("moses", "characters")
    told = raw_preprocessing(section, {"source_language": "de", "source_tokenizer": "neutral"})
    assert (told.source_tokenizer, told.target_tokenizer) == ("neutral", "characters")


@pytest.mark.parametrize(("raw", "expected"), RAW.items())
@pytest.mark.parametrize("escape", [True, False])
def test_there_and_back(raw, expected, escape):
    text = RawText(settings("en", "en", casing="keep", escape=escape))
    assert text.after(text.before(raw)) == (raw if expected is None else expected)


@given(
    line=lines, language=st.sampled_from(LANGUAGES), escape=st.booleans(), casing=st.sampled_from(["keep", "lowercase"])
)
def test_tokens_break_no_format(line, language, escape, casing):
    text = RawText(settings(language, language, escape=escape, casing=casing))
    tokenized = text.before(line)
    tokens = tokenized.split(" ") if tokenized else []
    assert tokens == tokenized.split() == split(tokenized)
    assert not {"|||", "<s>", "</s>", "<unk>"} & set(tokens)
    if escape and tokenizer_of(language) == "moses":
        assert not set(tokenized) & set("|<>[]\"'")
    assert len((text.after(tokenized) + ".").splitlines()) == 1
    assert len((text.after(line) + ".").splitlines()) == 1  # what a model might make up


def test_a_sentence_is_cased_as_in_its_middle_and_back():
    truecaser = Truecaser({"der": "der", "hund": "Hund"}, frozenset({"der", "Hund"}))
    text = RawText(settings(), (truecaser, truecaser))
    assert text.before('"Der Hund." Der HUND') == "&quot; der Hund &quot; . der Hund"  # normalized
    assert text.target.line("Der Hund") == "der Hund"
    assert text.after("&quot; der Hund . der Hund") == '"Der Hund. Der Hund'
    lower = RawText(settings(casing="lowercase"))
    assert (lower.before("Der HUND"), lower.after("der hund")) == ("der hund", "Der hund")


def test_a_translation_is_as_good_as_its_text(tmp_path):
    random_toy(tmp_path / "model", 3)
    translation, text = Decoder.load(tmp_path / "model").translate("a b c"), RawText(settings())
    assert text.after(translation) == text.after(translation.text) != ""
    with pytest.raises(ConfigError):
        text.after(["der", "hund"])  # not the brackets and commas of its str


def test_addresses_stay_whole_in_any_number_and_time():
    tokenizer = MosesTokenizer("de")
    assert tokenizer.tokens("(http://a.de/b?c=d).") == ["(", "http://a.de/b?c=d", ")", "."]
    assert tokenizer.tokens("x@y.de, bob@a") == ["x@y.de", ",", "bob", "@", "a"]
    assert tokenizer.tokens("http://a.de " * 5000) == ["http://a.de"] * 5000
    long = "a.b-" * 50_000  # quadratic if each letter might begin an address
    assert "".join(tokenizer.tokens(f"@ {long}")) == f"@{long}"
    assert len(RawText(settings()).before("Der Hund, " * 20_000).split()) == 60_000


def test_settings_that_are_refused():
    for code in ("d", "de en", "x", "de--AT", "de-123456789", ""):
        with pytest.raises(ConfigError, match=rf"source_language: .*such as de.*, found '{code}'"):
            settings(source=code)
    with pytest.raises(ConfigError, match=r"unknown key; did you mean casing\?"):
        settings(casin="keep")


def test_what_model_directories_lack(tmp_path):
    directory = random_toy(tmp_path / "toy", 3).directory
    with pytest.raises(ModelError, match=r"model.yaml: no preprocessing, .* train-model --raw"):
        RawText.load(directory)
    description = load_config(directory / "model.yaml", ModelDescription)
    save_config(description.model_copy(update={"preprocessing": settings()}), directory / "model.yaml")
    with pytest.raises(ModelError, match=r"truecase.source: missing; "):
        RawText.load(directory)
    for side in ("source", "target"):
        (directory / f"truecase.{side}").write_text("der (1/1)\n" if side == "source" else "x\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"truecase.target:1: expected"):
        RawText.load(directory)
    (directory / "truecase.target").write_text("the (1/1)\n", encoding="utf-8")
    assert RawText.load(directory).before("Der Hund.") == "der Hund ."


def test_models_of_before_know_tokenized_text(tmp_path):
    directory = random_toy(tmp_path / "toy", 3).directory
    path = directory / "model.yaml"
    old = path.read_text("utf-8").replace("preprocessing: null\n", "")
    assert "preprocessing" not in old
    path.write_text(old, encoding="utf-8")
    assert load_config(path, ModelDescription).preprocessing is None
