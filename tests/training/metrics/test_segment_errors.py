"""Error rates against jiwer for all of Unicode, accuracy against counting, and their tests of significance."""

import json
from functools import cache

import jiwer
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.cli import main
from phrasebeam.training.metrics.evaluation import EvaluationOptions, evaluate_texts
from phrasebeam.training.metrics.metric import make_metric

TEXTS = st.text(max_size=12) | st.text("ab \u00a0\u3000\t", max_size=12) | st.text("e\u0301é", max_size=5)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5)
NAMES = ("wer", "cer", "accuracy")


def scores(texts, references, lowercase=False):
    options = EvaluationOptions(NAMES, lowercase=lowercase)
    results = evaluate_texts({"": texts}, references, options).results
    assert list(results) == ["WER", "CER", "accuracy"]
    return [one[0].score for one in results.values()]


@given(PAIRS, st.booleans())
def test_rates_are_those_of_jiwer(pairs, lowercase):
    texts, references = map(list, zip(*pairs))
    found = scores(texts, [references], lowercase)
    cased = [[text.strip().lower() if lowercase else text.strip() for text in side] for side in (references, texts)]
    assert found[0] == pytest.approx(100 * jiwer.wer(*cased))
    assert found[1] == pytest.approx(100 * jiwer.cer(*cased))
    assert found[2] == pytest.approx(100 * sum(one == other for one, other in zip(*cased)) / len(texts))


@given(PAIRS)
def test_trainers_have_the_same_numbers(pairs):
    texts, references = map(list, zip(*pairs))
    for name, score in zip(NAMES, scores(texts, [references])):
        metric = make_metric(name, [references])
        found = metric.corpus_score(metric.statistics(np.arange(len(texts)), texts))
        assert metric.reported(found) == pytest.approx(score, rel=1e-6)
        assert found <= 0 if name != "accuracy" else 0 <= found <= 1


def edits(text, reference):
    """Levenshtein's distance by its definition."""

    @cache
    def least(i, j):
        if not i or not j:
            return i + j
        return min(least(i - 1, j) + 1, least(i, j - 1) + 1, least(i - 1, j - 1) + (text[i - 1] != reference[j - 1]))

    return least(len(text), len(reference))


@given(st.lists(st.tuples(st.text("ab ", max_size=6), *[st.text("ab ", max_size=6)] * 2), min_size=1, max_size=4))
def test_of_several_references_the_closest_counts_by_their_mean_length(rows):
    rows = [[text.strip() for text in row] for row in rows]
    expected = []
    for split in (str.split, list):
        errors = sum(min(edits(split(text), split(one)) for one in references) for text, *references in rows)
        size = sum(len(split(one)) for _, *references in rows for one in references) / 2
        expected.append(100 * errors / (size or 1))
    expected.append(100 * np.mean([text in references for text, *references in rows]))
    texts, *references = map(list, zip(*rows))
    assert scores(texts, references) == pytest.approx(expected)


@pytest.mark.parametrize("test", ["--paired bootstrap", "--paired randomization", "--confidence"])
def test_significance(test, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"mba'éichapa {i} che irũ" for i in range(60)]
    (tmp_path / "reference").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "worse").write_text("".join(f"{line[i % 3 :]}\n" for i, line in enumerate(lines)))
    (tmp_path / "bad").write_text("".join(f"{line[5 + i % 9 :]}\n" for i, line in enumerate(lines)))
    systems = "worse" if test == "--confidence" else "worse bad"
    command = f"evaluate --hypothesis {systems} --reference reference --metric wer cer accuracy {test} --trials 200"
    assert main([*command.split(), "--json", "--width", "6"]) == 0
    printed = json.loads(capsys.readouterr().out)
    first = printed["systems"][0]
    expected = 100 * jiwer.cer(lines, (tmp_path / "worse").read_text().splitlines())
    assert first["CER"]["score"] == pytest.approx(expected, abs=1e-5)
    assert first["accuracy"]["score"] == pytest.approx(100 / 3, abs=1e-5)
    for name in ("WER", "CER", "accuracy"):
        if test != "--paired randomization":
            assert abs(first[name]["mean"] - first[name]["score"]) < 10 and first[name]["interval"] > 0
        if test != "--confidence":
            assert printed["systems"][1][name]["p_value"] < 0.05
        assert "|case:mixed|" in printed["signatures"][name] and "phrasebeam-" in printed["signatures"][name]
