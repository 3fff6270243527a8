"""Moses' features of words: imported by its names, scored as it defines them, listed and exported by its names."""

import gzip
from itertools import pairwise

import numpy as np
import pytest

from phrasebeam.cli import main
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import accept_files
from phrasebeam.decoder.model.moses_names import MosesFeature, fitting_names
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.moses.exporting import export_moses
from phrasebeam.decoder.moses.importing import import_moses
from phrasebeam.decoder.moses.sparse import word_features
from phrasebeam.decoder.output.rendering import render, render_nbest
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.sparse.sparse_files import save_feature_names
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import random_toy
from tests.decoder.translate_here import translate_here
from tests.naive.hashes import combine, mix, name_hash
from tests.naive.phrase_templates import phrase_hash, phrase_text, word_names

FEATURES = """\
TargetWordInsertionFeature name=twi factor=0 path=targets
SourceWordDeletionFeature factor=0
WordTranslationFeature name=wt input-factor=0 simple=1 source-context=0 source-path=sources target-path=targets
PhraseLengthFeature name=pl
"""
LISTS = {"inserted": ["s", "t", "u"], "deleted": None, "pair_source": ["a", "b"], "pair_target": ["s", "t", "u"]}
WEIGHTS = {
    "twi_s": 0.5,
    "twi_OTHER": -0.25,
    "SourceWordDeletionFeature0_b": 0.75,
    "SourceWordDeletionFeature0_c": -1.0,
    "wt_b~OTHER": 0.5,
    "wt_a~OTHER": 0.125,
    "wt_OTHER~t": -0.5,
    "wt_OTHER~OTHER": 0.25,
    "wt_a~b~c": 9.0,
    "pl_s1": 0.1,
    "pl_t2": -0.2,
    "pl_2,1": 0.3,
    "pl_1,1": 0.4,
    "pl_wide": 9.0,
}
GROUPS = {
    "inserted_words": "twi",
    "deleted_words": "SourceWordDeletionFeature0",
    "word_pairs": "wt",
    "phrase_lengths": "pl",
}
LINES = ["a b c a d x", "d d b a", "x x", "c a b d"]


