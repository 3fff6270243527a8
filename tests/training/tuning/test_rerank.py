"""N-best lists of other decoders: read, learned from, reranked."""

import numpy as np
import pytest

from phrasebeam.base.errors import FormatError
from phrasebeam.cli import main
from phrasebeam.training.metrics.metric import make_metric
from phrasebeam.training.nbest.moses_nbest import find_layout, key_of, store_nbest
from phrasebeam.training.nbest.nbest_reader import NbestReader
from phrasebeam.training.nbest.nbest_store import NbestStore
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.methods.registry import METHODS
from phrasebeam.training.tuning.rerank import learn, load_weights, rerank

WEIGHTS = {"LM0": [0.5], "TM0": [1.0, -0.25]}
LISTS = [
    [
        ("a b c e", -0.125, -0.25, 0.5, {}),
        ("a b c d", -0.25, -0.5, 0.125, {"good_d": 1}),
        ("x", -0.5, -1, 0, {"bad": 2}),
    ],
    [("d", -0.125, 0, 0.25, {"bad": 1}), ("a b c d", -0.25, -0.25, 0.5, {"good_d": 1})],
    [("a b c d", -0.125, -0.0625, 0.5, {"good_d": 1, "bad": 0.5})],
]
REFERENCES = ["a b c d"] * 3


def lines():
    for number, entries in enumerate(LISTS):
        for text, lm, one, two, sparse in entries:
            score = 0.5 * lm + one - 0.25 * two - 100 * number  # with what a whole sentence shares
            fields = "".join(f" {name}= {value}" for name, value in sparse.items())
            yield f"{number} ||| {text}  ||| LM0= {lm} TM0= {one} {two}{fields} ||| {score} ||| 0=0 ||| 0-0"


@pytest.fixture
def nbest(tmp_path):
    path = tmp_path / "nbest"
    path.write_text("".join(f"{line}\n" for line in lines()))
    return path


@pytest.fixture
def reference(tmp_path):
    path = tmp_path / "reference"
    path.write_text("".join(f"{line}\n" for line in REFERENCES))
    return path


def test_lists_are_stored(nbest, tmp_path):
    layout, metric = find_layout(nbest), make_metric("bleu", [REFERENCES])
    assert layout.dense == {"LM0": 1, "TM0": 2}
    assert layout.names == ["LM0", "TM0", "TM0"]
    assert sorted(layout.sparse.values()) == ["bad", "good_d"]
    store = NbestStore(tmp_path / "store", 3, 3, metric.n_statistics)
    weights = store_nbest(nbest, layout, metric, store)
    lists = store.lists()
    assert lists.first.tolist() == [0, 3, 5, 6]
    assert lists.dense.tolist() == [[entry[1], entry[2], entry[3]] for entries in LISTS for entry in entries]
    assert list(store.texts()) == [entry[0] for entries in LISTS for entry in entries]
    assert store.keys.tolist() == [key_of("good_d"), key_of("bad")]
    assert lists.sparse_value.tolist() == [1, 2, 1, 1, 1, 0.5]
    # The weights behind the scores, though the scores have parts that the features have not.
    differences = np.array([[-1, -2, -3], [-3, -6, -4], [-1, -2, 2]])
    assert differences @ weights == pytest.approx(differences @ [0.5, 1.0, -0.25])
    store.close()


