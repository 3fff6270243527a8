"""A second model, whose translations count in minimum Bayes risk decoding, against counting by hand."""

import shutil

import pytest

from phrasebeam.base.errors import ConfigError
from phrasebeam.cli import main
from phrasebeam.decoder.explanation.explainer import Explainer
from phrasebeam.decoder.input.markup import read_markup
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import random_toy
from tests.naive import chrf as naive

LINES = ["a b c d", "d a b", "c x a d b", "b b c a d", "a d c b", "d c c a", ""]
SETTINGS = {"size": 12, "scale": 0.5, "gain": "chrf++"}
OWN = MbrSettings(**SETTINGS)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A model with a second one, and the second one alone."""
    directory = tmp_path_factory.mktemp("toys")
    second = random_toy(directory / "second", 3, most=3).directory
    model = random_toy(directory / "model", 7, most=3).directory
    shutil.copytree(second, model / "evidence")
    return model, second


@pytest.fixture(scope="module")
def decoders(folders):
    first, _ = (Decoder.load(folder, SearchSettings(stack=10)) for folder in folders)
    return first, Decoder.load(folders[1])


def shares_of(listed):
    """The probabilities of a list."""
    weights = naive.softmax([one.score for one in listed], SETTINGS["scale"])
    return [(one.text, weight) for one, weight in zip(listed, weights)]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_it_counts_by_its_share(decoders, share):
    first, _ = decoders
    changed = 0
    for line in LINES:
        own, other = (shares_of(one.nbest(line, SETTINGS["size"], distinct=True)) for one in decoders)
        references = [(text, (1 - share) * p) for text, p in own] + [(text, share * p) for text, p in other]
        gains = {
            text: sum(p * naive.chrf(naive.statistics(text, reference)) for reference, p in references)
            for text, _ in own
        }
        chosen = first.mbr(line, MbrSettings(**SETTINGS, evidence=share))
        assert gains[chosen.text] == pytest.approx(max(gains.values()), abs=1e-5)
        changed += chosen != first.mbr(line, OWN)
    assert (changed > 0) == (share > 0)


def test_only_plain_sentences_have_it(decoders):
    first, _ = decoders
    half = MbrSettings(**SETTINGS, evidence=0.5)
    with_term = read_markup('<x translation="s">a</x> b c d', "exclusive")
    assert first.evidence(first.input_of("a b c d"), half) is not None
    assert first.evidence(first.input_of("a b c d"), OWN) is None
    assert first.evidence(with_term, half) is None
    assert first.mbr(with_term, half) == first.mbr(with_term, OWN)


def test_a_share_needs_a_second_model_and_chrf(decoders, folders, tmp_path, capsys):
    with pytest.raises(
        ConfigError, match=r"evidence is 0\.3, but the model has no folder `evidence` with a second model"
    ):
        decoders[1].mbr("a b", MbrSettings(**SETTINGS, evidence=0.3))
    model = shutil.copytree(folders[1], tmp_path / "model")
    (tmp_path / "input").write_text("a b\n")
    for gain, said in (
        ("chrf++", "evidence is 0.5, but the model has no folder"),
        ("bleu", "but gain is bleu; set gain"),
    ):
        (model / "search.yaml").write_text(f"mbr: {{gain: {gain}, evidence: 0.5}}\n")
        arguments = [
            "translate",
            "--model",
            str(model),
            "--input",
            str(tmp_path / "input"),
            "--output",
            str(tmp_path / "o"),
        ]
        assert main(arguments) == 2
        complaint = capsys.readouterr().err.splitlines()[-1]
        assert complaint.startswith("phrasebeam: ") and said in complaint
        assert not (tmp_path / "o").exists()


def test_models_have_it_in_their_settings(folders, tmp_path, capsys):
    model = shutil.copytree(folders[0], tmp_path / "model")
    text = "".join(f"{key}: {value}, " for key, value in {**SETTINGS, "evidence": 0.9}.items())
    (model / "search.yaml").write_text(f"search: {{stack: 10}}\nmbr: {{{text.removesuffix(', ')}}}\n")
    decoder, risk = Decoder.load(model), MbrSettings(**SETTINGS, evidence=0.9)
    expected = [decoder.mbr(line, risk).text for line in LINES]
    assert [decoder.translate(line).text for line in LINES] == expected
    assert [one.text for one in decoder.translate_all(LINES, threads=2)] == expected
    assert [Explainer(decoder).explain(line).least_risk for line in LINES] == expected
    (tmp_path / "input").write_text("".join(f"{line}\n" for line in LINES))
    arguments = ["translate", "--model", str(model), "--input", str(tmp_path / "input"), "--output", "-"]
    assert main([*arguments, "--threads", "2"]) == 0
    assert capsys.readouterr().out.splitlines() == expected


def test_projects_of_a_server_have_it(folders, tmp_path):
    model = shutil.copytree(folders[0], tmp_path / "model")
    (model / "search.yaml").write_text(
        "search: {stack: 10}\nmbr: {size: 12, scale: 0.5, gain: chrf++, evidence: 0.9}\n"
    )
    known = Decoder.load(model)
    project = AdaptedDecoder.of(known)
    assert (project.request, project.confidence) == (known.request, known.confidence)
    half = MbrSettings(**SETTINGS, evidence=0.9)
    for line in filter(None, LINES):
        lists = [one.evidence(one.input_of(line), half).texts for one in (known, project)]
        assert lists[0] == lists[1]
        assert project.translate(line).text == project.mbr(line, half).text
    project.confirm("a b", "s t")
    assert project.evidence(project.input_of("a b c d"), half) is None
    assert project.translate("a b").text == "s t"


def test_confirmed_segments_count_more(folders):
    half = MbrSettings(**SETTINGS, evidence=0.5)
    decoder = AdaptedDecoder.load(folders[0])
    assert decoder.evidence(decoder.input_of("a b c d"), half) is not None
    decoder.confirm("a b", "s t")
    assert decoder.evidence(decoder.input_of("a b c d"), half) is None
