"""N-best lists of sentences with words that look like the fields' separator, written and read back."""

from phrasebeam.cli import main
from phrasebeam.decoder.output.rendering import restore_bars
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.nbest.moses_nbest import read_nbest
from tests.decoder.models import random_toy

LINES = ["a ||| b", "||| x |||| ||", "&#124;&#124;&#124; |||&amp;", "\u00a0||| b\u2003= c"]


def test_words_of_bars_stay_words(tmp_path, capsys):
    directory = random_toy(tmp_path / "toy", 7, most=3).directory
    lists, source = tmp_path / "lists", tmp_path / "source"
    source.write_text("".join(f"{line}\n" for line in LINES))
    options = ["--input", str(source), "--nbest", "3", "--nbest-output", str(lists), "--alignment", "--scores"]
    assert main(["translate", "--model", str(directory), *options]) == 0
    decoder = Decoder.load(directory)
    expected = [(i, one.text) for i, line in enumerate(LINES) for one in decoder.nbest(line, 3)]
    assert [(entry.sentence, entry.text) for entry in read_nbest(lists)] == expected
    best = [decoder.translate(line).text for line in LINES]
    outputs = capsys.readouterr().out.splitlines()
    assert [restore_bars(line.split(" ||| ")[0]) for line in outputs] == best
    assert all(len(line.split("|||")) == 4 for line in outputs)
    assert "|||" in "".join(best)

    (tmp_path / "weights").write_text("distortion= 0\n")  # the first of each is the best
    assert main(["rerank", "--weights", str(tmp_path / "weights"), "--nbest", str(lists)]) == 0
    assert capsys.readouterr().out.splitlines() == best
