"""Recipes of ARCHITECTURE.md: features, dense and sparse, and scores of phrase pairs."""

import numpy as np
import pytest
import yaml

from tests.recipes.package_copy import PERCEPTRON, training, tuned


def test_a_dense_feature_of_phrase_pairs(copy, data, tmp_path):
    pair = "decoder/features/pair.py"
    last = (
        '    DenseFeature("unique_rule", "1 for each phrase pair that was extracted only once", needs_counts=True),\n'
    )
    copy.replace(pair, last, last + '    DenseFeature("target_longer", "1 where the target side has more words"),\n')
    index = 'UNIQUE_RULE = np.int64(names_of(PAIR_FEATURES).index("unique_rule"))\n'
    copy.replace(
        pair, index, index + index.replace("UNIQUE_RULE", "TARGET_LONGER").replace("unique_rule", "target_longer")
    )
    value = "    if feature == TARGET_LONGER:\n        return 1.0 if target_length > source_length else 0.0\n"
    last = "    return own_feature("
    copy.replace(pair, last, value + last)
    tuned(copy, data, tmp_path / "out", {"add": {"target_longer": True}})
    weights = yaml.safe_load((tmp_path / "out" / "weights.yaml").read_text())
    assert isinstance(weights["target_longer"], float)
    lists = ("--nbest", 1, "--nbest-output", "-")
    fields = copy.run("translate", "--model", tmp_path / "out", *lists, text="a k\n").split(" ||| ")
    longer = sum(len(phrase.split()) > 1 for phrase in fields[1:2])
    assert f"target_longer= {longer}" in fields[2].replace("TargetLonger", "target_longer")


REPEATED_WORDS = '''"""Repeated words: how many target words are the same as the word before them."""

import numpy as np

from phrasebeam.decoder.features.dense_feature import DenseFeature
from phrasebeam.decoder.features.stateful_feature import StatefulFeature, target_span
from phrasebeam.kernels.jit import inlined_kernel


@inlined_kernel
def _n_repeated(words, first, end, last):
    count = 0
    for i in range(first, end):
        count += words[i] == last
        last = np.int64(words[i])
    return count


@inlined_kernel
def _score(space, step, column, is_monotone):
    first, end = target_span(space.options, step.option)
    last = space.histories.columns[step.history, column]
    return space.weights.repeated_words * _n_repeated(space.options.words, first, end, last)


@inlined_kernel
def _follow(space, step, column):
    first, end = target_span(space.options, step.option)
    last = space.histories.columns[step.history, column]
    space.histories.row[column] = np.int64(space.options.words[end - 1]) if first < end else last
    return True


@inlined_kernel
def _add_value(tables, sentence, space, phrase, features):
    first, words = phrase.position, space.words
    last = np.int64(words[first - 1]) if first > 0 else np.int64(-1)
    features[space.places.repeated_words] += _n_repeated(words, first, first + phrase.size, last)


REPEATED_WORDS = StatefulFeature(
    "repeated_words",
    DenseFeature("repeated_words", "number of target words that are the same as the one before"),
    _add_value,
    n_columns=1,  # the last target word, -1 at the start
    score=_score,
    follow=_follow,
)
'''


def test_a_dense_feature_with_history(copy, data, tmp_path):
    copy.write("decoder/features/repeated_words.py", REPEATED_WORDS)
    stateful = "decoder/features/stateful.py"
    last = "from phrasebeam.decoder.features.sparse_history import SPARSE_HISTORY\n"
    new = last.replace("sparse_history", "repeated_words").replace("SPARSE_HISTORY", "REPEATED_WORDS")
    copy.replace(stateful, last, new + last)
    copy.replace(stateful, "SPARSE_HISTORY, OPERATIONS)", "SPARSE_HISTORY, OPERATIONS, REPEATED_WORDS)")
    tuned(copy, data, tmp_path / "out", {"add": {"repeated_words": True}})
    path = tmp_path / "out" / "weights.yaml"
    weights = yaml.safe_load(path.read_text())
    assert isinstance(weights["repeated_words"], float)
    weights["repeated_words"] = -0.7
    path.write_text(yaml.safe_dump(weights))
    model, line = ("--model", tmp_path / "out"), "a a a k a a b\n"
    for algorithm in ("stack", "cube"):
        lists = ("--nbest", 20, "--nbest-output", "-", "--algorithm", algorithm)
        found = copy.run("translate", *model, *lists, text=line).splitlines()
        assert len({check_repeated_words(entry, weights) for entry in found}) > 1
    _, text, _, score = found[0].split(" ||| ")
    (tmp_path / "source").write_text(line)
    (tmp_path / "target").write_text(f"{text}\n")
    files = ("--source", tmp_path / "source", "--reference", tmp_path / "target", "--output", tmp_path / "forced")
    copy.run("forced-decode", *model, *files)
    forced = yaml.safe_load((tmp_path / "forced").read_text())
    assert forced["score"] >= float(score) - 1e-4
    assert forced["score"] == pytest.approx(dot(weights, forced["features"]), abs=1e-4)