@pytest.fixture
def moses(tmp_path):
    """A Moses model with word features, in whose phrases the first word is aligned with the last, or nothing."""
    directory = tmp_path / "moses"
    export_moses(random_toy(tmp_path / "toy", 12, most=3).directory, directory)
    path = directory / "phrase-table.gz"
    rows = [line.split(" ||| ") for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    for i, row in enumerate(rows):
        row[3] = f"0-{len(row[1].split()) - 1}" if i % 4 else ""
    path.write_bytes(gzip.compress("".join(f"{' ||| '.join(row)}\n" for row in rows).encode()))
    (directory / "targets").write_text("s\nt\nu\n")
    (directory / "sources").write_text("a\nb\n")
    (directory / "tuned").write_text("".join(f"{name} {value}\n" for name, value in WEIGHTS.items() if name != "pl_s1"))
    ini = (directory / "moses.ini").read_text().replace("[feature]\n", f"[weight-file]\ntuned\n[feature]\n{FEATURES}")
    (directory / "moses.ini").write_text(f"{ini}\n[weight]\npl_s1= 0.1\n")
    return directory


def fired(translation):
    """Moses' names of the word features of a translation, by their definitions."""
    for phrase in translation.phrases:
        points = [(i - phrase.source_span[0], j - phrase.target_span[0]) for i, j in phrase.alignment]
        points = [(0, 0)] if phrase.is_copied else points
        for name in word_names((phrase.source.split(), phrase.target.split()), points, LISTS):
            yield f"{GROUPS[name[0]]}_{phrase_text(name)}"


def test_they_have_moses_scores_and_names(moses, tmp_path):
    import_moses(moses / "moses.ini", tmp_path / "model")
    decoder, plain = Decoder.load(tmp_path / "model"), Decoder.load(tmp_path / "toy")
    assert all(getattr(decoder.model.weights, group) == 1 for group in GROUPS)
    seen = set()
    for line in LINES:
        for one in decoder.answer(line, Request(n=100, sparse="names")).nbest:
            names = list(fired(one))
            seen |= {*names}
            total = sum(WEIGHTS.get(name, 0) for name in names)
            assert sum(one.features[group] for group in GROUPS) == pytest.approx(total, abs=1e-5)
            dense = sum(np.dot(value, plain.features.by_group(weights(plain))[name]) for name, value in dense_of(one))
            assert one.score == pytest.approx(dense + total, abs=1e-3)
            (listed,) = render_nbest(0, [one], False, False, decoder.model.moses_names).splitlines()
            values = listed.split(" ||| ")[2].split()
            listed_counts = {name[:-1]: float(n) for name, n in pairwise(values) if name[:-1] in names}
            assert listed_counts == {name: names.count(name) for name in names}
    assert {*WEIGHTS} - seen == {"wt_a~b~c", "pl_wide"}


def weights(decoder):
    return np.concatenate([np.atleast_1d(getattr(decoder.dense_weights, name)) for name, _ in decoder.features.groups])


def dense_of(translation):
    return [(name, value) for name, value in translation.features.items() if name not in GROUPS]


@pytest.mark.parametrize("has_names", [True, False])
def test_they_go_out_as_they_came_in(moses, tmp_path, has_names):
    import_moses(moses / "moses.ini", tmp_path / "model")
    if not has_names:  # as of a model whose weights were learned: the pairs tell which features there are
        save_feature_names(tmp_path / "model", {})
    written = tmp_path / "model" / "weights.yaml"
    written.write_text(written.read_text().replace("word_pairs: 1.0", "word_pairs: 2.0"))
    accept_files(tmp_path / "model")
    export_moses(tmp_path / "model", tmp_path / "out")
    for name in ("words.inserted", "words.pair_target"):
        assert (tmp_path / "out" / name).read_text() == "s\nt\nu\n"
    assert not (tmp_path / "out" / "words.deleted").exists()
    found = dict(line.split() for line in (tmp_path / "out" / "sparse-weights").read_text().splitlines())
    of_pairs = {name: 2 * value if name.startswith("wt_") else value for name, value in WEIGHTS.items()}
    lost = {"pl_wide"} if has_names else {"pl_wide", "wt_a~b~c"}
    assert {name: float(value) for name, value in found.items()} == {
        name: value for name, value in of_pairs.items() if name not in lost
    }
    import_moses(tmp_path / "out" / "moses.ini", tmp_path / "again")
    names = [open_model(tmp_path / name).moses_names for name in ("model", "again")]
    assert names[0] == names[1]
    first, second = (Decoder.load(tmp_path / name) for name in ("model", "again"))
    for line in LINES:
        for one, other in zip(first.nbest(line, 50), second.nbest(line, 50), strict=True):
            assert (one.text, one.score) == (other.text, pytest.approx(other.score, abs=1e-5))


def test_a_name_is_all_features_that_moses_calls_so():
    texts = ["a~b", "a~b~c", "~~~", "~", "no tilde", "~~x"]
    of_text, keys = word_features("word_pairs", texts)
    pairs = [("a", "b"), ("a", "b~c"), ("a~b", "c"), ("~", "~"), ("~", "x")]
    assert [texts[i] for i in of_text] == ["a~b", "a~b~c", "a~b~c", "~~~", "~~x"]
    assert keys.tolist() == [naive_key("word_pairs", *pair) for pair in pairs]
    of_text, keys = word_features("phrase_lengths", ["s3", "t12", "3,12", "x", "s", "3,", "s3000"])
    assert of_text == [0, 1, 2]
    assert keys.tolist() == [naive_key("phrase_lengths", *sizes) for sizes in ((3, -1), (-1, 12), (3, 12))]
    assert word_features("inserted_words", ["x~y"])[1].tolist() == [naive_key("inserted_words", "x~y")]
    assert word_features("deleted_words", [])[0] == []


def naive_key(group, *parts):
    return mix(combine(phrase_hash((group, *parts)), name_hash(group))) | 1


def test_names_of_moses_for_a_model_of_ours(tmp_path):
    toy = random_toy(tmp_path / "toy", 7, most=3)
    decoder = Decoder.load(toy.directory)
    best = decoder.translate("a b c")
    text, features, score = render(best, False, False, True, decoder.model.moses_names).split(" ||| ")
    assert (text, float(score)) == (best.text, pytest.approx(best.score))
    fields = features.split()
    assert [field for field in fields if field.endswith("=")] == [
        "LexicalReordering0=",
        "Distortion0=",
        "LM0=",
        "WordPenalty0=",
        "PhrasePenalty0=",
        "TranslationModel0=",
    ]
    begin = fields.index("TranslationModel0=")
    assert list(map(float, fields[begin + 1 :])) == pytest.approx(best.features["translation"], rel=1e-5)


LIST = "--nbest", "3", "--nbest-output", "-"


@pytest.mark.parametrize("where", [("--scores",), ("--scores", "--mbr", "--mbr-size", "5"), LIST])
@pytest.mark.parametrize("by_moses", [(), ("--moses-names",)])
def test_the_command_lists_single_ones_on_request(moses, tmp_path, where, by_moses):
    import_moses(moses / "moses.ini", tmp_path / "model")
    text = "".join(f"{line}\n" for line in LINES).encode()
    for single in ((), ("--sparse-features",)):
        status, lines, errors = translate_here(tmp_path / "model", text, *where, *by_moses, *single)
        assert (status, errors) == (0, "")
        assert len(lines) >= len(LINES)
        for line in lines:
            names = {name for name in line.split(" ||| ")[-2].split() if name.endswith("=")}
            assert any(name.startswith(("pl_", "phrase_lengths_s")) for name in names) == bool(single)
            # sums of groups, but where Moses' names are of the single features
            assert ("phrase_lengths=" in names) == (not single or not by_moses)


def test_sparse_features_need_a_place(moses, tmp_path, capsys):
    import_moses(moses / "moses.ini", tmp_path / "model")
    assert main(["translate", "--model", str(tmp_path / "model"), "--sparse-features"]) == 2
    assert "--sparse-features needs --nbest or --scores; give one" in capsys.readouterr().err


def test_what_moses_does_not_list(moses, tmp_path):
    ini = moses / "moses.ini"
    text = ini.read_text().replace("KENLM name=LM0", "KENLM tuneable=false name=LM0").replace("Distortion\n", "")
    ini.write_text("".join(f"{line}\n" for line in text.splitlines() if not line.startswith("Distortion0=")))
    import_moses(ini, tmp_path / "model")
    decoder = Decoder.load(tmp_path / "model")
    line = render_nbest(
        0, decoder.answer("a b", Request(n=1, sparse="names")).nbest, False, False, decoder.model.moses_names
    )
    assert not {"LM0=", "Distortion0=", "distortion=", "UnknownWordPenalty0=", "word_pairs="} & {*line.split()}
    export_moses(tmp_path / "model", tmp_path / "out")
    assert " tuneable=false\n" in (tmp_path / "out" / "moses.ini").read_text()
    # without the single sparse features of the best translation there are the sums of their groups
    assert "word_pairs=" in render(decoder.translate("a b"), False, False, True, decoder.model.moses_names)


def test_names_fit_a_model_that_was_trained_further():
    known = [MosesFeature(name="D", feature="distortion"), MosesFeature(name="R", feature="reordering", size=6)]
    known += [MosesFeature(name="T", feature="translation", size=1)]
    known += [
        MosesFeature(name="U", feature="translation", first=1, size=3),
        MosesFeature(name="L", feature="language_model"),
    ]
    absent = {"word_penalty": 0.0, "phrase_penalty": 0.0}

    def names(model, **weights):
        return [one.name for one in fitting_names(known, Weights(**absent | weights), model)]

    six, learned = Reordering(), Reordering(learned=1)
    assert names(six) == ["D", "R", "T", "U", "L"]
    assert names(six, phrase_penalty=0.1, inserted_words=1.0) == [
        *("D", "R", "T", "U", "L", "PhrasePenalty0", "TargetWordInsertionFeature0")
    ]
    assert names(learned, reordering=[0.1] * 12) == ["D", "T", "U", "L", "LexicalReordering0", "LexicalReordering1"]
    assert names(six, early_distortion=0.1) == ["D", "R", "T", "U", "L", "Distortion0"]
    assert names(six, early_distortion=0.1, distortion=0.0) == ["R", "T", "U", "L", "Distortion0"]
    assert names(six, language_model=[0.1, 0.2]) == ["D", "R", "T", "U", "LM0", "LM1"]
    assert names(six, translation=[1.0]) == ["D", "R", "L", "TranslationModel0"]
