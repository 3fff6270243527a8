"""Sparse features of a Moses phrase table: their weights (FVector::load), and how a model keeps them."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from decoder.features.sparse_weights import add_weights, new_sparse_weights, save_sparse_weights
from decoder.features.template_config import Templates
from decoder.features.templates import name_keys
from decoder.moses.tables import PhraseTableReader
from decoder.sparse_files import save_pair_features
from lm.config import save_config
from lm.errors import FormatError
from lm.files import read_lines

COMMENT = "#"


def read_weight_file(path: Path, is_known: Callable[[str], bool]) -> dict[str, float]:
    """Weights by name, of lines 'NAME WEIGHT'. Raises FormatError for other lines and names that are not known."""
    weights = {}
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split()
        if not fields or line.startswith(COMMENT):
            continue
        weight = _number(fields[-1])
        if len(fields) != 2 or not math.isfinite(weight):
            raise FormatError(path, f"{line[:40]!r}, expected 'NAME WEIGHT'", number)
        if not is_known(fields[0]):
            known = "the decoder has sparse features of the phrase table alone, of Moses' others none"
            raise FormatError(path, f"{fields[0]}: {known}; remove it, and tune again", number)
        weights[fields[0]] = weight
    return weights


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def save_sparse(reader: PhraseTableReader, table_name: str, weights: Mapping[str, float], directory: Path) -> bool:
    """Write what a table that was read has of sparse features to the model in `directory`; whether it has any."""
    if not reader.sparse_names:
        return False
    names = [f"{table_name}_{name}" for name in reader.sparse_names]
    arrays = (np.array(ends) for ends in (reader.sparse_ends, reader.sparse_numbers, reader.sparse_values))
    save_pair_features(directory, names, *arrays)
    table = new_sparse_weights(len(weights))
    add_weights(table, name_keys(list(weights)), np.array(list(weights.values()), np.float64))
    save_sparse_weights(table, directory / "sparse")
    save_config(Templates(), directory / "templates.yaml")
    return True