@pytest.mark.parametrize("method", ["mert", "mira-batch", "mira-corpus", "mira-chiang", "pro"])
def test_the_command_learns_and_reranks(nbest, reference, tmp_path, capsys, method):
    weights = tmp_path / "weights"
    learn = ["--train", str(nbest), "--reference", str(reference), "--method", method, "--weights", str(weights)]
    config = tmp_path / "config"
    config.write_text("pro: {interpolation: 1.0, penalty: 0.01}\nmira_corpus: {c: 1.0}\nmira_chiang: {c: 1.0}\n")
    assert main(["rerank", *learn, "--config", str(config), "--nbest", str(nbest)]) == 0
    assert capsys.readouterr().out.splitlines() == REFERENCES
    assert main(["rerank", "--weights", str(weights), "--nbest", str(nbest)]) == 0
    assert capsys.readouterr().out.splitlines() == REFERENCES
    assert main(["rerank", "--weights", str(weights), "--nbest", str(nbest), "--output", str(tmp_path / "out")]) == 0
    assert (capsys.readouterr().out, (tmp_path / "out").read_text().splitlines()) == ("", REFERENCES)
    assert {"LM0", "TM0"} <= set(load_weights(weights))


def test_nothing_gained_is_said(nbest, reference, tmp_path, capsys):
    (tmp_path / "config").write_text("fixed: [LM0, TM0]\n")
    (tmp_path / "same").write_text("".join(f"{line}\n" for line in lines() if "good_d" in line))
    (tmp_path / "reference").write_text("a b c d\n" * 3)
    arguments = ["rerank", "--weights", str(tmp_path / "weights"), "--reference", str(reference), "--method", "mert"]
    for lists, more, status in (("same", [], 0), ("same", ["--require-gain"], 3), ("nbest", ["--require-gain"], 0)):
        assert main([*arguments, "--train", str(tmp_path / lists), *more]) == status
        errors = capsys.readouterr().err.splitlines()
        assert errors[-1].startswith("phrasebeam: nothing gained: 100.00 on these lists, 100.00 by") == (
            lists == "same"
        )


@pytest.mark.parametrize("method", METHODS)
def test_the_largest_values_are_learned_from(tmp_path, method):
    (tmp_path / "nbest").write_text(
        "0 ||| a ||| LM0= 1e29 ||| 1\n0 ||| b ||| LM0= -1e30 ||| 1e30\n1 ||| a ||| LM0= 3 ||| 1\n"
    )
    metric = make_metric("bleu", [["a", "b"]])
    learned = learn(tmp_path / "nbest", metric, TuneConfig(method=method))
    assert np.isfinite([learned.score, *learned.weights["LM0"]]).all()


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no lines"),
        ("0 ||| a ||| LM0= 1\n", "1: 3 fields"),
        ("0 ||| a ||| LM0= 1 LM0= 1 ||| 1\n", "1: the feature 'LM0' occurs twice"),
        ("0 ||| a ||| 1 ||| 1\n", "1: the value '1' has no name"),
        ("0 ||| a ||| =1 ||| 1\n", "1: the value '=1' has no name"),
        ("0 ||| a ||| F0=-1 F0=-2 ||| 1\n", "1: the feature 'F0' occurs twice"),
        ("0 ||| a ||| F0=x ||| 1\n", "1: a feature is 'x', expected a number"),
        ("0 ||| a ||| LM0= x ||| 1\n", "1: a feature is 'x', expected a number"),
        ("0 ||| a ||| LM0= 1 nan ||| 1\n", "1: a feature is 'nan', expected a number up to 1e\\+30"),
        ("0 ||| a ||| LM0= inf ||| 1\n", "1: a feature is 'inf', expected a number up to"),
        ("0 ||| a ||| LM0= 1e308 ||| 1\n", "1: a feature is '1e308', expected a number up to"),
        ("0 ||| a ||| LM0= 1 ||| 1\n0 ||| b ||| LM0= 1 ||| -inf\n", "2: the score is '-inf', expected a number"),
        ("9" * 5000 + " ||| a ||| LM0= 1 ||| 1\n", "1: the sentence '9{79}\\.\\.\\., expected its number"),
        ("x ||| a ||| LM0= 1 ||| 1\n", "1: the sentence 'x', expected its number"),
        ("1 ||| a ||| LM0= 1 ||| 1\n", "1: sentence 1, expected 0"),
        ("0 ||| a ||| LM0= 1 ||| 1\n2 ||| a ||| LM0= 1 ||| 1\n", "2: sentence 2, expected 0 or 1"),
        ("0 ||| a ||| LM0= 1 ||| 1\n0 ||| a ||| LM0= 1 2 ||| 1\n", "2: the feature 'LM0' has 2 values, before 1"),
        ("0 ||| a ||| LM0= 1 2 ||| 1\n0 ||| a ||| TM0= 1 2 ||| 1\n", "'LM0' has 2 values, but is missing"),
    ],
)
def test_lists_that_are_none(tmp_path, text, message):
    path = tmp_path / "nbest"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        find_layout(path)


