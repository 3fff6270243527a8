"""From a bitext to a model directory: complete, the same every time, and never half there."""

import gzip
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pytest
import yaml

from phrasebeam.base import memory_bound
from phrasebeam.base.config import load_config, parse_config
from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.held_out.leave_one_out import check_frequencies
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.decoder.tables import score_codes
from phrasebeam.decoder.tables.model_files import N_CODES
from phrasebeam.decoder.tables.phrase_table import find_source, open_phrase_table, open_reordering_table
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.lm.estimate import estimate
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary
from phrasebeam.lm.text.vocabulary import Vocabulary
from phrasebeam.system.memory_use import ResidentMemory
from phrasebeam.training.bitext.parallel_text import Bitext
from phrasebeam.training.model_building import train_model as building
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from phrasebeam.training.word_alignment.alignment_points import Alignments
from tests import ROOT
from tests.decoder.models import assert_sound

pytestmark = pytest.mark.kernels

SMALL = {"alignment": {"effort": 0.2}, "language_model": {"order": 3}}


def bitext(directory, n_pairs=120, seed=0):
    """Files of sentences whose translation is word for word, in the same order but for the last two words."""
    rng = np.random.default_rng(seed)
    source, target = [], []
    for _ in range(n_pairs):
        words = rng.integers(0, 30, rng.integers(2, 9)).tolist()
        source.append(" ".join(f"s{word}" for word in words))
        target.append(" ".join(f"t{word}" for word in [*words[:-2], words[-1], words[-2]]))
    (directory / "source").write_text("\n".join(source) + "\n", encoding="utf-8")
    (directory / "target").write_text("\n".join(target) + "\n", encoding="utf-8")
    return directory / "source", directory / "target"


def config(**changes):
    return parse_config({**SMALL, **changes}, TrainModelConfig, "test")


def contents(directory):
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_scores_in_8_bits(tmp_path, caplog, monkeypatch):
    """With another codebook than theirs, since the scores of a small model are few, and all kept."""
    monkeypatch.setattr(score_codes, "codebook_of", lambda _: np.linspace(-10, 0, N_CODES, dtype=np.float32))
    source, target = bitext(tmp_path)
    exact = train_model(source, target, tmp_path / "exact", config())
    with caplog.at_level("INFO"):
        coded = train_model(source, target, tmp_path / "coded", config(phrases={"score_bits": 8}))
    assert_sound(tmp_path / "coded")
    before, after = (open_phrase_table(tmp_path / name / "phrases") for name in ("exact", "coded"))
    differences = np.abs(before.ln_scores - after.scores_of(slice(None)))
    assert coded.score_loss.largest == pytest.approx(differences.max(axis=0).tolist())
    assert coded.score_loss.mean == pytest.approx(differences.mean(axis=0).tolist(), rel=1e-4)
    assert 0 < differences.max() < 0.1
    said = f"ln scores differ by at most {coded.score_loss}"
    assert said in caplog.text
    assert said in (tmp_path / "coded" / "README.md").read_text()
    assert exact.score_loss is None
    assert "score_bits" not in exact.settings["phrases"]
    check_frequencies(after)  # which leave-one-out needs


def test_the_parts_fit_together(tmp_path):
    source, target = bitext(tmp_path)
    found = train_model(source, target, tmp_path / "model", config())
    model = tmp_path / "model"
    assert load_config(model / "model.yaml", ModelDescription) == found
    assert_sound(model)
    assert load_config(model / "weights.yaml", Weights) == Weights()
    assert (found.sentence_pairs, found.language_model_order) == (120, 3)
    words = FixedVocabulary(model / "source.vocab")
    phrases = open_phrase_table(model / "phrases")
    open_reordering_table(model / "reordering", phrases.target_offsets.size - 1)
    at = find_source(phrases, words.ids(["s7"]), 0, 1)
    best = max(range(*phrases.pair_offsets[at : at + 2]), key=lambda pair: phrases.joint_counts[pair])
    translation = phrases.target_words[phrases.target_offsets[best] : phrases.target_offsets[best + 1]]
    target_words = FixedVocabulary(model / "target.vocab")
    assert [target_words.words[word] for word in translation] == ["t7"]
    assert (found.source_words, found.target_words) == (len(words), len(target_words)) == (30, 30)
    assert LanguageModel.load(model / "lm.bin").order == 3
    assert len((model / "alignment").read_text(encoding="ascii").splitlines()) == 120
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "source", "target"]


