"""The operation sequence model of a bitext (Durrani, Schmid & Fraser 2011): each sentence pair as operations.

Each aligned sentence pair is written as the sequence of operations that generate it, from left to right on the target
side, and a language model is estimated from these sequences. decoder/operations/steps.py and walk.py define the
operations.
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
PAIRS_AT_ONCE = 4096  # pairs whose operations are in memory together: few, so that most memory is for the names


class OperationNames(NamedTuple):
    """O different operations of a bitext."""

    keys: np.ndarray  # int64[O], ascending, see OperationSteps
    names: list[str]  # one for each key, all different


class _Room(NamedTuple):
    """Scratch arrays for one sentence pair."""

    steps: OperationSteps
    generated: np.ndarray
    at: np.ndarray
    jumps: np.ndarray


def _new_room(bitext: Bitext) -> _Room:
    longest = int(max(np.diff(side.offsets).max(initial=1) for side in (bitext.source, bitext.target)))
    return _Room(new_operation_steps(longest), np.zeros(longest, np.bool_), np.zeros(N_COUNTS, np.int64), jump_keys())


@kernel
def walk_pairs(source: Corpus, target: Corpus, alignments: Alignments, first, room: _Room, keys, ends):
    """Write the operations of n sentence pairs, from pair number `first` (int64) on, to `keys` (int64[...]).

    `ends` (int64[n]) gets the index in `keys` after the last operation of each pair. Pairs with an empty side have no
    operations. The steps of the last pair stay in room.steps.
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
    """Write the names of the operations of each sentence pair to `path`, one pair a line.

    `alignments` has one word alignment for each pair.
    """
    namer, n_pairs = _Namer(bitext, alignments), bitext.source.offsets.size - 1
    with stage("sentence pairs as operations"), open(path, "w", encoding="utf-8") as file:
        for first in range(0, n_pairs, PAIRS_AT_ONCE):
            file.writelines(namer.lines(first, min(first + PAIRS_AT_ONCE, n_pairs)))
    keys = sorted(namer.names)
    return OperationNames(np.array(keys, np.int64), [namer.names[key] for key in keys])


class _Namer:
    """Gives a name to each operation when it first occurs in a sentence pair."""

    def __init__(self, bitext: Bitext, alignments: Alignments):
        self._bitext, self._alignments, self._room = bitext, alignments, _new_room(bitext)
        self._jumps = dict(zip(self._room.jumps.tolist(), JUMP_NAMES))
        self._words = bitext.source_vocabulary.words, bitext.target_vocabulary.words
        self._taken = Counter[str]()  # number of operations by name; appended numbers are not part of the name here
        self.names: dict[int, str] = {}  # by key

    def lines(self, first: int, last: int) -> Iterator[str]:
        """Yield a line for each of the pairs first:last, with the names of its operations."""
        keys, ends = self._walked(first, last)
        found, where, index = np.unique(keys, return_index=True, return_inverse=True)
        is_new = np.array([key not in self.names for key in found.tolist()], np.bool_)
        for i in np.unique(np.searchsorted(ends, where[is_new], side="right")).tolist():
            self._name(first + i)
        words = [self.names[key] for key in found.tolist()]
        for begin, end in pairwise([0, *ends.tolist()]):
            yield " ".join([words[k] for k in index[begin:end].tolist()]) + "\n"

    def _walked(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys (int64[...]) of the operations of the pairs first:last, and each pair's end (int64[last - first])."""
        source, target = self._bitext.source, self._bitext.target
        n_words = [int(side.offsets[last] - side.offsets[first]) for side in (source, target)]
        keys, ends = np.empty(MOST_NAMES * (2 * n_words[0] + n_words[1]), np.int64), np.empty(last - first, np.int64)
        walk_pairs(source, target, self._alignments, first, self._room, keys, ends)
        return keys[: ends[-1]], ends

    def _name(self, i: int) -> None:
        """Give names to the operations of sentence pair `i` that have none."""
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
        """The name, with a number appended if another operation has the same name.

        That happens if words contain the characters that join words in names.
        """
        self._taken[name] += 1
        return name if self._taken[name] == 1 else f"{name}{NUMBER}{self._taken[name]}"


def step_names(source: Sequence[str], target: Sequence[str], points: Points) -> Iterator[str]:
    """Names of the steps of a sentence pair, then of its unaligned source words, in the order of OperationSteps."""
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
    """Write operations/ in the model directory, with `memory` bytes besides the bitext and the names of operations."""
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