def test_lists_and_references_that_do_not_match(nbest, tmp_path):
    layout = find_layout(nbest)
    for references, message in ((["a"] * 2, "more sentences"), (["a"] * 4, "3 sentences, the references have 4")):
        metric = make_metric("bleu", [references])
        store = NbestStore(tmp_path / "store", len(references), 3, metric.n_statistics)
        with pytest.raises(FormatError, match=message):
            store_nbest(nbest, layout, metric, store)
        store.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--weights", "w"], "nothing to do"),
        (["--weights", "w", "--train", "x"], "--train and --reference need each other"),
        (["--weights", "missing", "--nbest", "x"], "missing"),
    ],
)
def test_mistakes(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(["rerank", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.kernels
def test_the_best_of_each_list_is_the_first_with_the_largest_sum(nbest):
    for factors in ({"LM0": [1]}, {"TM0": [0.25, 2], "bad": [-3]}, {"good_d": [-1], "no": [1]}, {"bad": [0]}):
        flat = {name: [*values, 0][:2] for name, values in factors.items()}
        lm, (one, two) = flat.get("LM0", [0])[0], flat.get("TM0", [0, 0])
        best = []
        for entries in LISTS:
            scores = [lm * row[1] + one * row[2] + two * row[3] for row in entries]
            for i, row in enumerate(entries):
                scores[i] += sum(value * flat.get(name, [0])[0] for name, value in row[4].items())
            best.append(entries[scores.index(max(scores))][0])
        assert list(rerank(nbest, factors)) == best


def test_weights_that_do_not_fit(nbest, tmp_path, capsys):
    (tmp_path / "w").write_text("TM0= 1\n")
    assert main(["rerank", "--weights", str(tmp_path / "w"), "--nbest", str(nbest)]) == 2
    assert "'TM0' has 2 values, but 1 weights" in capsys.readouterr().err
    for text, message in (
        ("TM0 1\n", "1: expected a name and weights"),
        ("TM0= 1\nTM0= 1\n", "2: weights of 'TM0' a second time"),
        ("TM0= nan\n", "1: a weight is 'nan', expected a number"),
        ("TM0= 1e308\n", "1: a weight is '1e308', expected a number up to"),
    ):
        (tmp_path / "w").write_text(text)
        with pytest.raises(FormatError, match=message):
            load_weights(tmp_path / "w")
    assert sum(lines.sentence.size for lines in NbestReader(nbest)) == 6


@pytest.fixture
def with_noise(tmp_path):
    """Lists with a feature Neural that the scores do not come from, of numbers as decoders print them."""
    generator, path = np.random.default_rng(3), tmp_path / "noisy"
    with path.open("w") as file:
        for number in range(3):
            for text in ("a b c d", "a b c e", "x d", "d c b a"):
                lm, tm, neural = generator.normal(-20, 5, 3).round(4)
                score = round(0.5 * lm + 0.2 * tm - 30 * number, 3)
                file.write(f"{number} ||| {text} ||| LM= {lm} TM= {tm} Neural= {neural} ||| {score}\n")
    return path


@pytest.mark.parametrize("method", METHODS)
def test_a_fixed_weight_stays_what_it_was(with_noise, reference, tmp_path, method):
    (tmp_path / "config").write_text("fixed: [Neural, LM]\n")
    (tmp_path / "start").write_text("LM= 0.3\nTM= -0.7\nNeural= 0.1\n")
    arguments = ["rerank", "--train", str(with_noise), "--reference", str(reference), "--method", method]
    arguments += ["--config", str(tmp_path / "config"), "--weights", str(tmp_path / "w")]
    assert main([*arguments, "--start-weights", str(tmp_path / "start")]) == 0
    learned = load_weights(tmp_path / "w")
    assert (learned["Neural"], learned["LM"]) == ([0.1], [0.3])


def test_a_feature_that_scores_do_not_come_from_begins_at_0(tmp_path):
    rows = [("a", -1.1, -0.3, 7.7), ("b", -2.3, -0.9, -3.3), ("c", -0.7, -1.9, 1.3), ("d", -3.1, 0.7, 5.9)]
    lines = [f"0 ||| {text} ||| LM= {lm} TM= {tm} Neural= {new} ||| {0.5 * lm + tm}\n" for text, lm, tm, new in rows]
    (tmp_path / "nbest").write_text("".join(lines))
    learned = learn(tmp_path / "nbest", make_metric("bleu", [["d"]]), TuneConfig(fixed=["Neural"]))
    assert learned.weights["Neural"] == [0.0]


def test_learning_begins_with_given_weights(nbest, reference, tmp_path, capsys):
    (tmp_path / "start").write_text("LM0= 0\nTM0= 0 0\ngood_d= 5\n")
    arguments = ["rerank", "--train", str(nbest), "--reference", str(reference), "--weights", str(tmp_path / "w")]
    assert main([*arguments, "--start-weights", str(tmp_path / "start")]) == 0
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .endswith("nothing gained: 100.00 on these lists, 100.00 by the weights begun with")
    )
    assert main(["rerank", "--start-weights", "start", "--weights", "w", "--nbest", "n"]) == 2
    assert "--start-weights needs --train" in capsys.readouterr().err
    assert main([*arguments, "--start-weights", str(tmp_path / "w")]) == 2
    assert "is an input and would be replaced" in capsys.readouterr().err


def test_names_that_do_not_match_are_told(nbest, reference, tmp_path, capsys):
    weights = tmp_path / "w"
    weights.write_text("LM= 1\nTM0= 1 1\n")
    command = ["rerank", "--weights", str(weights), "--nbest", str(nbest)]
    assert main([*command, "--memory", "64G"]) == 0  # the process of the tests may hold more than the default
    assert capsys.readouterr().err.splitlines() == [
        f"{nbest}: features without a weight, which are ignored: 'LM0'",
        f"{nbest}: no line has the features of these weights: 'LM'",
    ]
    weights.write_text("LM= 1\n" + "".join(f"x{i}= 1\n" for i in range(9)))
    again = ["--train", str(nbest), "--reference", str(reference), "--weights", "o", "--start-weights", str(weights)]
    for arguments in (["--weights", str(weights), "--nbest", str(nbest)], again):
        assert main(["rerank", *arguments, "--memory", "64G"]) == 2
        message = capsys.readouterr().err.splitlines()[-1]
        assert f"{nbest}: no feature has a weight: the list has 'LM0', 'TM0', " in message
        assert "the weights are of 'LM', 'x0', 'x1', 'x2', 'x3' and 5 more; give both the same names" in message


def test_fixed_names_of_no_feature_are_told(nbest, reference, tmp_path, capsys):
    (tmp_path / "config").write_text("fixed: [LM, good_d]\n")
    arguments = ["rerank", "--train", str(nbest), "--reference", str(reference), "--weights", str(tmp_path / "w")]
    assert main([*arguments, "--config", str(tmp_path / "config")]) == 0
    assert f"{nbest}: no line has the features to be fixed: 'LM'\n" in capsys.readouterr().err
    assert "good_d" not in load_weights(tmp_path / "w")