def test_same_bytes_every_time(tmp_path, monkeypatch):
    source, target = bitext(tmp_path)
    first = train_model(source, target, tmp_path / "first", config(threads=1))
    monkeypatch.setattr(building, "_memory_left", lambda *_: 100_000)  # the phrase pairs in many pieces
    second = train_model(source, target, tmp_path / "second", config(threads=2, memory="3G"))
    assert contents(tmp_path / "first") == contents(tmp_path / "second")
    assert first.signature == second.signature
    other = train_model(source, target, tmp_path / "other", config(phrases={"max_length": 3}))
    assert other.signature != first.signature


SEVERAL = {"more_alignments": [{"seed": 2, "effort": 0.2}, {"aligner": "fast_align"}]}


@pytest.mark.needs_jit
def test_several_alignments(tmp_path, monkeypatch):
    source, target = bitext(tmp_path)
    settings = config(**SEVERAL, phrases={"agreement": 2}, threads=1)
    found = train_model(source, target, tmp_path / "first", settings)
    kept = (tmp_path / "first" / "alignment").read_text(encoding="ascii").splitlines()
    assert (found.alignments, found.agreement) == (3, 2) and {line.count("|||") for line in kept} == {2}
    # Those of a file are the same as those that are computed, also in many pieces.
    monkeypatch.setattr(building, "_memory_left", lambda *_: 100_000)
    given = config(phrases={"agreement": 2}, threads=1)
    train_model(source, target, tmp_path / "second", given, tmp_path / "first" / "alignment")
    first, second = contents(tmp_path / "first"), contents(tmp_path / "second")
    assert all(first[name] == second[name] for name in first if name not in {"model.yaml", "README.md"})
    sizes = {}
    for least in (1, 2, 3):
        train_model(source, target, tmp_path / "any", config(**SEVERAL, phrases={"agreement": least}), None, True)
        sizes[least] = int(open_phrase_table(tmp_path / "any" / "phrases").joint_counts.sum())
    assert sizes[1] > sizes[2] > sizes[3] > 0


def test_more_agreement_than_alignments(tmp_path):
    source, target = bitext(tmp_path, 10)
    with pytest.raises(ConfigError, match="agreement: 2, and there are 1 word alignments; expected no more, or give"):
        train_model(source, target, tmp_path / "model", config(phrases={"agreement": 2}))
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(("held", "left"), [(0, 512), (512, 384 - 1 / 64), (2048, 64), (None, 384 - 1 / 64)])
def test_phrase_pairs_take_what_is_left_of_the_memory(monkeypatch, held, left):
    aligned = Alignments(np.array([0, 1 << 12]), np.zeros((1 << 12, 2), np.int32))  # 16 K to come
    corpus = Corpus(np.array([0, 0]), np.zeros(0, np.int32))
    pairs = Bitext(corpus, corpus, Vocabulary(), Vocabulary(), 0)
    found = None if held is None else ResidentMemory(held << 20, 0)
    monkeypatch.setattr(memory_bound, "resident_memory", lambda: found)
    assert building._memory_left(pairs, [aligned], 1 << 30) == left * 2**20


def test_a_bitext_that_memory_cannot_hold_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "PROGRAM_BYTES", (384 << 20) - 100)
    source, target = bitext(tmp_path)
    message = "memory: 384M, but a bitext of .* source words takes 385M at least; give more, or less data"
    with pytest.raises(ConfigError, match=message):
        train_model(source, target, tmp_path / "model", config(memory="384M"))
    assert not (tmp_path / "model").exists()


