"""Each public function and method with wrong but plausible arguments: an error of users, never one from the depths."""

from inspect import Parameter, isclass, signature
from pathlib import Path

import pytest

import phrasebeam
from phrasebeam import SmtError

FUNCTIONS = sorted(
    name
    for name in dir(phrasebeam)
    if not name.startswith("_") and callable(getattr(phrasebeam, name)) and not isclass(getattr(phrasebeam, name))
)
# Without any argument, or with nothing but what a user writes by hand
WITHOUT = {"show_progress"}
WRONG = {
    "None": None,
    "a number": 3,
    "a dictionary": {"nonsense": 1},
    "an empty list": [],
    "a list": ["missing", "too"],
    "a generator": lambda: (one for one in ["missing"]),
    "a string": "missing",
    "a path": Path("missing"),
    "an object": object(),
}
FEWEST = 50  # sentence pairs of a demo
NAMES = [
    (name, one.name)
    for name in FUNCTIONS
    if name not in WITHOUT
    for one in signature(getattr(phrasebeam, name)).parameters.values()
]


def wrong(kind):
    value = WRONG[kind]
    return value() if callable(value) else value


def refused(call, *args, **options):
    """The call raises an error of users, of the system, or one that names a parameter; or it works."""
    try:
        found = call(*args, **options)
        if hasattr(found, "__next__"):
            list(found)
    except (SmtError, OSError) as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize(("name", "parameter"), NAMES)
def test_functions(tmp_path, monkeypatch, name, parameter, kind):
    monkeypatch.chdir(tmp_path)
    function = getattr(phrasebeam, name)
    needed = {one.name: "missing" for one in signature(function).parameters.values() if one.default is Parameter.empty}
    if name in ("translate", "preprocess"):
        needed["input"] = "missing"  # not standard input
    if name == "demo":
        needed["sentences"] = FEWEST  # where the argument is right after all, the demo runs
    refused(function, **needed | {parameter: wrong(kind)})


CALLS = {
    "translate": ("line",),
    "complete": ("line", "prefix"),
    "nbest": ("line", "n"),
    "mbr": ("line", "settings"),
    "lattice": ("line", "beam"),
    "answer": ("line", "request"),
    "answer_all": ("lines", "request"),
    "nbest_all": ("lines", "n"),
    "nbest_tables": ("lines", "n"),
    "translate_all": ("lines", "threads"),
    "within": ("search_settings",),
    "reweigh": ("weights", "sparse"),
}
RIGHT = {"line": "a b", "lines": ["a b"], "n": 2, "prefix": "v", "settings": None, "beam": 1.0, "threads": 1}


@pytest.fixture(scope="module")
def decoder(toy):
    return phrasebeam.Decoder.load(toy)


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize(("method", "parameter"), [(one, name) for one, names in CALLS.items() for name in names])
def test_methods_of_decoders(decoder, method, parameter, kind):
    right = RIGHT | {"request": phrasebeam.Request(), "search_settings": decoder.search_settings}
    right |= {"weights": decoder.weights, "sparse": None}
    refused(getattr(decoder, method), **{name: right[name] for name in CALLS[method]} | {parameter: wrong(kind)})


@pytest.mark.parametrize("kind", WRONG)
def test_classes(toy, decoder, kind):
    value = wrong(kind)
    for load in (phrasebeam.Decoder, phrasebeam.AdaptedDecoder, phrasebeam.ForcedDecoder, phrasebeam.RawText):
        refused(load.load, value)
    refused(phrasebeam.LanguageModel.load, value)
    for name in ("search_settings", "weights", "input_settings"):
        refused(phrasebeam.Decoder.load, toy, **{name: value})
        refused(phrasebeam.AdaptedDecoder.load, toy, **{name: value})
        refused(phrasebeam.ForcedDecoder.load, toy, **{name: value})
    for made in (phrasebeam.Decoder, phrasebeam.ForcedDecoder, phrasebeam.TextAligner, phrasebeam.RawText):
        refused(made, value)
    for field in ("n", "distinct", "mbr", "lattice", "sparse", "lattice_beam", "confidence"):
        refused(phrasebeam.Request, **{field: value})
    for field in ("metrics", "tokenize", "lowercase", "paired", "confidence", "trials", "seed"):
        refused(phrasebeam.EvaluationOptions, **{field: value})
    for field in ("words", "terms", "policy", "walls", "zones", "prefix", "held_out", "tags", "lattice"):
        refused(phrasebeam.Input, **{"words": "a b", field: value})
    for field in ("begin", "end", "target", "probability", "alignment"):
        refused(phrasebeam.Term, **{"begin": 0, "end": 1, "target": "v", field: value})
    refused(phrasebeam.HeldOutPair, value, ((0, 0),))
    refused(phrasebeam.HeldOutPair, "v", value)
    refused(phrasebeam.ForcedDecoder(decoder).force, "a", value)
    refused(phrasebeam.ForcedDecoder(decoder).force, value, "v")


def test_settings_are_sections_or_dictionaries(toy):
    decoder = phrasebeam.Decoder.load(toy, search_settings={"algorithm": "cube"})
    assert decoder.search_settings == phrasebeam.SearchSettings(algorithm="cube")
    weights = decoder.weights.model_dump()
    assert phrasebeam.Decoder.load(toy, weights=weights).weights == decoder.weights
    with pytest.raises(SmtError, match=r"Decoder\.load: weights: nonsense: unknown key; known keys: "):
        phrasebeam.Decoder.load(toy, weights={"nonsense": 1.0})
    with pytest.raises(SmtError, match="SearchSettings: stak: unknown key; did you mean stack"):
        phrasebeam.SearchSettings(stak=3)


def test_weights_go_from_one_decoder_to_another(toy):
    decoder = phrasebeam.Decoder.load(toy)
    other = decoder.with_weights(word_penalty=-3.0)
    assert (other.weights.word_penalty, decoder.weights.word_penalty != -3.0) == (-3.0, True)
    decoder.reweigh(other.weights)
    assert decoder.weights == other.weights
    assert decoder.translate("a b c") == other.translate("a b c")
    with pytest.raises(SmtError, match="weights: word_penaltie: unknown key; did you mean word_penalty"):
        decoder.with_weights(word_penaltie=1.0)


def test_several_sentences_are_not_one(toy):
    decoder = phrasebeam.Decoder.load(toy)
    for call in (decoder.translate, decoder.input_of, phrasebeam.Input, lambda line: decoder.nbest(line, 2)):
        with pytest.raises(SmtError, match=r"the word 'a b' has white space in it; .*translate_all and the like take"):
            call(["a b", "c d"])
    with pytest.raises(SmtError, match="the word '' is empty"):
        decoder.translate(["a", ""])
    assert decoder.translate(["a\u00a0b"]).text  # a space that is not one between words


def test_what_is_shown_of_lattices_and_lists(toy):
    decoder = phrasebeam.Decoder.load(toy)
    assert len(repr(decoder.lattice("a b c"))) < 200
    (table,) = decoder.nbest_tables(["a b c"], 3)
    assert table.names == decoder.features.names()
    assert table.features.shape[1] == len(table.names)


def test_wrong_texts_to_evaluate():
    for systems, references in ((["a"], ["a"]), ({"x": ["a"]}, "a"), ({"x": ["a", "b"]}, [["a"]]), (None, None)):
        with pytest.raises(SmtError):
            phrasebeam.evaluate_texts(systems, references)
