"""Tuning by other metrics than BLEU: each with methods of every kind, and shown as people know it."""

import csv

import pytest

from phrasebeam.cli import main
from phrasebeam.decoder.model.description import open_description
from tests.training.tuning.test_tune import data, options

pytestmark = pytest.mark.needs_jit
__all__ = ["data"]  # a fixture

OPTIMIZED = [("chrf++", "mert"), ("ter", "mert"), ("wer", "mira-corpus"), ("cer", "mert"), ("cer", "pro")]
OPTIMIZED += [("accuracy", "mert"), ("accuracy", "mira-batch"), ("wer", "mira-chiang"), ("cer", "online")]


@pytest.mark.parametrize(("metric", "method"), OPTIMIZED)
def test_other_metrics(data, tmp_path, capsys, metric, method):
    arguments = options(data, tmp_path / "out", "--metric", metric, "--method", method, "--iterations", "2")
    assert main(arguments) == 0
    header, row, *_ = capsys.readouterr().out.splitlines()
    assert header.split()[:5] == ["run", metric, "before", "tuned", "chrF++"]
    before, tuned, chrfpp = map(float, row.split()[1:4])
    sign = -1 if metric in ("ter", "wer", "cer") else 1
    assert sign * tuned >= sign * before and min(before, tuned) >= 0
    assert chrfpp == tuned if metric == "chrf++" else 0 <= chrfpp <= 100
    gain = open_description(tmp_path / "out").stages[-1].gain
    assert (f"; chrF++ {chrfpp:.2f}, " in gain) == (metric != "chrf++" and "nothing" not in gain)
    (curve,) = (tmp_path / "out" / "tuning").rglob("curve.csv")
    with open(curve) as file:
        assert f"{chrfpp:.2f}" in {f"{float(line['chrfpp']):.2f}" for line in csv.DictReader(file)}


def test_rerank(data, tmp_path, capsys):
    files = ["--model", data / "model", "--input", data / "source", "--output", tmp_path / "out"]
    assert main(["translate", *map(str, files), "--nbest", "10", "--nbest-output", str(tmp_path / "lists")]) == 0
    for metric in ("accuracy", "cer", "wer"):
        lists = ["--train", tmp_path / "lists", "--reference", data / "reference"]
        assert main(["rerank", "--weights", str(tmp_path / metric), *map(str, lists), "--metric", metric]) == 0
        told = next(line for line in capsys.readouterr().err.splitlines() if "on these lists: " in line)
        found, before = (float(word.strip(",")) for word in told.split() if word[0].isdigit())
        assert (found >= before) if metric == "accuracy" else 0 <= found <= before