def dot(weights, features):
    """The score by the weights and values of features, by their names."""
    return sum(float(np.sum(np.multiply(weights[name], value))) for name, value in features.items())


def check_repeated_words(entry, weights):
    """The value of the feature in an entry of an n-best list, which is as the text says, and the score as all say."""
    _, text, values, score = entry.split(" ||| ")
    words, features, name = text.split(), {}, ""
    for part in values.split():
        name = part.removesuffix("=") if part.endswith("=") else name
        if not part.endswith("="):
            features.setdefault(name, []).append(float(part))
    assert features["repeated_words"] == [sum(map(str.__eq__, words, words[1:]))]
    assert float(score) == pytest.approx(dot(weights, features), abs=1e-3)
    return features["repeated_words"][0]


def test_a_sparse_template(copy, data, tmp_path):
    templates = "decoder/sparse/templates.py"
    group = '    SparseGroup("rule_id", "the phrase pair", "rule", lambda context: [context.rule], rate=1.0),\n'
    names = "lambda context: [context.target[-1]] if context.target else []"
    new = f'    SparseGroup("last_word", "the last target word", "rule", {names}, rate=1.0),\n'
    copy.replace(templates, group, group + new)
    kernels, first = "decoder/sparse/template_kernels.py", "    if sparse.active[INDEX.rule_id]:\n"
    asked = "    if sparse.active[INDEX.last_word] and size > 0:\n"
    word = "np.int64(target_class(sparse, sentence.synthetic, np.int64(words[size - 1]), WORD))"
    fired = f"{asked}        fire(fired, INDEX.last_word, combine(START, {word}), ONE)\n"
    copy.replace(kernels, first, fired + first)
    settings = PERCEPTRON | {"templates": {"last_word": True}, "rates": {"last_word": 1.0}}
    copy.run(*training(data, "train-maxforce", tmp_path / "out", settings | {"update": "local"}))
    assert "last_word" in yaml.safe_load((tmp_path / "out" / "weights.yaml").read_text())
    with np.load(tmp_path / "out" / "maxforce" / "seed-1" / "shard-0.npz") as checkpoint:
        assert checkpoint["keys"].size > 0
    fields = copy.run("translate", "--model", tmp_path / "out", "--nbest", 1, "--nbest-output", "-", text="a k\n")
    assert "last_word= " in fields


def test_a_score_of_phrase_pairs(copy, data, tmp_path):
    scoring = "training/model_building/piece_scoring.py"
    line = "    ln_scores[:, 2] = np.log(joint_counts"
    copy.replace(scoring, line, "    ln_scores[:, 4] = np.log(joint_counts)\n" + line)
    copy.replace("training/model_building/config.py", "N_SCORES = 4 ", "N_SCORES = 5 ")
    files = {"source": "train.source", "target": "train.target", "alignment": "train.alignment"}
    given = [part for name, file in files.items() for part in (f"--{name}", data / file)]
    copy.run("train-model", *given, "--threads", 1, "--output", tmp_path / "model")
    scores = np.load(tmp_path / "model" / "phrases" / "ln_scores.npy")
    counts = np.load(tmp_path / "model" / "phrases" / "joint_counts.npy")
    assert scores.shape[1] == 5 and np.allclose(scores[:, 4], np.log(counts))
    settings = {"iterations": 1, "nbest": 5, "sentences": 10, "tune": None, "templates": {"rule_id": True}}
    learned = training(data, "train-ranking", tmp_path / "out", settings)  # leaves a sentence pair out
    learned[learned.index("--model") + 1] = tmp_path / "model"
    copy.run(*learned)
    assert len(yaml.safe_load((tmp_path / "out" / "weights.yaml").read_text())["translation"]) == 5
    lists = ("--nbest", 1, "--nbest-output", "-")
    assert copy.run("translate", "--model", tmp_path / "out", *lists, text="a k\n")
    copy.run("check-model", tmp_path / "out")
