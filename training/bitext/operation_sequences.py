"""The operation sequence model of a bitext (Durrani, Schmid & Fraser 2011): each sentence pair as operations.

Each aligned sentence pair is written as the operations that generate it from left to right of its target side, and a
language model is estimated from these. What an operation is stands in decoder/operations/steps.py and walk.py.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phrasebeam.base.progress import stage
from phrasebeam.decoder.operations.operation_model import FOLDER, LM_FILE, NAMES_FILE
from phrasebeam.decoder.operations.steps import (
    ALIGNED,
    CONTINUE,
    SOURCE_ALONE,
    TARGET_ALONE,
    OperationSteps,
    fill_steps,
    new_operation_steps,
)
from phrasebeam.decoder.operations.walk import MOST_NAMES, N_COUNTS, NAMES, POSITION, Walk, walk_phrase
from phrasebeam.decoder.operations.word_operations import JUMP_NAMES, NUMBER, PREFIXES, jump_keys
from phrasebeam.decoder.sparse.feature_names import Points, cliques_of
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.estimate import estimate
from phrasebeam.lm.probing_writer import write_probing
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.training.bitext.parallel_text import Bitext
from phrasebeam.training.word_alignment.alignment_points import Alignments

ZERO: Any = np.int64(0)
PAIRS_AT_ONCE = 4096  # walked over at a time, so that memory is that of the names


class OperationNames(NamedTuple):
    """O different operations of a bitext."""

    keys: np.ndarray  # int64[O], ascending, see OperationSteps
    names: list[str]  # of the keys, all different


class _Room(NamedTuple):
    """Room for one sentence pair."""

    steps: OperationSteps
    generated: np.ndarray
    at: np.ndarray
    jumps: np.ndarray


def _new_room(bitext: Bitext) -> _Room:
    longest = int(max(np.diff(side.offsets).max(initial=1) for side in (bitext.source, bitext.target)))
    return _Room(new_operation_steps(longest), np.zeros(longest, np.bool_), np.zeros(N_COUNTS, np.int64), jump_keys())


@kernel
def walk_pairs(source: Corpus, target: Corpus, alignments: Alignments, first, room: _Room, keys, ends):
    """Write the operations of n sentence pairs from `first` (int64) to `keys` (int64[...]), their ends to `ends`.

    `ends` (int64[n]); pairs with an empty side have no operations. The steps of the last pair stay in room.steps.
    """
    written, nothing = ZERO, np.uint64(0)
    for i in range(ends.size):
        words = source.tokens[source.offsets[first + i] : source.offsets[first + i + 1]]
        translation = target.tokens[target.offsets[first + i] : target.offsets[first + i + 1]]
        n: Any = np.int64(words.size)
        if n > 0:
            points = alignments.points[alignments.offsets[first + i] : alignments.offsets[first + i + 1]]
            fill_steps(points, words, translation, np.int64(translation.size), room.steps)
            room.at[POSITION] = 0
            walk = Walk(ZERO, n, ZERO, nothing, room.generated, room.at, keys[written:], room.jumps)
            n_steps = room.steps.n[0]
            walk_phrase(walk, room.steps.position[:n_steps], room.steps.name[:n_steps], room.steps.alone[:n])
            written += room.at[NAMES]
        ends[i] = written


def write_operation_lines(bitext: Bitext, alignments: Alignments, path: Path) -> OperationNames:
    """Write the names of the operations of each sentence pair to `path`, a pair a line, by one alignment of each."""
    namer, n_pairs = _Namer(bitext, alignments), bitext.source.offsets.size - 1
    with stage("sentence pairs as operations"), open(path, "w", encoding="utf-8") as file:
        for first in range(0, n_pairs, PAIRS_AT_ONCE):
            file.writelines(namer.lines(first, min(first + PAIRS_AT_ONCE, n_pairs)))
    keys = sorted(namer.names)
    return OperationNames(np.array(keys, np.int64), [namer.names[key] for key in keys])


class _Namer:
    """Names the operations of sentence pairs, each when it is first met."""

    def __init__(self, bitext: Bitext, alignments: Alignments):
        self._bitext, self._alignments, self._room = bitext, alignments, _new_room(bitext)
        self._jumps = dict(zip(self._room.jumps.tolist(), JUMP_NAMES))
        self._words = bitext.source_vocabulary.words, bitext.target_vocabulary.words
        self._taken = Counter[str]()  # how many operations have a name, but for the number behind it
        self.names: dict[int, str] = {}  # of keys

    def lines(self, first: int, last: int) -> Iterator[str]:
        """The names of the operations of each of the pairs first:last."""
        keys, ends = self._walked(first, last)
        found, where, index = np.unique(keys, return_index=True, return_inverse=True)
        is_new = np.array([key not in self.names for key in found.tolist()], np.bool_)
        for i in np.unique(np.searchsorted(ends, where[is_new], side="right")).tolist():
            self._name(first + i)
        words = [self.names[key] for key in found.tolist()]
        for begin, end in pairwise([0, *ends.tolist()]):
            yield " ".join([words[k] for k in index[begin:end].tolist()]) + "\n"

    def _walked(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys (int64[...]) of the operations of the pairs first:last, and their ends (int64[last - first])."""
        source, target = self._bitext.source, self._bitext.target
        n_words = [int(side.offsets[last] - side.offsets[first]) for side in (source, target)]
        keys, ends = np.empty(MOST_NAMES * (2 * n_words[0] + n_words[1]), np.int64), np.empty(last - first, np.int64)
        walk_pairs(source, target, self._alignments, first, self._room, keys, ends)
        return keys[: ends[-1]], ends

    def _name(self, i: int) -> None:
        """Name the operations of sentence pair `i` that have no name."""
        keys, _ = self._walked(i, i + 1)
        sides = self._bitext.source.sentence(i), self._bitext.target.sentence(i)
        source, target = ([words[word] for word in side.tolist()] for words, side in zip(self._words, sides))
        steps, alone = self._room.steps, self._room.steps.alone[: len(source)]
        found = [*steps.name[: steps.n[0]].tolist(), *alone[alone != ALIGNED].tolist()]
        names = dict(zip(found, step_names(source, target, self._alignments.pair(i).tolist())))
        for key in keys.tolist():
            if key not in self.names:
                self.names[key] = self._distinct(names[key] if key in names else self._jumps[key])

    def _distinct(self, name: str) -> str:
        """The name, with a number behind it if another operation has it, as of words with the joining characters."""
        self._taken[name] += 1
        return name if self._taken[name] == 1 else f"{name}{NUMBER}{self._taken[name]}"


