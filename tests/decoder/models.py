"""Small random models, as a directory to decode with and as dicts for the naive twins."""

import random
from pathlib import Path
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from phrasebeam.base.config import save_config
from phrasebeam.decoder.features.reordering_type import N_ORIENTATIONS, Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import WITHOUT_DIGESTS, ModelDescription, open_description
from phrasebeam.decoder.model.digests import model_files
from phrasebeam.decoder.model.model_check import findings
from phrasebeam.decoder.tables.phrase_table import PhraseTable, ReorderingTable
from phrasebeam.decoder.tables.source_slots import build_slots
from phrasebeam.lm.arpa import read_arpa, write_arpa
from phrasebeam.lm.estimate import estimate
from phrasebeam.lm.probing_writer import write_probing
from phrasebeam.lm.text.vocabulary import Vocabulary
from tests.naive.ngrams import parse_arpa

SOURCE, TARGET = "abcd", "stuvw"
SENTENCE_PAIRS = 4  # that models say they were trained on
WORD_MSD = Reordering()


class Toy(NamedTuple):
    """A model as naive code wants it."""

    directory: Path
    table: dict  # source -> [(target, ln scores, ln reordering or None)]
    lm: dict  # {n-gram: (log10 p, log10 backoff)}
    order: int
    longest: int
    weights: np.ndarray  # float64[F]
    reordering: Reordering | None
    early: bool  # whether it has the feature early_distortion


def _with_default(model, has_default):
    """Scores of unknown pairs for every second model."""
    return model.model_copy(update={"ln_default": [-0.25 * i for i in range(model.n_columns)] if has_default else []})


ALL_REORDERINGS = st.builds(
    _with_default,
    st.builds(
        Reordering,
        orientation=st.sampled_from(["hier", "hier", "phrase"]),
        kind=st.sampled_from(list(N_ORIENTATIONS)),
        direction=st.sampled_from(["bidirectional", "backward", "forward"]),
        condition=st.sampled_from(["fe", "f"]),
        collapse=st.booleans(),
    ),
    st.booleans(),
)
REORDERINGS = st.none() | st.just(WORD_MSD) | ALL_REORDERINGS


def random_toy(
    directory: Path,
    seed: int,
    most: int = 2,
    reordering: Reordering | None = WORD_MSD,
    coarse: bool = False,
    early: bool = False,
) -> Toy:
    """A model with up to `most` pairs a source phrase; with many ties if `coarse`."""
    rng = random.Random(seed)
    n_columns = reordering.n_columns if reordering else 0
    longest, order = rng.randint(1, 3), rng.randint(2, 4)
    table = {}
    for _ in range(rng.randint(1, 12)):
        source = " ".join(rng.choices(SOURCE, k=rng.randint(1, longest)))
        targets = {" ".join(rng.choices(TARGET, k=rng.randint(1, 3))) for _ in range(rng.randint(1, most))}
        table[source] = [(t, _ln(rng, 4, coarse), _ln(rng, n_columns, coarse=True)) for t in sorted(targets)]
        if reordering and reordering.condition == "f":
            table[source] = [(t, scores, table[source][0][2]) for t, scores, _ in table[source]]
    lm = random_lm(directory, rng, order)
    weights = Weights(
        translation=[rng.uniform(-0.2, 1) for _ in range(4)],
        reordering=[rng.uniform(-0.2, 1) for _ in range(reordering.n_weights if reordering else 0)],
        language_model=[rng.uniform(-0.1, 1)],
        distortion=rng.uniform(-0.3, 1),
        word_penalty=rng.uniform(-1, 1),
        phrase_penalty=rng.uniform(-1, 1),
        unknown_word_penalty=rng.uniform(0, 1),
        early_distortion=rng.uniform(-0.3, 1) if early else None,
    )
    optional = [weights.early_distortion] if early else []
    vector = np.array([*weights.translation, *weights.reordering, *_scalars(weights), *optional])
    write_model(directory, table, weights, longest, order, reordering)
    return Toy(directory, table, lm, order, longest, vector, reordering, early)


def assert_sound(directory):
    """The model in `directory` has digests, and all its files are as they say."""
    assert open_description(directory).files.keys() == {*model_files(directory)}
    assert list(findings(directory)) == []


def last_workspace(decoder):
    """The workspace in which one thread's decoder searched last."""
    with decoder.searcher.workspaces.borrow() as workspace:
        return workspace


def toy_name(seed: int, reordering: Reordering | None) -> str:
    """A name for the directory of that toy."""
    return f"{seed}-{'-'.join(map(str, reordering.model_dump().values())) if reordering else None}"


def random_lm(directory: Path, rng: random.Random, order: int) -> dict:
    """Write lm.bin, estimated on a few random sentences, some of them with source words; the model as a dict."""
    directory.mkdir(parents=True, exist_ok=True)
    lines = [" ".join(rng.choices(TARGET[:4] + SOURCE[:2], k=rng.randint(order, 8))) for _ in range(8)]
    text = directory / "text"
    text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    write_arpa(estimate(text, order), directory / "lm.arpa")
    write_probing(read_arpa(directory / "lm.arpa"), directory / "lm.bin")
    return parse_arpa((directory / "lm.arpa").read_text(encoding="utf-8"))


def save_arrays(arrays: NamedTuple, directory: str | Path) -> None:
    """Write each field of a NamedTuple of arrays to a file FIELD.npy in `directory`, which is made.

    Of a phrase table, scores or their codes, whichever it has.
    """
    Path(directory).mkdir(parents=True, exist_ok=True)
    left_out = ("score_codes", "codebook") if isinstance(arrays, PhraseTable) and not arrays.codebook.size else ()
    for name, array in arrays._asdict().items():
        if name in left_out:
            continue
        np.save(Path(directory) / f"{name}.npy", array)


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
        format=WITHOUT_DIGESTS,
        version="0",
        signature="toy",
        sentence_pairs=SENTENCE_PAIRS,
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
    names = ("distortion", "word_penalty", "phrase_penalty", "unknown_word_penalty")
    return [*weights.language_model, *(getattr(weights, name) for name in names)]


def _offsets(ragged):
    return np.cumsum([0, *map(len, ragged)]).astype(np.int64)


def _flat(arrays):
    return np.concatenate([*arrays, np.zeros(0, np.int32)]).astype(np.int32)
