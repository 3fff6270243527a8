"""A model whose phrase table has further scores: those that were learned, each with weight 1."""

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
    n_scores: int,
    settings: Mapping[str, object],
    digests: Mapping[str, Mapping[str, str]],
    work: str,
) -> None:
    """Write `model` with `n_scores` further scores of each pair to `output`, but for its directory `work`.

    `scores` (float32[K, n_scores]) come in pieces in the order of the pairs; `opened` is `model`.
    """
    table = opened.tables.phrases.ln_scores
    n_pairs, n_before = table.shape
    begin = 0
    with atomic_file(output / SCORES) as file:
        file.write(npy_header(np.dtype(np.float32), (n_pairs, n_before + n_scores)))
        for piece in scores:
            end = begin + len(piece)
            file.write(np.hstack([table[begin:end], piece]).astype(np.float32).tobytes())
            begin = end
    write_derived(
        model,
        output,
        opened.description,
        with_scores(opened.weights, n_scores),
        settings,
        digests,
        ("expected bleu", ""),
        lambda path: path.parts[0] != work and path != SCORES,
    )


def with_scores(weights: Weights, n_scores: int) -> Weights:
    """The weights with 1 for each further score, which is in no group by length."""
    update = {"translation": [*weights.translation, *[1.0] * n_scores]}
    if weights.length_groups is not None:
        n_ranges = len(weights.length_groups) // len(weights.translation)
        update["length_groups"] = [*weights.length_groups, *[0.0] * (n_ranges * n_scores)]
    return weights.model_copy(update=update)
