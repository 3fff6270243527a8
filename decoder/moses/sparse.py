"""Import and export of Moses' sparse features: those of phrase tables and of words, with their weights."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.model.moses_names import MosesFeature
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.moses.ini import MosesModel
from phrasebeam.decoder.moses.tables import PAIRS_AT_ONCE, SparseColumns
from phrasebeam.decoder.sparse.feature_names import OTHER
from phrasebeam.decoder.sparse.phrase_hashes import NO_PART, fill_part_keys
from phrasebeam.decoder.sparse.sparse_features import word_hashes
from phrasebeam.decoder.sparse.sparse_files import (
    open_feature_names,
    save_feature_names,
    save_pair_features,
    save_templates,
)
from phrasebeam.decoder.sparse.sparse_weights import fill_weights, save_sparse_weights, sparse_weights_of, used
from phrasebeam.decoder.sparse.templates import GROUP_HASHES, GROUPS, WORD_GROUPS, Templates
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.decoder.tables.text_hashes import name_keys
from phrasebeam.lm.text.encoded_words import Words, encode

LENGTHS = re.compile(r"s(\d{1,3})|t(\d{1,3})|(\d{1,3}),(\d{1,3})", re.ASCII)
OF_WORDS = tuple(group.name for group in WORD_GROUPS)


def save_sparse(pair_names: list[str], columns: SparseColumns, moses: MosesModel, directory: Path) -> bool:
    """Write the sparse features of a model to its directory; return whether phrase pairs have features of their own.

    `pair_names` are the names of the features of phrase pairs, to which `columns` refers.
    """
    if pair_names:
        save_pair_features(directory, pair_names, *columns)
    elif moses.templates is None:
        return False
    keys: list[np.ndarray] = []
    values: list[list[float]] = []
    names = dict[int, str]()
    for one in named_features(moses, bool(pair_names)):
        if one.feature == "pair_sparse":
            own = _weights_of(one, moses.sparse_weights)
            keys.append(name_keys([f"{one.name}_{text}" for text in own]))
            values.append(list(own.values()))
        elif one.feature in OF_WORDS:
            own = _weights_of(one, moses.sparse_weights)
            texts, amounts = list(own), list(own.values())
            of_text, word_keys = word_features(one.feature, texts)
            keys.append(word_keys)
            values.append([amounts[i] for i in of_text])
            names |= {key: f"{one.feature}_{texts[i]}" for key, i in zip(word_keys.tolist(), of_text)}
    flat = np.array([value for some in values for value in some], np.float64)
    save_sparse_weights(sparse_weights_of(np.concatenate(keys), flat), directory / "sparse")
    save_templates(directory, moses.templates or Templates())
    if names:
        save_feature_names(directory, names)
    return bool(pair_names)


def _weights_of(feature: MosesFeature, weights: Mapping[str, float]) -> dict[str, float]:
    """The weights of the sparse features of `feature`, by their names without its prefix."""
    prefix = f"{feature.name}_"
    return {name[len(prefix) :]: weight for name, weight in weights.items() if name.startswith(prefix)}


def named_features(moses: MosesModel, has_pair_features: bool) -> Iterator[MosesFeature]:
    """The features of a model by Moses' names; sparse features of a phrase table follow its scores."""
    for one in moses.names:
        yield one
        if one.feature == "translation" and has_pair_features:
            yield one.model_copy(update={"feature": "pair_sparse", "first": 0, "size": 1})


class SparseColumn:
    """The column of a text phrase table for sparse features: names, without the table's prefix, and values."""

    def __init__(self, model: Model):
        """Raises ModelError for a feature of phrase pairs whose name the model does not have."""
        self._sparse, self._names = model.tables.sparse, dict[int, str]()
        for key in np.unique(self._sparse.pair_keys).tolist():
            if key not in model.pair_names:
                raise ModelError("sparse/pairs/names: a feature of pairs has no name there; import the model again")
            self._names[key] = _table_and_name(model.pair_names[key], model)[1]

    def texts(self, rows: slice) -> Words:
        """The text of the column for each pair in `rows`."""
        if not self._sparse.pair_keys.size:
            return Words(np.zeros(0, np.uint8), np.zeros(rows.stop - rows.start + 1, np.int64))
        offsets = self._sparse.pair_offsets[rows.start : rows.stop + 1].tolist()
        used = slice(offsets[0], offsets[-1])
        keys, values = self._sparse.pair_keys[used].tolist(), self._sparse.pair_values[used].astype(str).tolist()
        features = [f"{self._names[key]} {value}" for key, value in zip(keys, values)]
        return encode([" ".join(features[begin - offsets[0] : end - offsets[0]]) for begin, end in pairwise(offsets)])


def _table_and_name(name: str, model: Model) -> tuple[str, str]:
    """The phrase table to which a feature of phrase pairs belongs, and its name in that table."""
    tables = [one.name for one in model.moses_names if one.feature == "translation"]
    table = next((table for table in tables if name.startswith(f"{table}_")), None)
    return (table, name[len(table) + 1 :]) if table else (tables[0], name.partition("_")[2])


