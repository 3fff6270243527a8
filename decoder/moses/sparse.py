"""Import and export of the sparse features of Moses' phrase tables and their weights."""

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

from phrasebeam.base.errors import FormatError, ModelError, excerpt
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.model.model import Model
from phrasebeam.decoder.moses.tables import PhraseTableReader
from phrasebeam.decoder.sparse.sparse_files import save_pair_features, save_templates
from phrasebeam.decoder.sparse.sparse_weights import add_weights, fill_weights, new_sparse_weights, save_sparse_weights
from phrasebeam.decoder.sparse.template_config import Templates
from phrasebeam.decoder.tables.text_hashes import name_keys

COMMENT = "#"  # as in Moses' FVector::load


def read_weight_file(path: Path, is_known: Callable[[str], bool]) -> dict[str, float]:
    """Weights by name, from lines 'NAME WEIGHT'. Raises FormatError for other lines and names that are not known."""
    weights = {}
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split()
        if not fields or line.startswith(COMMENT):
            continue
        weight = _number(fields[-1])
        if len(fields) != 2 or not math.isfinite(weight):
            raise FormatError(path, f"{excerpt(line)}, expected 'NAME WEIGHT'", number)
        if not is_known(fields[0]):
            message = "the decoder has sparse features of the phrase table alone, of Moses' others none"
            raise FormatError(path, f"{excerpt(fields[0])}: {message}; remove it, and tune again", number)
        weights[fields[0]] = weight
    return weights


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def save_sparse(reader: PhraseTableReader, table_name: str, weights: Mapping[str, float], directory: Path) -> bool:
    """Write the sparse features that `reader` has read to the model in `directory`; return whether there are any."""
    if not reader.sparse_names:
        return False
    names = [f"{table_name}_{name}" for name in reader.sparse_names]
    save_pair_features(directory, names, *reader.sparse)
    table = new_sparse_weights(len(weights))
    add_weights(table, name_keys(list(weights)), np.array(list(weights.values()), np.float64))
    save_sparse_weights(table, directory / "sparse")
    save_templates(directory, Templates())
    return True


class SparseColumn:
    """The column of a text phrase table for sparse features: their names, without the table's, and values."""

    def __init__(self, model: Model):
        """Raises ModelError for a feature of phrase pairs whose name the model does not have."""
        self._sparse, self._names = model.tables.sparse, dict[int, str]()
        for key in np.unique(self._sparse.pair_keys).tolist():
            if key not in model.pair_names:
                raise ModelError("sparse/pairs/names: a feature of pairs has no name there; import the model again")
            self._names[key] = model.pair_names[key].partition("_")[2]

    def texts(self, rows: slice) -> list[str]:
        """The text of the column for each of the pairs `rows`."""
        if not self._sparse.pair_keys.size:
            return [""] * (rows.stop - rows.start)
        offsets = self._sparse.pair_offsets[rows.start : rows.stop + 1].tolist()
        used = slice(offsets[0], offsets[-1])
        keys, values = self._sparse.pair_keys[used].tolist(), self._sparse.pair_values[used].astype(str).tolist()
        features = [f"{self._names[key]} {value}" for key, value in zip(keys, values)]
        return [" ".join(features[begin - offsets[0] : end - offsets[0]]) for begin, end in pairwise(offsets)]


def weight_lines(model: Model, table_name: str) -> Iterator[str]:
    """Lines of Moses' file of sparse weights: weights of the features of phrase pairs, times their scale."""
    scale, keys = model.weights.pair_sparse or 0.0, np.array(list(model.pair_names), np.uint64)
    values = np.zeros(keys.size)
    fill_weights(model.tables.sparse.weights, keys, values)
    for name, value in zip(model.pair_names.values(), values.tolist()):
        if value != 0:
            yield f"{table_name}_{name.partition('_')[2]} {scale * value!r}\n"
