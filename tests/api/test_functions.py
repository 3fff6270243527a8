"""Each command has a function of the same name, which tells of its options and refuses what is wrong."""

from inspect import Parameter, signature

import pytest

import phrasebeam
from phrasebeam.base.errors import ConfigError
from phrasebeam.cli import COMMANDS

ARGUMENTS = {"config": ("name",)}  # that may be left out, and stand on the command line without a name, too


def function_of(command):
    return getattr(phrasebeam, command.replace("-", "_"))


@pytest.mark.parametrize("command", COMMANDS)
def test_docstrings_tell_of_all_arguments(command):
    function = function_of(command)
    told = function.__doc__ or ""
    for name in signature(function).parameters:
        assert f"\n    {name}: " in told, name
    assert "Raises" in told or "Returns" in told


@pytest.mark.parametrize("command", COMMANDS)
def test_arguments_that_may_be_left_out_have_names(command):
    for one in signature(function_of(command)).parameters.values():
        if one.name in ARGUMENTS.get(command, ()):
            continue
        assert (one.kind == Parameter.KEYWORD_ONLY) == (one.default is not Parameter.empty), one.name


def test_settings_may_be_a_file_a_dictionary_or_a_section(here):
    settings = {"iterations": 1, "nbest": 10, "method": "pro"}
    (here / "tune.yaml").write_text("iterations: 1\nnbest: 10\nmethod: pro\n")
    given = {"file": "tune.yaml", "dictionary": settings, "section": phrasebeam.TuneConfig(**settings)}
    for name, config in given.items():
        phrasebeam.tune("model", "dev.de", "dev.en", name, config=config)
    weights = {(here / name / "weights.yaml").read_text() for name in given}
    assert len(weights) == 1
    with pytest.raises(ConfigError, match="settings: nbst: unknown key; did you mean nbest"):
        phrasebeam.tune("model", "dev.de", "dev.en", "other", config={"nbst": 3})


def test_results_are_those_of_the_command(here):
    from phrasebeam.cli import main

    command = "tune --model model --source dev.de --reference dev.en --iterations 1 --nbest 10 --output by-command"
    assert main(command.split()) == 0
    outcome = phrasebeam.tune("model", "dev.de", ["dev.en"], here / "tuned", iterations=1, nbest=10)
    assert (here / "by-command/weights.yaml").read_bytes() == (here / "tuned/weights.yaml").read_bytes()
    assert outcome.gain.metric == "bleu"
    assert outcome.gain.best == max(outcome.gain.before, outcome.result[0].score)


def test_functions_print_nothing(here, capfd):
    phrasebeam.build_lm(["train.en"], "lm.arpa", order=2, memory=2**30)
    phrasebeam.evaluate("dev.en", "dev.en", tokenize="none")
    phrasebeam.join_features("model", "model-with-features", "both")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (
            lambda: phrasebeam.build_lm("train.en", "lm.bin", order=99),
            "order is 99, expected a whole number from 2 to 8",
        ),
        (
            lambda: phrasebeam.cluster("train.en", "classes", classes=1),
            "classes is 1, expected a whole number from 2 to 5000",
        ),
        (lambda: phrasebeam.explain("model-with-features", top=0), "top is 0, expected a whole number from 1 to"),
        (lambda: phrasebeam.explain("model"), "no sparse features to explain"),
        (
            lambda: phrasebeam.forced_decode("model", "dev.de", "dev.en", "out", threads=0),
            "threads is 0, expected a whole number from 1 to 1024",
        ),
        (lambda: phrasebeam.train_model("train.de", "train.en", "m", memory=5), "memory: should be at least 384M"),
        (lambda: phrasebeam.evaluate("dev.en", "dev.en", metric="blue"), "metric"),
    ],
)
def test_mistakes_are_one_line(here, call, complaint):
    with pytest.raises(ConfigError, match=complaint) as error:
        call()
    assert "\n" not in str(error.value)
