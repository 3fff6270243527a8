"""The sparse features of a model as kernels take them, and lists of features that fire."""

from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.sparse.feature_names import OTHER
from phrasebeam.decoder.sparse.levels import KIND, NO_CLASSES, POSITIONS, Levels, WordLists, word_edges
from phrasebeam.decoder.sparse.sparse_weights import (
    SparseWeights,
    find_slots,
    find_weight,
    new_sparse_weights,
    weight_in,
)
from phrasebeam.decoder.sparse.templates import (
    FIRST_EDGES,
    FIRST_PHRASE,
    FIRST_WORDS,
    GROUPS,
    LAST_PHRASE,
    SPARSE_GROUPS,
    Templates,
)
from phrasebeam.decoder.tables.model_files import TRAIN_AGAIN
from phrasebeam.decoder.tables.phrase_table import LONGEST_PHRASE, longest
from phrasebeam.decoder.tables.ragged import taken
from phrasebeam.decoder.tables.text_hashes import hash_texts
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary
from phrasebeam.lm.text.vocabulary import BEGIN

MOST_OF_A_GROUP = 2 * LONGEST_PHRASE  # features of a phrase in a group: source_deletion has two for each word


class PairPoints(NamedTuple):
    """The alignment points of the P pairs of a phrase table, with their places in the model's table."""

    offsets: np.ndarray  # int64[...], PhraseTable.alignment_offsets of the model
    points: np.ndarray  # uint8[..., 2], PhraseTable.alignment_points of the model
    origin: np.ndarray  # int64[P], numbers of the pairs in the model's table; [0] if the table is the model's


def no_pair_points() -> PairPoints:
    """The alignment points of a table without pairs."""
    return PairPoints(np.zeros(1, np.int64), np.zeros((0, 2), np.uint8), np.zeros(0, np.int64))


class ListedWords(NamedTuple):
    """The ascending hashes of the words of each of WordLists, including OTHER; empty if there is no list."""

    inserted: np.ndarray  # uint64[...]
    deleted: np.ndarray  # uint64[...]
    pair_source: np.ndarray  # uint64[...]
    pair_target: np.ndarray  # uint64[...]
    other: np.ndarray  # uint64[1], the hash of OTHER


def listed_words(lists: WordLists) -> ListedWords:
    """The words of `lists`, in the form for kernels."""
    none = np.zeros(0, np.uint64)
    hashes = {name: none if words is None else np.unique(word_hashes([*words, OTHER])) for name, words in lists}
    return ListedWords(**hashes, other=word_hashes([OTHER]))


def word_hashes(words: list[str]) -> np.ndarray:
    """uint64[W] hashes of `words` as in column WORD of Sentence.classes."""
    return hash_texts([f"word={word}" for word in words])


class Sparse(NamedTuple):
    """Sparse features of a model whose phrase table has P pairs, over a target vocabulary of V words."""

    weights: SparseWeights
    active: np.ndarray  # bool[len(GROUPS)], groups that the model has
    has_rule_features: bool  # whether features depend on the pair and the source sentence
    has_orientations: bool  # whether features depend on the pair and its orientation to neighbouring phrases
    has_history: bool  # whether features also depend on the preceding phrases
    has_phrase_features: bool  # whether there are groups in PHRASE_GROUPS or WORD_GROUPS
    has_word_features: bool  # whether there are groups in WORD_GROUPS
    pair_offsets: np.ndarray  # int64[P + 1], into pair_keys and pair_values; [0] if pairs have no features
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
    """`sparse` with only the groups that are `active` (bool[len(GROUPS)])."""
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
    """`sparse` for a phrase table that has only the `pairs` (int64[P]) of the model's table, renumbered from 0."""
    sparse = sparse._replace(points=sparse.points._replace(origin=pairs))
    if not sparse.pair_keys.size:
        return sparse
    offsets, columns = taken(sparse.pair_offsets, pairs)
    return sparse._replace(
        pair_offsets=offsets, pair_keys=sparse.pair_keys[columns], pair_values=sparse.pair_values[columns]
    )


