"""A small training of the perceptron: its data, its settings, and what it learned."""

import random

import numpy as np
import yaml

from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.maxforce.maxforce_model import WORK, train_maxforce
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model

RUN = f"{WORK}/seed-1"
QUICK = {
    "update": "max_violation",
    "future_cost": False,
    "scales": [1.0],
    "tune": None,
    "development_search": None,
    "lm_folds": 0,
    "templates": {"rule_id": True, "word_edges": {"most_words": 2}, "rule_bigram": True},
    "rates": {"rule_id": 0.1, "word_edges": 1.0, "translation": 0.1},
    "iterations": 2,
    "batch": 6,
    "checkpoint": 2,
    "threads": 1,
    "search": {"stack": 10, "beam_threshold": 0.0, "max_phrase_length": 1},  # longer phrases would know
}


def make_data(directory, other="m q", **more):
    """Sentence pairs in which the word before decides what `k` is, which neither phrases nor language model can see.

    It is `m p` or the `other`; `more`: settings of train-model.
    """
    rng = random.Random(1)
    for name, size in (("train", 60), ("dev", 10)):
        pairs = [[rng.choice("abcd") for _ in range(rng.randint(1, 3))] for _ in range(size)]
        chosen = [["m p" if word < "c" else other for word in words] for words in pairs]
        source = [" ".join(f"{word} k" for word in words) for words in pairs]
        target = [
            " ".join(f"{word.upper()} {one}" for word, one in zip(*pair, strict=True))
            for pair in zip(pairs, chosen, strict=True)
        ]
        points = [links(one) for one in chosen]
        for kind, lines in (("source", source), ("target", target), ("alignment", points)):
            (directory / f"{name}.{kind}").write_text("".join(f"{line}\n" for line in lines))
    config = TrainModelConfig.model_validate(
        {"phrases": {"max_length": 2}, "language_model": {"order": 2}, "threads": 1} | more
    )
    files = directory / "train.source", directory / "train.target"
    train_model(*files, directory / "model", config, directory / "train.alignment")
    (directory / "config").write_text(yaml.safe_dump(QUICK))


def links(chosen):
    """Alignment points of a pair: each word with its capital, and the `k` behind it with all words that it is."""
    points, start = [], 0
    for i, one in enumerate(chosen):
        n = len(one.split())
        points += [f"{2 * i}-{start}", *(f"{2 * i + 1}-{start + 1 + j}" for j in range(n))]
        start += 1 + n
    return " ".join(points)


def learn(data, output, **more):
    return learned_with(data, output, **more).progress[1]


def learned_with(data, output, model="model", **more):
    """`model`: in `data`, or the path of another one."""
    corpus = BitextFiles(data / "train.source", [data / "train.target"], data / "train.alignment")
    config = MaxforceConfig.model_validate(QUICK | more)
    development = BitextFiles(data / "dev.source", [data / "dev.target"])
    return train_maxforce(data / model, corpus, development, output, config)


def options(data, output, *more):
    files = {"source": "train.source", "target": "train.target", "alignment": "train.alignment"}
    files |= {"dev-source": "dev.source", "dev-reference": "dev.target", "model": "model", "config": "config"}
    given = [part for name, file in files.items() for part in (f"--{name}", str(data / file))]
    return ["train-maxforce", *given, "--output", str(output), *more]


def weights_of(output):
    """All that was learned, by file."""
    arrays = [np.load(output / "sparse" / f"{name}.npy").tolist() for name in ("keys", "values")]
    return arrays, (output / "weights.yaml").read_text(), (output / "sparse" / "names").read_text()


class Killed(Exception):
    """In place of a signal."""
