"""Sparse features as kernels take them: what stands for each word at each level, and which combinations there are.

A key is a hash over strings alone, so that a feature has the same key in every model, process and run.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, new_sparse_weights
from phrasebeam.decoder.sparse.template_config import Level, Templates, WordEdges
from phrasebeam.kernels.hashing import mix, murmur
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary, Words, encode
from phrasebeam.lm.text.vocabulary import BEGIN, END
from phrasebeam.lm.text.word_classes import read_class_map

# Word edges by what they combine: words of the source phrase, of the target phrase, and of the source around. They
# differ in what they are worth beside dense features (docs/experiments/yu2013-maxforce.md), so that each kind has a
# scale.
EDGES = {
    "source_edges": {"source"},
    "target_edges": {"target"},
    "context_edges": {"context"},
    "source_target_edges": {"source", "target"},
    "source_context_edges": {"source", "context"},
    "target_context_edges": {"target", "context"},
    "all_edges": {"source", "target", "context"},
}
GROUPS = ("pair_sparse", "rule_id", "rule_bigram", "rule_history", *EDGES)
PAIR_SPARSE, RULE_ID, RULE_BIGRAM, RULE_HISTORY = (np.int64(i) for i in range(4))
# Positions of a combination: edges of the source and of the target phrase, source words around; then two columns
# more, whether the length of the source phrase belongs to it, and its group.
POSITIONS = ("first_source", "last_source", "first_target", "last_target", "before", "behind")
PARTS = ("source", "source", "target", "target", "context", "context")
LENGTH, GROUP = np.int64(len(POSITIONS)), np.int64(len(POSITIONS) + 1)
ABSENT = -1
WORD = np.int64(0)  # column of the words themselves among the levels
UNCLASSED = "?"  # class of a word that the map does not have
NO_CLASSES = np.zeros((0, 1), np.uint64)
BEGIN_ROW = 0  # of Sentence.classes, whose row 1 + i is word i


class Sparse(NamedTuple):
    """Sparse features of a model whose phrase table has P pairs, over a target vocabulary of V words."""

    weights: SparseWeights
    active: np.ndarray  # bool[len(GROUPS)]
    pair_offsets: np.ndarray  # int64[P + 1], into the two below; of no pairs without such features
    pair_keys: np.ndarray  # uint64[...]
    pair_values: np.ndarray  # float32[...]
    target_classes: np.ndarray  # uint64[V, 1 + L], hash of the word, and of what stands for it at each level
    nothing: np.ndarray  # uint64[1 + L], of what is before the first target word
    combinations: np.ndarray  # int8[C, 8], column of the classes by position, or ABSENT; then LENGTH and GROUP


class Levels:
    """What stands for words: column 0 for the word itself, then one for each level."""

    def __init__(self, levels: Sequence[Level], directory: Path):
        """Read the maps of the levels, which lie in `directory`. Raises SmtError where one is missing or wrong."""
        self.levels = levels
        self._maps = {
            side: [read_class_map(directory / getattr(level, side)) if level.source else {} for level in levels]
            for side in ("source", "target")
        }

    def names(self, side: str, word: str) -> list[str]:
        """What stands for a word of one side."""
        return [word, *(_stand_in(level, known, word) for level, known in zip(self.levels, self._maps[side]))]

    def classes(self, side: str, words: Iterable[str]) -> np.ndarray:
        """uint64[W, 1 + L] hashes of them."""
        rows = [self.names(side, word) for word in words]
        labels = ["word", *(level.name for level in self.levels)]
        encoded = encode([f"{label}={name}" for row in rows for label, name in zip(labels, row)])
        hashes = np.empty(encoded.offsets.size - 1, np.uint64)
        _hash_words(encoded, hashes)
        return hashes.reshape(len(rows), len(labels))

    def sentence_classes(self, words: Sequence[str]) -> np.ndarray:
        """uint64[n + 2, 1 + L] of a source sentence between its boundaries."""
        return self.classes("source", [BEGIN, *words, END])


def _stand_in(level: Level, known: dict[str, str], word: str) -> str:
    if level.kind == "type":
        return word_type(word)
    text = known.get(word, UNCLASSED) if level.kind == "classes" else word
    return text[: level.prefix] if level.prefix else text


def word_type(word: str) -> str:
    """What kind of word it is: number, mark, mixed with a digit, or other (Yu et al. 2013 do not say which four)."""
    if word in (BEGIN, END):
        return "boundary"
    if not any(c.isalnum() for c in word):
        return "mark"
    if any(c.isdigit() for c in word):
        return "number" if not any(c.isalpha() for c in word) else "mixed"
    return "word"


@kernel
def _hash_words(words: Words, hashes: np.ndarray) -> None:
    for i in range(hashes.size):
        hashes[i] = mix(murmur(words.data, words.offsets[i], words.offsets[i + 1]))


def name_keys(names: Sequence[str]) -> np.ndarray:
    """uint64[N] keys of features that have names of their own, those of pairs."""
    hashes = np.empty(len(names), np.uint64)
    _hash_words(encode(names), hashes)
    return hashes | np.uint64(1)


def word_edges(settings: WordEdges, levels: Sequence[Level]) -> np.ndarray:
    """int8[C, 8] combinations within the budget (Yu et al. 2013, section 4.2), the smaller ones first."""
    rows = []
    for size in range(1, settings.most_words + 1):
        for positions in combinations(range(len(POSITIONS)), size):
            group = _group_of_edges(positions)
            for chosen in product(range(len(levels)), repeat=size):
                if sum(levels[i].budget for i in chosen) > settings.budget:
                    continue
                row = [ABSENT] * len(POSITIONS)
                for position, level in zip(positions, chosen):
                    row[position] = 1 + level
                rows += [[*row, with_length, group] for with_length in range(1 + settings.with_length)]
    return np.array(rows, np.int8).reshape(-1, len(POSITIONS) + 2)


def _group_of_edges(positions: Sequence[int]) -> int:
    parts = {PARTS[position] for position in positions}
    return next(GROUPS.index(name) for name, combined in EDGES.items() if combined == parts)


def no_sparse() -> Sparse:
    """Of a model without sparse features."""
    nothing = np.zeros(0, np.uint64)
    return Sparse(
        new_sparse_weights(),
        np.zeros(len(GROUPS), bool),
        np.zeros(1, np.int64),
        nothing,
        np.zeros(0, np.float32),
        NO_CLASSES,
        np.zeros(1, np.uint64),
        np.zeros((0, len(POSITIONS) + 2), np.int8),
    )


def only_groups(sparse: Sparse, active: np.ndarray) -> Sparse:
    """Without the groups that are not `active` (bool[len(GROUPS)])."""
    return sparse._replace(active=active, combinations=sparse.combinations[active[sparse.combinations[:, GROUP]]])


def sparse_of(sparse: Sparse, pairs: np.ndarray) -> Sparse:
    """The same for a table that has some `pairs` (int64[P]) of the model's alone."""
    if not sparse.pair_keys.size:
        return sparse
    first, last = sparse.pair_offsets[pairs], sparse.pair_offsets[pairs + 1]
    offsets = np.zeros(pairs.size + 1, np.int64)
    np.cumsum(last - first, out=offsets[1:])
    places = np.repeat(first - offsets[:-1], last - first) + np.arange(offsets[-1])
    return sparse._replace(
        pair_offsets=offsets, pair_keys=sparse.pair_keys[places], pair_values=sparse.pair_values[places]
    )


def build_sparse(templates: Templates, levels: Levels, target: FixedVocabulary, weights: SparseWeights) -> Sparse:
    """The features of `templates`, over a target vocabulary. Those of single pairs are to be put in afterwards."""
    edges = word_edges(templates.word_edges, templates.levels) if templates.word_edges else no_sparse().combinations
    active = no_sparse().active
    active[RULE_ID] = templates.rule_id
    active[RULE_BIGRAM], active[RULE_HISTORY] = templates.rule_bigram, templates.rule_history
    active[edges[:, GROUP]] = True
    return no_sparse()._replace(
        weights=weights,
        active=active,
        target_classes=levels.classes("target", target.words),
        nothing=levels.classes("target", [BEGIN])[0],
        combinations=edges,
    )