def weight_lines(model: Model, directory: Path) -> Iterator[str]:
    """Lines of Moses' file of sparse weights: weights that are not 0, times the scale of their group.

    `directory` is the model's. Of features of words, these are the ones whose names it has, or else those that its
    phrase pairs can have.
    """
    scale, keys = model.weights.pair_sparse or 0.0, np.array(list(model.pair_names), np.uint64)
    for name, value in zip(model.pair_names.values(), _weights(model, keys)):
        if value != 0:
            yield f"{'_'.join(_table_and_name(name, model))} {scale * value!r}\n"
    groups = {one.feature: one.name for one in model.moses_names if one.feature in OF_WORDS}
    texts = _known_texts(open_feature_names(directory).values(), groups)
    known = [keys, *(word_features(group, some)[1] for group, some in texts.items())]
    weighted, values = used(model.tables.sparse.weights)
    if not np.isin(weighted[values != 0], np.concatenate(known)).all():
        texts = {group: [*some, *_possible_texts(model, group)] for group, some in texts.items()}
    for group, some in texts.items():
        of_text, keys = word_features(group, some)
        found = {some[i]: value for i, value in zip(of_text, _weights(model, keys)) if value != 0}
        for text, value in found.items():
            yield f"{groups[group]}_{text} {getattr(model.weights, group) * value!r}\n"


def _weights(model: Model, keys: np.ndarray) -> list[float]:
    values = np.zeros(keys.size)
    fill_weights(model.tables.sparse.weights, keys, values)
    return values.tolist()


def _known_texts(names: Iterable[str], groups: Iterable[str]) -> dict[str, list[str]]:
    """For each group, the names of its features without the group."""
    names = list(names)
    return {group: [name[len(group) + 1 :] for name in names if name.startswith(f"{group}_")] for group in groups}


def _possible_texts(model: Model, group: str) -> Iterator[str]:
    """The features of words that phrase pairs of the model can have, by Moses' names."""
    if group == "phrase_lengths":
        sizes = model.description.max_source_phrase_length, model.description.max_target_phrase_length
        sources, targets = range(1, sizes[0] + 1), range(1, sizes[1] + 1)
        yield from (*(f"s{n}" for n in sources), *(f"t{n}" for n in targets))
        yield from (f"{n},{m}" for n in sources for m in targets)
    elif group == "word_pairs":
        source, target = model.source.words, model.target.words
        words = [(source[i], target[j]) for i, j in _aligned_words(model.tables.phrases, len(target))]
        pairs = [pair for i, j in words for pair in ((i, j), (i, OTHER), (OTHER, j), (OTHER, OTHER))]
        yield from (f"{i}~{j}" for i, j in dict.fromkeys(pairs))
    else:
        yield from (OTHER, *(model.target if group == "inserted_words" else model.source).words)


def _aligned_words(table: PhraseTable, n_words: int) -> list[list[int]]:
    """Source and target ids of all word pairs that are aligned in a phrase pair; there are `n_words` target words."""
    found = np.zeros(0, np.int64)
    for begin in range(0, table.joint_counts.size, PAIRS_AT_ONCE):
        pairs = np.arange(begin, min(begin + PAIRS_AT_ONCE, table.joint_counts.size))
        first, last = table.alignment_offsets[pairs[0]], table.alignment_offsets[pairs[-1] + 1]
        pair_of = np.repeat(pairs, np.diff(table.alignment_offsets[begin : begin + pairs.size + 1]))
        source_of = np.searchsorted(table.pair_offsets, pair_of, "right") - 1
        points = table.alignment_points[first:last].astype(np.int64)
        sources = table.source_words[table.source_offsets[source_of] + points[:, 0]].astype(np.int64)
        targets = table.target_words[table.target_offsets[pair_of] + points[:, 1]]
        found = np.unique(np.concatenate([found, sources * n_words + targets]))
    return np.stack(np.divmod(found, n_words), axis=1).tolist()


def word_features(group: str, texts: Sequence[str]) -> tuple[list[int], np.ndarray]:
    """For each of K features of a group of WORD_GROUPS: index in `texts` of its Moses name without prefix, and its key.

    A text names several features if it is ambiguous which ~ separates the words: Moses has one weight for all of them.
    A text that Moses never writes names no feature. The keys are uint64[K].
    """
    parts = [(i, *part) for i, text in enumerate(texts) for part in _parts(group, text)]
    of_text, firsts, seconds = map(list, zip(*parts)) if parts else ([], [], [])
    first, second = _numbers(group, firsts), _numbers(group, seconds)
    keys = np.empty(len(parts), np.uint64)
    fill_part_keys(GROUP_HASHES[GROUPS.index(group)], first, second, keys)
    return of_text, keys


def _parts(group: str, text: str) -> Iterator[tuple[str | None, str | None]]:
    """The two parts of each feature that has the Moses name `text`; None for a missing part."""
    if group == "phrase_lengths":
        if match := LENGTHS.fullmatch(text):
            yield match[1] or match[3], match[2] or match[4]
    elif group == "word_pairs":
        yield from ((text[:i], text[i + 1 :]) for i in range(1, len(text) - 1) if text[i] == "~")
    else:
        yield text, None


def _numbers(group: str, parts: Sequence[str | None]) -> np.ndarray:
    """int64[K] numbers of `parts` for parts_hash."""
    if group == "phrase_lengths":
        return np.array([NO_PART if part is None else int(part) for part in parts], np.int64)
    hashes = word_hashes([part or "" for part in parts]).view(np.int64)
    return np.where([part is None for part in parts], NO_PART, hashes) if parts else hashes
