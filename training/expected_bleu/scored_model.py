"""Writes a model whose phrase table and reordering table have learned scores."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.array_file import npy_header
from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.training.common.derived_model import DerivedModel, Making

SCORES, ORIENTATION_SCORES = (f"{name}/ln_scores.npy" for name in ("phrases", "reordering"))


class Scores(NamedTuple):
    """Rows of the phrase table and of the reordering table, in pieces, in the order of the phrase pairs."""

    pairs: Iterable[np.ndarray]  # float32[K, one for each of the weights]
    orientations: Iterable[np.ndarray] | None  # float32[K, ...], with the learned columns; None: as before training


def write_scored(derived: DerivedModel, scores: Scores, weights: Weights, making: Making) -> None:
    """Write a derived model with these scores of phrase pairs."""
    opened, output, own = derived.opened, derived.output, {SCORES}
    n_pairs, description = len(opened.tables.phrases.ln_scores), opened.description
    _write(output / SCORES, (n_pairs, len(weights.translation)), scores.pairs)
    before = description.reordering
    if scores.orientations is not None and before is not None:
        own.add(ORIENTATION_SCORES)
        reordering = before.model_copy(update={"learned": before.learned + 1})
        description = description.model_copy(update={"reordering": reordering})
        _write(output / ORIENTATION_SCORES, (n_pairs, reordering.n_all_columns), scores.orientations)
    derived.write(weights, making, own, description=description)


def _write(path: Path, shape: tuple[int, int], pieces: Iterable[np.ndarray]) -> None:
    """Write a float32 table of `shape` as .npy, from pieces of rows."""
    with atomic_file(path) as file:
        file.write(npy_header(np.dtype(np.float32), shape))
        for piece in pieces:
            file.write(np.ascontiguousarray(piece, np.float32).data)
