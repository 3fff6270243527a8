"""Small random models, as a directory to decode with and as dicts for the naive twins."""

import random
from pathlib import Path
from typing import NamedTuple

import numpy as np

from decoder.config import MODEL_FORMAT, ModelDescription, Reordering, Weights
from decoder.phrase_table import PhraseTable, ReorderingTable, save_arrays
from decoder.source_slots import build_slots
from lm.arpa import read_arpa, write_arpa
from lm.config import save_config
from lm.corpus import read_corpus
from lm.estimate import estimate_corpus
from lm.probing_writer import write_probing
from lm.vocabulary import Vocabulary
from tests.naive.ngrams import parse_arpa

SOURCE, TARGET = "abcd", "stuvw"


class Toy(NamedTuple):
    """A model as naive code wants it."""

    directory: Path
    table: dict  # source -> [(target, ln scores, ln reordering or None)]
    lm: dict  # {n-gram: (log10 p, log10 backoff)}
    order: int
    longest: int
    weights: np.ndarray  # float64[F]
    n_reordering: int


def random_toy(directory: Path, seed: int, most: int = 2, reordering: str | None = "msd", coarse: bool = False) -> Toy:
    """A model with up to `most` pairs a source phrase; with many ties if `coarse`."""
    rng = random.Random(seed)
    n_reordering = {None: 0, "msd": 6, "mslr": 8}[reordering]
    longest, order = rng.randint(1, 3), rng.randint(2, 4)
    table = {}
    for _ in range(rng.randint(1, 12)):
        source = " ".join(rng.choices(SOURCE, k=rng.randint(1, longest)))
        targets = {" ".join(rng.choices(TARGET, k=rng.randint(1, 3))) for _ in range(rng.randint(1, most))}
        table[source] = [(t, _ln(rng, 4, coarse), _ln(rng, n_reordering, coarse=True)) for t in sorted(targets)]
    lm = random_lm(directory, rng, order)
    weights = Weights(
        translation=[rng.uniform(-0.2, 1) for _ in range(4)],
        reordering=[rng.uniform(-0.2, 1) for _ in range(n_reordering)],
        language_model=rng.uniform(-0.1, 1),
        distortion=rng.uniform(-0.3, 1),
        word_penalty=rng.uniform(-1, 1),
        phrase_penalty=rng.uniform(-1, 1),
        unknown_word_penalty=rng.uniform(0, 1),
    )
    vector = np.array([*weights.translation, *weights.reordering, *_scalars(weights)])
    write_model(directory, table, weights, longest, order, Reordering(kind=reordering) if reordering else None)
    return Toy(directory, table, lm, order, longest, vector, n_reordering)


def random_lm(directory: Path, rng: random.Random, order: int) -> dict:
    """Write lm.bin, estimated on a few random sentences, some of them with source words; the model as a dict."""
    directory.mkdir(parents=True, exist_ok=True)
    lines = [" ".join(rng.choices(TARGET[:4] + SOURCE[:2], k=rng.randint(order, 8))) for _ in range(8)]
    text = directory / "text"
    text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    vocabulary = Vocabulary()
    corpus = read_corpus(text, vocabulary)
    write_arpa(estimate_corpus(corpus, vocabulary, order), directory / "lm.arpa")
    write_probing(read_arpa(directory / "lm.arpa"), directory / "lm.bin")
    return parse_arpa((directory / "lm.arpa").read_text(encoding="utf-8"))


def write_model(directory, table, weights, longest, order, reordering):
    """A model directory of the phrase pairs in `table`."""
    source, target = Vocabulary(), Vocabulary()
    source_words = [source.add_all(phrase.split()) for phrase in table]
    pairs = [pair for pairs in table.values() for pair in pairs]
    target_words = [target.add_all(text.split()) for text, _, _ in pairs]
    points = [[(0, i) for i in range(len(words))] for words in target_words]
    offsets = _offsets(source_words)
    ones = np.ones(len(pairs), np.int32)
    phrases = PhraseTable(
        build_slots(offsets, _flat(source_words)),
        offsets,
        _flat(source_words),
        _offsets(list(table.values())),
        _offsets(target_words),
        _flat(target_words),
        np.array([scores for _, scores, _ in pairs], np.float32).reshape(len(pairs), 4),
        _offsets(points),
        np.array([point for some in points for point in some], np.uint8).reshape(-1, 2),
        ones,
        np.array([len(some) for some in table.values()], np.int32),
        ones,
    )
    save_arrays(phrases, directory / "phrases")
    if reordering:
        ln_scores = np.array([orientations for _, _, orientations in pairs], np.float32)
        counts = np.zeros((len(pairs), 8), np.int32)
        save_arrays(ReorderingTable(ln_scores.reshape(len(pairs), -1), counts), directory / "reordering")
    source.save(directory / "source.vocab")
    target.save(directory / "target.vocab")
    save_config(weights, directory / "weights.yaml")
    description = ModelDescription(
        format=MODEL_FORMAT,
        version="0",
        signature="toy",
        sentence_pairs=1,
        source_words=len(source),
        target_words=len(target),
        max_source_phrase_length=longest,
        max_target_phrase_length=3,
        language_model_order=order,
        reordering=reordering,
        settings={},
        data={},
    )
    save_config(description, directory / "model.yaml")


def _ln(rng, n, coarse=False):
    """`n` ln probabilities, float32; few distinct ones if `coarse`, so that phrase states recombine."""
    probabilities = [rng.choice([0.2, 0.6]) if coarse else rng.uniform(0.05, 1) for _ in range(n)]
    return np.log(probabilities).astype(np.float32)


def _scalars(weights):
    names = ("language_model", "distortion", "word_penalty", "phrase_penalty", "unknown_word_penalty")
    return [getattr(weights, name) for name in names]


def _offsets(ragged):
    return np.cumsum([0, *map(len, ragged)]).astype(np.int64)


def _flat(arrays):
    return np.concatenate([*arrays, np.zeros(0, np.int32)]).astype(np.int32)
