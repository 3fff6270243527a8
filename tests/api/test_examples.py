"""The examples in docstrings of public names give what they say, and the program of a user runs."""

import doctest
import runpy
from pathlib import Path

import pytest

import phrasebeam
from tests.api.conftest import SHORT, SHORT_LISTS
from tests.training.normalization.made_up_words import write_words

PUBLIC = [name for name in dir(phrasebeam) if not name.startswith("_")]
PROGRAM = Path(__file__).parent / "user_program.py"
# Without an example: settings, errors, what others make, and what runs until a signal comes
WITHOUT = {"load_config", "show_progress", "export_moses", "serve"}
ELSEWHERE = {"warm_up"}  # runs in tests/kernels/test_warm_up.py, for more than a minute


def examples(name):
    """The examples of a public name: of a class, those of its methods, too."""
    found = getattr(phrasebeam, name)
    return [one for one in doctest.DocTestFinder(recurse=True).find(found, name) if one.examples]


def short_settings(name):
    return SHORT_LISTS if name == "train_expected_bleu" else SHORT


@pytest.mark.parametrize("name", [name for name in PUBLIC if examples(name) and name not in ELSEWHERE])
def test_examples_give_what_they_say(here, name):
    names = {one: getattr(phrasebeam, one) for one in PUBLIC} | {"SHORT": short_settings(name)}
    if name == "rerank":
        write_lists(here / "dev.nbest")
    if name == "Normalizer":
        write_words(here / "words")
        recipe = {"normalizer": {"folds": 2, "candidates": {"nbest": 10}}}
        phrasebeam.train(None, None, None, None, "normalizer", recipe=recipe, pairs="words/train.tsv")
    for one in examples(name):
        result = doctest.DocTestRunner().run(doctest.DocTest(one.examples, dict(names), name, None, 0, None))
        assert result.failed == 0
        assert result.attempted > 0


def write_lists(path):
    phrasebeam.translate("model", input="dev.de", nbest=5, nbest_output=path)


def test_functions_have_examples():
    functions = [name for name in PUBLIC if name.islower() and name not in WITHOUT]
    assert [name for name in functions if not examples(name)] == []


def test_the_program_of_a_user_runs(here, capsys):
    runpy.run_path(str(PROGRAM), run_name="__main__")
    assert capsys.readouterr().out.startswith("BLEU ")
