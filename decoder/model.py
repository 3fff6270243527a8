"""A model directory, opened: its files mapped into memory, its parts checked against each other.

model.yaml      what it is and how it was made
weights.yaml    the dense weights
source.vocab, target.vocab
phrases/        PhraseTable, one .npy file an array
reordering/     ReorderingTable, where there is a lexicalized reordering model
lm.bin          the language model, a KenLM probing binary
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from decoder.config import N_ORIENTATIONS, ModelDescription, Weights
from decoder.phrase_table import TRAIN_AGAIN, longest, open_phrase_table, open_reordering_table
from decoder.tables import Tables
from lm.config import load_config
from lm.errors import ModelError
from lm.fixed_vocabulary import FixedVocabulary
from lm.language_model import LanguageModel

HIERARCHICAL = "reordering.orientation is hier, which the decoder does not know; train with orientation word or phrase"


class Model(NamedTuple):
    """All that decoding needs; the arrays are shared by all threads and, through the files, by all processes."""

    description: ModelDescription
    weights: Weights
    source: FixedVocabulary
    target: FixedVocabulary
    language_model: LanguageModel
    tables: Tables
    most_pairs: int  # of one source phrase


def open_model(directory: str | Path) -> Model:
    """Open the model in `directory`. Raises ModelError, FormatError or ConfigError, naming the file at fault."""
    directory = Path(directory)
    _check_files(directory)
    description = load_config(directory / "model.yaml", ModelDescription)
    weights = load_config(directory / "weights.yaml", Weights)
    if missing := Weights.model_fields.keys() - weights.model_fields_set:
        raise ModelError(f"{directory / 'weights.yaml'}: no {', '.join(sorted(missing))}; {TRAIN_AGAIN}")
    source, target = (FixedVocabulary(directory / f"{side}.vocab") for side in ("source", "target"))
    for side, vocabulary, size in (
        ("source", source, description.source_words),
        ("target", target, description.target_words),
    ):
        if len(vocabulary) != size:
            raise ModelError(f"{directory / f'{side}.vocab'}: {len(vocabulary)} words, expected {size}; {TRAIN_AGAIN}")
    language_model = LanguageModel.load(directory / "lm.bin")
    phrases = open_phrase_table(directory / "phrases")
    ln_reordering = np.zeros((0, 0), np.float32)
    if description.reordering is not None:
        if description.reordering.orientation == "hier":
            raise ModelError(f"{directory / 'model.yaml'}: {HIERARCHICAL}")
        ln_reordering = open_reordering_table(directory / "reordering", len(phrases.ln_scores)).ln_scores
        expected = 2 * N_ORIENTATIONS[description.reordering.kind]
        if ln_reordering.shape[1] != expected:
            message = f"{ln_reordering.shape[1]} columns, {description.reordering.kind} has {expected}; {TRAIN_AGAIN}"
            raise ModelError(f"{directory / 'reordering' / 'ln_scores.npy'}: {message}")
    end_word = np.array([language_model.end], np.int32)
    tables = Tables(phrases, ln_reordering, language_model.encoded_ids(target.encoded), language_model.tables, end_word)
    most_pairs = description.max_pairs_per_source_phrase
    if most_pairs is None:
        most_pairs = longest(phrases.pair_offsets)
    return Model(description, weights, source, target, language_model, tables, most_pairs)


def _check_files(directory: Path) -> None:
    if not directory.is_dir():
        raise ModelError(f"{directory}: no such model directory; make one with phrasebeam train-model")
    for name in ("model.yaml", "weights.yaml", "source.vocab", "target.vocab", "phrases", "lm.bin"):
        if not (directory / name).exists():
            raise ModelError(f"{directory / name}: missing; {TRAIN_AGAIN}")
