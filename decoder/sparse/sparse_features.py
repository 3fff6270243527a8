"""The sparse features of a model as kernels take them."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.sparse.levels import NO_CLASSES, Levels
from phrasebeam.decoder.sparse.phrase_alignment import PairPoints, no_pair_points
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, new_sparse_weights
from phrasebeam.decoder.sparse.template_config import Templates
from phrasebeam.decoder.sparse.templates import (
    FIRST_EDGES,
    FIRST_PHRASE,
    FIRST_WORDS,
    LAST_PHRASE,
    SPARSE_GROUPS,
)
from phrasebeam.decoder.sparse.word_edges import KIND, POSITIONS, word_edges
from phrasebeam.decoder.sparse.word_templates import ListedWords, listed_words
from phrasebeam.decoder.tables.ragged import taken
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary
from phrasebeam.lm.text.vocabulary import BEGIN


class Sparse(NamedTuple):
    """Sparse features of a model whose phrase table has P pairs, over a target vocabulary of V words."""

    weights: SparseWeights
    active: np.ndarray  # bool[len(GROUPS)], groups that the model has
    has_rule_features: bool  # whether features depend on the pair and the source sentence
    has_orientations: bool  # whether features depend on the pair and how the phrase lies to the phrases beside it
    has_history: bool  # whether features depend on the phrases before, too
    has_phrase_features: bool  # whether there are groups of PHRASE_GROUPS or WORD_GROUPS
    has_word_features: bool  # whether there are groups of WORD_GROUPS
    pair_offsets: np.ndarray  # int64[P + 1], into pair_keys and pair_values; [0] without features of pairs
    pair_keys: np.ndarray  # uint64[...]
    pair_values: np.ndarray  # float32[...]
    target_classes: np.ndarray  # uint64[V, 1 + L], hashes of each word and of its class at each level
    begin_classes: np.ndarray  # uint64[1 + L], classes of the sentence start, before the first target word
    combinations: np.ndarray  # int8[C, 8], see word_edges
    points: PairPoints  # of the pairs
    is_frequent: np.ndarray  # bool[V], whether a target word is frequent; see FrequentWords
    class_column: int  # see Levels
    target_columns: np.ndarray  # int64[T], see Levels
    word_lists: ListedWords


def no_sparse() -> Sparse:
    """Sparse of a model without sparse features."""
    return Sparse(
        new_sparse_weights(),
        np.zeros(len(SPARSE_GROUPS), bool),
        *(False,) * 5,
        np.zeros(1, np.int64),
        np.zeros(0, np.uint64),
        np.zeros(0, np.float32),
        NO_CLASSES,
        np.zeros(1, np.uint64),
        np.zeros((0, len(POSITIONS) + 2), np.int8),
        no_pair_points(),
        np.zeros(0, np.bool_),
        0,
        np.zeros(0, np.int64),
        ListedWords(*(np.zeros(0, np.uint64) for _ in ListedWords._fields)),
    )


def only_groups(sparse: Sparse, active: np.ndarray) -> Sparse:
    """`sparse` with the groups that are `active` (bool[len(GROUPS)]) alone."""
    scopes = {group.scope for group, is_active in zip(SPARSE_GROUPS, active) if is_active}
    return sparse._replace(
        active=active,
        has_rule_features="rule" in scopes,
        has_orientations="orientation" in scopes,
        has_history="history" in scopes,
        has_phrase_features=bool(active[FIRST_PHRASE : LAST_PHRASE + 1].any()),
        has_word_features=bool(active[FIRST_WORDS : LAST_PHRASE + 1].any()),
        combinations=sparse.combinations[active[FIRST_EDGES + sparse.combinations[:, KIND]]],
    )


def sparse_of(sparse: Sparse, pairs: np.ndarray) -> Sparse:
    """`sparse` for a phrase table that has only the `pairs` (int64[P]) of the model's, renumbered from 0."""
    sparse = sparse._replace(points=sparse.points._replace(origin=pairs))
    if not sparse.pair_keys.size:
        return sparse
    offsets, columns = taken(sparse.pair_offsets, pairs)
    return sparse._replace(
        pair_offsets=offsets, pair_keys=sparse.pair_keys[columns], pair_values=sparse.pair_values[columns]
    )


def build_sparse(templates: Templates, levels: Levels, target: FixedVocabulary, weights: SparseWeights) -> Sparse:
    """The features of `templates`, over a target vocabulary, without those of single pairs, which callers add."""
    edges = word_edges(templates.word_edges, templates.levels) if templates.word_edges else no_sparse().combinations
    active = np.array([group.is_switch and getattr(templates, group.name) for group in SPARSE_GROUPS])
    active[FIRST_EDGES + edges[:, KIND]] = True
    sparse = no_sparse()._replace(
        weights=weights,
        target_classes=levels.classes("target", target.words),
        begin_classes=levels.classes("target", [BEGIN])[0],
        combinations=edges,
        is_frequent=np.array([word in levels.frequent.target for word in target.words], np.bool_),
        class_column=levels.class_column,
        target_columns=np.array(levels.target_columns, np.int64),
        word_lists=listed_words(templates.word_lists),
    )
    return only_groups(sparse, active)
