"""N-best lists of sentences with words that look like the fields' separator, written and read back."""

import pytest

from phrasebeam.cli import main
from phrasebeam.decoder.output.rendering import restore_bars
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.nbest.nbest_reader import NbestReader
from tests.decoder.models import random_toy

LINES = ["a ||| b", "||| x |||| ||", "&#124;&#124;&#124; |||&amp;", "\u00a0||| b\u2003= c"]


def entries(path):
    """(sentence, text, {name: values}, score) of each line."""
    reader, found = NbestReader(path), []
    for lines in reader:
        names, texts = reader.names.words, lines.hypotheses()
        for i, (sentence, score) in enumerate(zip(lines.sentence.tolist(), lines.score.tolist())):
            places = range(*lines.feature_first[i : i + 2])
            values = {names[lines.name[k]]: lines.value[slice(*lines.value_first[k : k + 2])].tolist() for k in places}
            found.append((sentence, texts[i], values, score))
    return found


def test_words_of_bars_stay_words(tmp_path, capsys):
    directory = random_toy(tmp_path / "toy", 7, most=3).directory
    lists, source = tmp_path / "lists", tmp_path / "source"
    source.write_text("".join(f"{line}\n" for line in LINES))
    options = ["--input", str(source), "--nbest", "3", "--nbest-output", str(lists), "--alignment", "--scores"]
    assert main(["translate", "--model", str(directory), *options]) == 0
    decoder = Decoder.load(directory)
    expected = [(i, one.text) for i, line in enumerate(LINES) for one in decoder.nbest(line, 3)]
    assert [entry[:2] for entry in entries(lists)] == expected
    best = [decoder.translate(line).text for line in LINES]
    outputs = capsys.readouterr().out.splitlines()
    assert [restore_bars(line.split(" ||| ")[0]) for line in outputs] == best
    assert all(len(line.split("|||")) == 4 for line in outputs)
    assert "|||" in "".join(best)

    (tmp_path / "weights").write_text("distortion= 0\n")  # the first of each is the best
    assert main(["rerank", "--weights", str(tmp_path / "weights"), "--nbest", str(lists)]) == 0
    assert capsys.readouterr().out.splitlines() == best


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ("d: 0 -7.5 0 lm: -41.25 -40.5 w: -9", {"d": [0, -7.5, 0], "lm": [-41.25, -40.5], "w": [-9]}),
        ("F0=-1 F1=-2.5e1 lm_0_oov=0.000", {"F0": [-1], "F1": [-25], "lm_0_oov": [0]}),
        ("d: 0 1 LM0= -2 wt_a~:= 1 pp_a=b=-3", {"d": [0, 1], "LM0": [-2], "wt_a~:": [1], "pp_a=b": [-3]}),
    ],
)
def test_names_of_old_moses_joshua_and_cdec(tmp_path, features, expected):
    (tmp_path / "nbest").write_text(f"0||| a b ||| {features} ||| -0.5 ||| 21.3\n")
    assert entries(tmp_path / "nbest") == [(0, "a b", expected, -0.5)]


@pytest.mark.parametrize(("names", "weights"), [("d: {} {} w: {}", "d= 0 1\nw= -1\n"), ("d={} e={} w={}", "e= 1\n")])
def test_such_lists_are_reranked(tmp_path, capsys, names, weights):
    lines = ("0||| some worse text here |||", (0, -3, -2)), ("0||| a better word here |||", (0, -1, -2))
    (tmp_path / "nbest").write_text("".join(f"{text} {names.format(*values)} ||| -1\n" for text, values in lines))
    (tmp_path / "reference").write_text("a better word here\n")
    (tmp_path / "weights").write_text(weights)
    lists = str(tmp_path / "nbest")
    assert main(["rerank", "--weights", str(tmp_path / "weights"), "--nbest", lists]) == 0
    assert capsys.readouterr().out == "a better word here\n"
    learn = ["--train", lists, "--reference", str(tmp_path / "reference"), "--weights", str(tmp_path / "learned")]
    assert main(["rerank", *learn, "--nbest", lists]) == 0
    assert capsys.readouterr().out == "a better word here\n"
    learned = [line.split()[0] for line in (tmp_path / "learned").read_text().splitlines()]
    assert learned == [token.split("=")[0] + "=" for token in names.replace(":", "=").split() if token[0] != "{"]
