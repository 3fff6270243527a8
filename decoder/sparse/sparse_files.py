"""The files of a model's sparse features: templates, weights, and features of single phrase pairs.

templates.yaml                  Templates and FORMAT; the maps that it names lie beside it
sparse/{keys,values}.npy        weights that are not 0, see SparseWeights
sparse/names                    key in hexadecimal and name of the heaviest features, where they were learned
sparse/pairs/*.npy, names       features of pairs, which phrase tables of other toolkits may have
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from phrasebeam.base.array_file import ArrayWriter
from phrasebeam.base.config import load_config, save_config
from phrasebeam.base.errors import FormatError, ModelError, excerpt
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.decoder.sparse.levels import Levels
from phrasebeam.decoder.sparse.sparse_features import PairPoints, Sparse, build_sparse, no_sparse, only_groups
from phrasebeam.decoder.sparse.sparse_weights import new_sparse_weights, open_sparse_weights
from phrasebeam.decoder.sparse.templates import PAIR_SPARSE, Templates
from phrasebeam.decoder.tables.model_files import PAIR_FEATURES, open_arrays
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.decoder.tables.text_hashes import name_keys
from phrasebeam.decoder.tables.word_counts import FrequentWords, WordCounts, frequent_words
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary

# The format of all these files; without it in templates.yaml, keys depended on the order of groups and positions
FORMAT = "phrasebeam sparse features 2"
KEY = re.compile("[0-9a-f]{16}")
ROWS_AT_ONCE = 1 << 20


class TemplatesFile(Templates):
    """templates.yaml: the templates, and the format of keys."""

    format: str = ""


def save_templates(directory: Path, templates: Templates) -> None:
    """Write templates.yaml to `directory`."""
    save_config(TemplatesFile(**dict(templates) | {"format": FORMAT}), directory / "templates.yaml")


def _open_templates(path: Path) -> Templates:
    """Read templates.yaml. Raises ModelError if its keys are of another format."""
    templates = load_config(path, TemplatesFile)
    if templates.format != FORMAT:
        found = f"the format of sparse features is {excerpt(templates.format)}" if templates.format else "no format"
        mend = "learn the features again with train-maxforce, or import the Moses model again with import-moses"
        raise ModelError(f"{path}: {found}, expected {FORMAT!r}; {mend}")
    return templates


def open_sparse(
    directory: Path,
    source: FixedVocabulary,
    target: FixedVocabulary,
    phrases: PhraseTable,
    counts_of_words: Callable[[], WordCounts],
) -> tuple[Templates | None, Levels | None, Sparse]:
    """The sparse features of the model in `directory`; (None, None, no_sparse()) without any.

    Calls `counts_of_words` to find frequent words, but only if a group needs them.
    Raises SmtError if a file is missing or damaged.
    """
    if not (directory / "templates.yaml").exists():
        return None, None, no_sparse()
    templates = _open_templates(directory / "templates.yaml")
    frequent = FrequentWords()
    if templates.source_deletion:
        frequent = frequent_words(counts_of_words(), source, target)
    levels, path = Levels(templates.levels, directory, frequent, templates.word_lists), directory / "sparse"
    weights = open_sparse_weights(path) if (path / "keys.npy").exists() else new_sparse_weights()
    points = PairPoints(phrases.alignment_offsets, phrases.alignment_points, np.zeros(0, np.int64))
    sparse = build_sparse(templates, levels, target, weights)._replace(points=points)
    if (path / "pairs").exists():
        sparse = _with_pairs(sparse, path / "pairs", phrases.n_pairs)
    return templates, levels, sparse


def open_pair_names(directory: Path) -> dict[int, str]:
    """The names of features of single phrase pairs, by key; empty without such features."""
    path = directory / "sparse" / "pairs" / "names"
    names = list(read_lines(path)) if path.exists() else []
    return dict(zip(name_keys(names).tolist(), names)) if names else {}


def save_feature_names(directory: Path, names: Mapping[int, str]) -> None:
    """Write sparse/names: the `names` of features by key."""
    (directory / "sparse").mkdir(exist_ok=True)
    with atomic_file(directory / "sparse" / "names") as file:
        file.write("".join(f"{key:016x}\t{name}\n" for key, name in names.items()).encode("utf-8"))


def open_feature_names(directory: Path) -> dict[int, str]:
    """The names of features by key in sparse/names, {} if there is no file. Raises FormatError for a damaged line."""
    path, names = directory / "sparse" / "names", dict[int, str]()
    for number, line in enumerate(read_lines(path) if path.exists() else (), 1):
        key, _, name = line.partition("\t")
        if not KEY.fullmatch(key):
            raise FormatError(path, f"{excerpt(line)}, expected a key in hexadecimal, a tab and a name", number)
        names[int(key, 16)] = name
    return names


def save_pair_features(
    directory: Path, names: Sequence[str], offsets: np.ndarray, numbers: np.ndarray, values: np.ndarray
) -> None:
    """Write the features of pairs: pair i has those at offsets[i]:offsets[i + 1] (int64[P + 1]).

    `numbers` (int64[Z]) are their indices in `names`, `values` (float32[Z]) their values.
    """
    path = directory / "sparse" / "pairs"
    path.mkdir(parents=True)
    with atomic_file(path / "names") as file:
        file.write("".join(f"{name}\n" for name in names).encode("utf-8"))
    keys, arrays = name_keys(names), {"offsets": offsets, "keys": numbers, "values": values}
    for name, field, *_ in PAIR_FEATURES:
        writer = ArrayWriter(path / f"{name}.npy", field.dtype)
        for begin in range(0, arrays[name].size, ROWS_AT_ONCE):
            rows = arrays[name][begin : begin + ROWS_AT_ONCE]
            writer.append(keys[rows] if name == "keys" else rows)
        writer.close()


def _with_pairs(sparse: Sparse, directory: Path, n_pairs: int) -> Sparse:
    arrays = open_arrays(directory, PAIR_FEATURES, {"P": n_pairs})
    active = sparse.active.copy()
    active[PAIR_SPARSE] = True
    sparse = sparse._replace(pair_offsets=arrays["offsets"], pair_keys=arrays["keys"], pair_values=arrays["values"])
    return only_groups(sparse, active)