def step_names(source: Sequence[str], target: Sequence[str], points: Points) -> Iterator[str]:
    """Names of the steps of a pair, then of the source words without alignment, in the order of OperationSteps."""
    cliques = [*cliques_of(points)]
    if not cliques and target:
        cliques = [([*range(len(source))], [*range(len(target))])]
    of_target = {j: clique for clique in cliques for j in clique[1]}
    for j, word in enumerate(target):
        if j not in of_target:
            yield f"{PREFIXES[TARGET_ALONE]}{word}"
        elif of_target[j][1][0] == j:
            first, second = of_target[j]
            yield f"{'_'.join(source[i] for i in first)}~{'_'.join(target[k] for k in second)}"
            yield from (f"{PREFIXES[CONTINUE]}{source[i]}" for i in first[1:])
    aligned = {i for clique in cliques for i in clique[0]}
    yield from (f"{PREFIXES[SOURCE_ALONE]}{word}" for i, word in enumerate(source) if i not in aligned)


def build_operations(bitext: Bitext, alignments: Alignments, directory: Path, order: int, memory: int) -> None:
    """Write operations/ of a model `directory`, in `memory` bytes besides the bitext and the names of operations."""
    folder = directory / FOLDER
    folder.mkdir()
    lines = directory / "operations.text"
    known = write_operation_lines(bitext, alignments, lines)
    np.save(folder / "keys.npy", known.keys)
    (folder / NAMES_FILE).write_text("".join(f"{name}\n" for name in known.names), encoding="utf-8")
    model = estimate([lines], order, memory, directory)
    with stage("writing the operation sequence model"):
        write_probing(model, folder / LM_FILE, memory)
    lines.unlink()