def test_a_given_alignment_is_used(tmp_path):
    (tmp_path / "source").write_text("a b\nb\n\n", encoding="utf-8")
    (tmp_path / "target").write_text("x y\nx\nz\n", encoding="utf-8")
    (tmp_path / "links").write_text("0-1 1-0\n0-0\n\n", encoding="utf-8")
    paths = tmp_path / "source", tmp_path / "target", tmp_path / "model"
    found = train_model(*paths, config(), tmp_path / "links")
    assert "alignment" not in found.settings
    assert found.data["alignment"]["file"] == "links"
    assert (found.sentence_pairs, found.data["skipped_sentence_pairs"]) == (2, 1)
    assert (tmp_path / "model" / "alignment").read_text(encoding="ascii") == "1-0 0-1\n0-0\n\n"


def test_reordering_models(tmp_path):
    source, target = bitext(tmp_path)
    one = {"orientation": "phrase", "kind": "leftright", "direction": "forward", "condition": "f", "collapse": True}
    for reordering, n_weights, n_columns in (
        ({"orientation": "hier", "kind": "mslr"}, 8, 8),
        (one, 1, 2),
        ({"orientation": "none"}, 0, 0),
    ):
        found = train_model(source, target, tmp_path / "model", config(reordering=reordering), is_forced=True)
        assert len(load_config(tmp_path / "model" / "weights.yaml", Weights).reordering) == n_weights
        if n_weights:
            assert found.reordering == Reordering(**reordering)
            assert np.load(tmp_path / "model" / "reordering" / "ln_scores.npy").shape[1] == n_columns
            Decoder.load(tmp_path / "model").translate("s1 s2 s3")
        else:
            assert found.reordering is None
            assert not (tmp_path / "model" / "reordering").exists()


def test_more_text_for_the_language_model(tmp_path):
    source, target = bitext(tmp_path)
    with gzip.open(tmp_path / "more.gz", "wt", encoding="utf-8") as file:
        file.write("t1 elephants t2\n")
    text = {"order": 3, "text": [str(tmp_path / "more.gz")]}
    found = train_model(source, target, tmp_path / "model", config(language_model=text))
    model = LanguageModel.load(tmp_path / "model" / "lm.bin")
    assert model.word_ids(["elephants"])[0] != model.word_ids(["giraffes"])[0]
    assert found.data["language_model_text_1"]["file"] == "more.gz"


def test_further_language_models(tmp_path):
    source, target = bitext(tmp_path)
    words = [f"t{i}" for i in range(25)]  # those above have no class
    classes = tmp_path / "classes"
    classes.write_text("".join(f"{word}\tC{i % 4}\n" for i, word in enumerate(words)), encoding="utf-8")
    (tmp_path / "more").write_text("t1 elephants t2\nt3 t4\n", encoding="utf-8")
    further = [{"text": [str(tmp_path / "more")], "order": 2}, {"classes": str(classes)}]
    found = train_model(source, target, tmp_path / "model", config(language_models=further))
    model = tmp_path / "model"
    assert [entry.model_dump() for entry in found.language_models] == [
        {"file": "lm.bin", "classes": None},
        {"file": "lm2.bin", "classes": None},
        {"file": "lm3.bin", "classes": "lm3.classes"},
    ]
    assert {"language_model_2_text_1", "language_model_3_classes"} <= found.data.keys()
    assert (model / "lm3.classes").read_bytes() == classes.read_bytes()
    assert load_config(model / "weights.yaml", Weights).language_model == [0.5 / 3] * 3
    more, of_classes = LanguageModel.load(model / "lm2.bin"), LanguageModel.load(model / "lm3.bin")
    assert (more.order, of_classes.order) == (2, 3)
    assert more.word_ids(["elephants", "t5"]).tolist() == [4, 0]
    of_words = {word: f"C{i % 4}" for i, word in enumerate(words)}
    mapped = [[of_words.get(word, "<unk>") for word in line.split()] for line in target.read_text().splitlines()]
    bigrams = {pair for line in mapped for pair in pairwise(line)}
    assert {name for name, _ in bigrams} == {"C0", "C1", "C2", "C3", "<unk>"}
    for first, second in bigrams:
        assert [n for _, n, _ in of_classes.full_scores([first, second], begin=False, end=False)] == [1, 2]
    translation = Decoder.load(model).translate("s1 s28 s3")
    expected = [of_words.get(word, "<unk>") for word in translation.text.split()]
    assert translation.features["language_model"][2] == pytest.approx(of_classes.score(expected) * np.log(10), abs=1e-4)