def build_sparse(templates: Templates, levels: Levels, target: FixedVocabulary, weights: SparseWeights) -> Sparse:
    """The features of `templates` for a target vocabulary, without features of single pairs, which callers add."""
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


@inlined_kernel
def target_class(sparse: Sparse, synthetic, word, column):
    """uint64 hash of the class of a target word at the level `column` (int64), 0 for the word itself.

    `word` (int64) is an id; ids of the vocabulary's size or more are words of `synthetic` (SyntheticPairs).
    """
    n_words = sparse.target_classes.shape[0]
    return sparse.target_classes[word, column] if word < n_words else synthetic.classes[word - n_words, column]


class SparseFeatureBuffer(NamedTuple):
    """A list of at most K sparse features, of one or more phrase pairs, and scratch space for kernels."""

    keys: np.ndarray  # uint64[K]
    values: np.ndarray  # float32[K]
    groups: np.ndarray  # int64[K], indices of GROUPS
    slots: np.ndarray  # int64[K], scratch space of weigh_fired
    edges: np.ndarray  # uint64[6, 1 + L], scratch space of fill_edges
    cliques: np.ndarray  # int64[2, LONGEST_PHRASE], scratch space of fill_cliques
    n: np.ndarray  # int64[1], number of features in the list


def new_sparse_features(capacity: int, n_levels: int) -> SparseFeatureBuffer:
    """An empty list with room for `capacity` features, for models with `n_levels` levels."""
    edges = np.zeros((len(POSITIONS), 1 + n_levels), np.uint64)
    keys, values, groups, slots = (np.zeros(capacity, dtype) for dtype in (np.uint64, np.float32, np.int64, np.int64))
    cliques = np.zeros((2, LONGEST_PHRASE), np.int64)
    return SparseFeatureBuffer(keys, values, groups, slots, edges, cliques, np.zeros(1, np.int64))


def most_sparse_features(sparse: Sparse) -> int:
    """The most features that one phrase pair can have: its own, of word edges, of the phrase alone, with history.

    Raises ModelError if the offsets of the pairs' own features are damaged: memory of that size cannot be allocated.
    """
    of_pair, n_keys = longest(sparse.pair_offsets), sparse.pair_keys.size
    if of_pair > n_keys:
        found = f"sparse/pairs/offsets.npy: {of_pair} features of a phrase pair, of {n_keys} in all"
        raise ModelError(f"{found}; {TRAIN_AGAIN}, see check-model")
    of_phrase = MOST_OF_A_GROUP * int(sparse.active[FIRST_PHRASE : LAST_PHRASE + 1].sum())
    with_history = most_history_features(sparse.begin_classes.size - 1)
    return of_pair + len(sparse.combinations) + of_phrase + with_history


def most_history_features(n_levels: int) -> int:
    """The most features with history that one phrase pair can have, in models with `n_levels` levels."""
    return len(GROUPS) * (1 + n_levels)


@inlined_kernel
def weigh_fired(weights: SparseWeights, scales, fired: SparseFeatureBuffer):
    """Weighted sum of all features in `fired`, times the `scales` of their groups (float64[len(GROUPS)])."""
    find_slots(weights, fired.keys, fired.n[0], fired.slots)
    return weigh_found(weights, scales, fired, np.int64(0), fired.n[0])


@inlined_kernel
def weigh_found(weights: SparseWeights, scales, fired: SparseFeatureBuffer, begin, end):
    """Weighted sum of the features begin:end (int64) in `fired`, whose slots have been found.

    `scales`: float64[len(GROUPS)], scales of their groups.
    """
    total = 0.0
    for i in range(begin, end):
        total += scales[fired.groups[i]] * weight_in(weights, fired.slots[i]) * np.float64(fired.values[i])
    return total


@inner_kernel
def add_group_values(weights: SparseWeights, fired: SparseFeatureBuffer, places, features):
    """Add weights times values of the features in `fired` to the feature vector `features` (float64[F]).

    `places` (int64[len(GROUPS)]) are the indices of the groups in `features`, negative for groups that it lacks.
    """
    for i in range(fired.n[0]):
        index = places[fired.groups[i]]
        if index >= 0:
            features[index] += find_weight(weights, fired.keys[i]) * np.float64(fired.values[i])
