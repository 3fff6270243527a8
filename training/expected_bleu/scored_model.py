"""A model with another phrase table: its scores, or further ones, as they were learned."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from decoder.array_writer import npy_header
from decoder.config import Weights
from decoder.model import Model
from lm.files import atomic_file
from training.derived_model import write_derived

SCORES = Path("phrases") / "ln_scores.npy"


def write_scored(
    model: Path,
    output: Path,
    opened: Model,
    scores: Iterable[np.ndarray],
    weights: Weights,
    settings: Mapping[str, object],
    digests: Mapping[str, Mapping[str, str]],
    work: str,
) -> None:
    """Write `model` with these scores of phrase pairs to `output`, but for its directory `work`.

    `scores` (float32[K, one for each of the weights]) come in pieces in the order of the pairs; `opened` is `model`.
    """
    n_pairs, n_scores = len(opened.tables.phrases.ln_scores), len(weights.translation)
    with atomic_file(output / SCORES) as file:
        file.write(npy_header(np.dtype(np.float32), (n_pairs, n_scores)))
        for piece in scores:
            file.write(np.ascontiguousarray(piece, np.float32).data)

    def shares(path: Path) -> bool:
        return path.parts[0] != work and path != SCORES

    names = "expected bleu", ""
    write_derived(model, output, opened.description, weights, settings, digests, names, shares)
