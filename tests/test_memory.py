"""Commands keep to --memory on data that would take more: each in a process of its own, whose peak is measured."""

import json
import random
import re
import signal
import subprocess
import sys
from urllib.request import Request, urlopen

import numpy as np
import pytest

from phrasebeam.base.config import save_config
from phrasebeam.base.memory_bound import LEAST_MEMORY
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import MODEL_FORMAT, ModelDescription, save_description
from phrasebeam.decoder.tables.source_slots import build_slots
from phrasebeam.system.memory_use import resident_memory
from tests import ROOT
from tests.decoder.models import random_lm

pytestmark = [
    pytest.mark.needs_jit,
    pytest.mark.skipif(resident_memory() is None, reason="this system does not say what a process holds"),
]

ATTEMPTS = 5  # see check_bound
SERVER_MEMORY = 512 << 20  # FastAPI and what it brings take some of it
N_WORDS, PAIRS_OF_WORD, N_SCORES = 8, 100_000, 128  # 400 MB of scores, all of them read for a sentence of these words
SENTENCE = " ".join(f"s{i}" for i in range(N_WORDS))
TRANSLATION = " ".join(f"t{i}" for i in range(N_WORDS))
PEAK = """
import sys
from phrasebeam.system.memory_use import peak_memory
from phrasebeam.cli import main
status = main(sys.argv[1:])
print("peak", peak_memory(), file=sys.stderr)
sys.exit(status)
"""
PLAIN = "leave_one_out: null\nlm_folds: 0\niterations: 1\ntune: null"
TRAINING_SETTINGS = {
    "train-maxforce": f"{PLAIN}\nscales: [1.0]\n",
    "train-ranking": f"{PLAIN}\nscales: [1.0]\nnbest: 10\nworkers: 1\nfixed: []\n",
    "train-expected-bleu": f"{PLAIN}\nnbest: 10\ncalibrate: false\n",
}
MODEL = ["--model", "{directory}/model", "--source", "{directory}/source"]
REFERENCE = ["--reference", "{directory}/target", "--output", "{output}"]
DEVELOPMENT = ["--dev-source", "{directory}/source", "--dev-reference", "{directory}/target"]
TRAINING = [*MODEL, "--target", "{directory}/target", *DEVELOPMENT, "--config", "{directory}/settings"]
COMMANDS = {
    "check-model": ["{directory}/model"],
    "translate": MODEL[:2],
    "align": [*MODEL, "--target", "{directory}/target", "--output", "{output}"],
    "forced-decode": [*MODEL, *REFERENCE, "--table-limit", "20"],
    "tune": [*MODEL, *REFERENCE, "--nbest", "10", "--iterations", "1"],
    **{name: [*TRAINING, "--output", "{output}", "--threads", "1"] for name in TRAINING_SETTINGS},
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A model whose scores are larger than the least bound, and a sentence that reads all of them."""
    directory = tmp_path_factory.mktemp("memory")
    model, n_pairs = directory / "model", N_WORDS * PAIRS_OF_WORD
    random_lm(model, random.Random(1), 2)
    (model / "phrases").mkdir()
    source_offsets, source_words = np.arange(N_WORDS + 1), np.arange(N_WORDS, dtype=np.int32)
    arrays = {
        "slots": build_slots(source_offsets, source_words),
        "source_offsets": source_offsets,
        "source_words": source_words,
        "pair_offsets": PAIRS_OF_WORD * source_offsets,
        "target_offsets": np.arange(n_pairs + 1),
        "target_words": np.tile(np.arange(PAIRS_OF_WORD, dtype=np.int32), N_WORDS),
        "alignment_offsets": np.arange(n_pairs + 1),
        "alignment_points": np.zeros((n_pairs, 2), np.uint8),
        "joint_counts": np.ones(n_pairs, np.int32),
        "source_counts": np.full(N_WORDS, PAIRS_OF_WORD, np.int32),
        "target_counts": np.ones(n_pairs, np.int32),
    }
    for name, array in arrays.items():
        np.save(model / "phrases" / f"{name}.npy", array)
    # A file of zeros without blocks on the disk.
    np.lib.format.open_memmap(model / "phrases" / "ln_scores.npy", "w+", np.float32, (n_pairs, N_SCORES)).flush()
    (model / "source.vocab").write_text("".join(f"s{i}\n" for i in range(N_WORDS)))
    (model / "target.vocab").write_text("".join(f"t{i}\n" for i in range(PAIRS_OF_WORD)))
    save_config(Weights(translation=[0.1] * N_SCORES, reordering=[], language_model=[0.5]), model / "weights.yaml")
    description = ModelDescription(
        format=MODEL_FORMAT,
        version="0",
        signature="large",
        sentence_pairs=1,
        source_words=N_WORDS,
        target_words=PAIRS_OF_WORD,
        max_source_phrase_length=1,
        max_target_phrase_length=1,
        language_model_order=2,
        reordering=None,
        settings={},
        data={},
    )
    save_description(description, model)
    (directory / "source").write_text(f"{SENTENCE}\n" * 2)
    (directory / "target").write_text(f"{TRANSLATION}\n" * 2)
    return directory


def run(name, arguments, memory=LEAST_MEMORY):
    """The peak of the command, in bytes, and what it said; a sentence is its input."""
    command = [sys.executable, "-c", PEAK, name, *map(str, arguments), "--memory", str(memory)]
    done = subprocess.run(command, cwd=ROOT, input=f"{SENTENCE}\n".encode(), capture_output=True, timeout=600)
    said = done.stderr.decode()
    assert done.returncode == 0, said
    return int(said.split()[-1]), said


def check_bound(name, arguments, output, directory=None):
    """The command keeps to the least bound, at one of several times.

    The first may compile kernels, which takes more, and the thread that looks at memory comes late where the machine is
    busy. A command that does not keep to it at all never does.
    """
    for attempt in ("first", "second", "third", "fourth", "fifth"):
        peak, said = run(
            name, [argument.format(output=output / attempt, directory=directory) for argument in arguments]
        )
        if peak <= LEAST_MEMORY:
            return
    raise AssertionError(said)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_large_model(directory, tmp_path, name):
    (directory / "settings").write_text(TRAINING_SETTINGS.get(name, ""))
    check_bound(name, COMMANDS[name], tmp_path, directory)


def test_a_server(directory):
    """What requests read of a model is let go of, too."""
    for _ in range(ATTEMPTS):
        peak = peak_of_server(directory / "model", SERVER_MEMORY)
        if peak <= SERVER_MEMORY:
            break
    assert peak <= SERVER_MEMORY
    assert peak_of_server(directory / "model", 4 << 30) > SERVER_MEMORY


def peak_of_server(model, memory):
    """The peak of a server that translates the sentence, in bytes."""
    arguments = "serve", "--port", "0", "--model", str(model), "--memory", str(memory), "--threads", "2"
    command = [sys.executable, "-c", PEAK, *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        url = next(found[1] for line in process.stderr if (found := re.search(r"listening on (\S+)", line)))
        body = json.dumps({"text": [SENTENCE] * 4}).encode()
        request = Request(f"{url}/v1/translate", body, {"Content-Type": "application/json"})
        with urlopen(request, timeout=600) as answer:
            assert len(json.load(answer)["translations"]) == 4
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=600)[1]
        return int(said.split()[-1])
    finally:
        process.kill()


def test_what_exceeds_the_bound_is_reported(directory):
    """The same data need more, and a bound that cannot be kept is no secret."""
    peak, said = run("check-model", [directory / "model"], memory=4 << 30)
    assert peak > LEAST_MEMORY
    assert "held" not in said


def sentences(n, length, vocabulary):
    """Lines of random words."""
    words = np.random.default_rng(1).integers(0, vocabulary, (n, length)).astype(str)
    return "".join(f"{' '.join(line)}\n" for line in words.tolist())


def test_text_for_a_language_model(tmp_path):
    (tmp_path / "text").write_text(sentences(90_000, 25, 20_000))
    check_bound("build-lm", ["--text", f"{tmp_path}/text", "--output", "{output}"], tmp_path)


def test_a_bitext(tmp_path):
    text = sentences(20_000, 12, 1000)
    (tmp_path / "text").write_text(text)
    (tmp_path / "links").write_text(f"{' '.join(f'{i}-{i}' for i in range(12))}\n" * 20_000)
    files = ["--source", f"{tmp_path}/text", "--target", f"{tmp_path}/text", "--alignment", f"{tmp_path}/links"]
    check_bound("train-model", [*files, "--output", "{output}"], tmp_path)