def test_a_class_model_of_full_classes_is_that_of_the_classes(tmp_path):
    (tmp_path / "words").write_text("a b a c\nd a\nc c b\n", encoding="utf-8")
    (tmp_path / "classes").write_text("A B A A\nB A\nA A B\n", encoding="utf-8")
    classes = {"a": "A", "b": "B", "c": "A", "d": "B"}
    for classified, plain in zip(
        estimate(tmp_path / "words", 3, classes=classes).orders, estimate(tmp_path / "classes", 3).orders
    ):
        for one, other in zip(classified, plain):
            np.testing.assert_array_equal(one, other)


def test_replaces_a_model_and_nothing_else(tmp_path):
    source, target = bitext(tmp_path)
    model = tmp_path / "model"
    model.mkdir()
    train_model(source, target, model, config())
    (model / "extra").write_text("of the old model", encoding="utf-8")
    with pytest.raises(ConfigError, match="has extra, which is not part of it; give --force"):
        train_model(source, target, model, config())
    train_model(source, target, model, config(), is_forced=True)
    assert not (model / "extra").exists()
    train_model(source, target, model, config())  # the same once more
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis").write_text("years of work", encoding="utf-8")
    for output in (precious, source):
        with pytest.raises(ConfigError, match="exists and is not a model; choose another directory"):
            train_model(source, target, output, config())
    assert (precious / "thesis").exists()


def test_a_failure_leaves_the_old_model(tmp_path):
    source, target = bitext(tmp_path)
    train_model(source, target, tmp_path / "model", config())
    before = contents(tmp_path / "model")
    (tmp_path / "links").write_text("0-0\n", encoding="ascii")
    with pytest.raises(FormatError, match="links: 1 lines for 120 sentence pairs"):
        train_model(source, target, tmp_path / "model", config(), tmp_path / "links", is_forced=True)
    assert contents(tmp_path / "model") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["links", "model", "source", "target"]


def test_bitexts_without_content(tmp_path):
    for source, target, message in (("", "", "no sentence pair"), ("a\n\n", "\nb\n", "no sentence pair")):
        (tmp_path / "source").write_text(source, encoding="utf-8")
        (tmp_path / "target").write_text(target, encoding="utf-8")
        with pytest.raises(FormatError, match=message):
            train_model(tmp_path / "source", tmp_path / "target", tmp_path / "model", config())
    assert not (tmp_path / "model").exists()


def test_no_aligned_words(tmp_path):
    source, target = bitext(tmp_path, n_pairs=3)
    (tmp_path / "links").write_text("\n\n\n", encoding="ascii")
    with pytest.raises(FormatError, match="no phrase pairs"):
        train_model(source, target, tmp_path / "model", config(), tmp_path / "links", is_forced=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_killed_in_the_middle(tmp_path, number):
    """From `python -c`, far from the checkout; the aligners end too, since they hold the pipe that is read here."""
    source, target = bitext(tmp_path, 400)
    code = (
        # Where tests run in the background it is ignored, and a child inherits that.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from phrasebeam import train_model; train_model("
        f"{str(source)!r}, {str(target)!r}, 'model', config=dict(alignment=dict(effort=100)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(".model.*/lm.bin")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(number)
        process.communicate(timeout=30)
    assert not (tmp_path / "model").exists()
    if number == signal.SIGINT:
        assert not list(tmp_path.glob(".model.*"))


def test_description_is_readable(tmp_path):
    source, target = bitext(tmp_path)
    train_model(source, target, tmp_path / "model", config())
    text = (tmp_path / "model" / "model.yaml").read_text(encoding="utf-8")
    assert text.startswith("format: phrasebeam model 2\n")
    written = yaml.safe_load(text)
    assert written["settings"]["alignment"]["effort"] == 0.2
    assert set(written["data"]["source"]) == {"file", "sha256"}
    assert str(tmp_path) not in text
