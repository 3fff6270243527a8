"""Explanation of sparse features: those of largest weight in each group, and those that occur in a translation."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.sparse.sparse_files import open_feature_names, open_pair_names
from phrasebeam.decoder.sparse.sparse_weights import fill_weights, used
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.decoder.translate.translator import Decoder, Sentence


class Explanation(NamedTuple):
    """A sparse feature with its weight and its value in a translation."""

    group: str
    name: str
    weight: float  # multiplied by the scale of its group
    value: float = 1.0


def heaviest(decoder: Decoder, directory: Path, top: int) -> Iterator[Explanation]:
    """The `top` features of each group with the largest absolute weights, among those whose names the model has."""
    names = open_pair_names(directory) | open_feature_names(directory)
    keys, weights = used(decoder.tables.sparse.weights)
    by_group: dict[str, list[Explanation]] = {group: [] for group in GROUPS}
    for key, weight in zip(keys.tolist(), weights.tolist()):
        if key in names and weight:
            group = group_of(names[key])
            by_group[group].append(Explanation(group, names[key], _scale(decoder, group) * weight))
    for explanations in by_group.values():
        yield from sorted(explanations, key=lambda one: (-abs(one.weight), one.name))[:top]


def fired(decoder: Decoder, sentence: Sentence) -> tuple[Translation, list[Explanation]]:
    """The translation of a sentence, and its sparse features, those that matter most first."""
    translation = decoder.answer(sentence, Request(n=1, sparse="names")).nbest[0]
    explanations, weights = [], np.zeros(len(translation.sparse))
    fill_weights(decoder.tables.sparse.weights, np.array(list(translation.sparse), np.uint64), weights)
    for (key, value), weight in zip(translation.sparse.items(), weights.tolist()):
        name = translation.sparse_names[key]
        group = group_of(name)
        explanations.append(Explanation(group, name, _scale(decoder, group) * weight, value))
    return translation, sorted(explanations, key=lambda one: (-abs(one.weight * one.value), one.name))


def group_of(name: str) -> str:
    """The group of a feature, from its name."""
    return next((group for group in GROUPS if name.startswith(f"{group}_")), GROUPS[0])


def _scale(decoder: Decoder, group: str) -> float:
    return float(decoder.dense_weights.sparse[GROUPS.index(group)])
