"""The operation sequence model of a bitext (Durrani, Schmid & Fraser 2011): each sentence pair as operations.

Each aligned sentence pair is written as the operations that generate it from left to right of its target side, and a
language model is estimated from these. What an operation is stands in decoder/operations/steps.py and walk.py.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phrasebeam.base.progress import stage
from phrasebeam.decoder.operations.operations import FOLDER, LM_FILE, NAMES_FILE, jump_keys
from phrasebeam.decoder.operations.steps import ALIGNED, MOST_GAPS, OperationSteps, fill_steps, new_operation_steps
from phrasebeam.decoder.operations.walk import MOST_NAMES, N_COUNTS, NAMES, POSITION, Walk, walk_phrase
from phrasebeam.decoder.sparse.phrase_alignment import Points, cliques_of
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.estimate import estimate
from phrasebeam.lm.probing_writer import write_probing
from phrasebeam.training.bitext.bitext import Bitext
from phrasebeam.training.word_alignment.alignment_points import Alignments

ZERO: Any = np.int64(0)
JUMP_NAMES = ["gap", "forward", *(f"back:{number}" for number in range(1, MOST_GAPS + 1))]


class OperationText(NamedTuple):
    """N sentence pairs as operations; O different ones."""

    offsets: np.ndarray  # int64[N + 1], into `operations`
    operations: np.ndarray  # int32[...], indices of keys
    keys: np.ndarray  # int64[O], ascending, see OperationSteps
    names: list[str]  # of the keys


class _Room(NamedTuple):
    """Room for one sentence pair."""

    steps: OperationSteps
    generated: np.ndarray
    at: np.ndarray
    jumps: np.ndarray


@kernel
def write_operations(source, target, points, room: _Room, keys):
    """Write the operations of a sentence pair to `keys` (int64[...]); their number (int64).

    `source` and `target` are int32 words, `points` (int32[K, 2]) their alignment.
    """
    fill_steps(points, source, target, np.int64(target.size), room.steps)
    room.at[POSITION] = 0
    n: Any = np.int64(source.size)
    nothing = np.uint64(0)
    walk = Walk(ZERO, n, ZERO, nothing, room.generated, room.at, keys, room.jumps)
    n_steps = room.steps.n[0]
    walk_phrase(walk, room.steps.position[:n_steps], room.steps.name[:n_steps], room.steps.alone[:n])
    return room.at[NAMES]


def operation_text(bitext: Bitext, alignments: Alignments) -> OperationText:
    """All sentence pairs as operations, by one alignment of each."""
    with stage("sentence pairs as operations"):
        return _operation_text(bitext, alignments)


def _operation_text(bitext: Bitext, alignments: Alignments) -> OperationText:
    source, target = bitext.source, bitext.target
    longest = int(max(np.diff(source.offsets).max(initial=1), np.diff(target.offsets).max(initial=1)))
    room = _Room(new_operation_steps(longest), np.zeros(longest, np.bool_), np.zeros(N_COUNTS, np.int64), jump_keys())
    keys = np.zeros(MOST_NAMES * 3 * longest, np.int64)
    parts, sizes = list[np.ndarray](), list[int]()
    for i in range(source.offsets.size - 1):
        pair = source.tokens[slice(*source.offsets[i : i + 2])], target.tokens[slice(*target.offsets[i : i + 2])]
        n = write_operations(*pair, alignments.pair(i), room, keys) if pair[0].size else 0
        parts.append(keys[:n].copy())
        sizes.append(n)
    found, where, index = np.unique(np.concatenate(parts), return_index=True, return_inverse=True)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    firsts = np.unique(np.searchsorted(offsets, where, side="right") - 1)
    names = _names_of(found, bitext, alignments, firsts.tolist(), room)
    return OperationText(offsets, index.astype(np.int32), found, names)


def _names_of(
    keys: np.ndarray, bitext: Bitext, alignments: Alignments, sentences: Sequence[int], room: _Room
) -> list[str]:
    """A name for each key; `sentences` are those in which there is one for the first time."""
    names = dict(zip(jump_keys().tolist(), JUMP_NAMES))
    scratch = np.zeros(MOST_NAMES * 3 * room.generated.size, np.int64)
    words = bitext.source_vocabulary.words, bitext.target_vocabulary.words
    for i in sentences:
        sides = [text.tokens[slice(*text.offsets[i : i + 2])] for text in (bitext.source, bitext.target)]
        points = alignments.pair(i)
        write_operations(sides[0], sides[1], points, room, scratch)
        source, target = ([side[word] for word in some.tolist()] for side, some in zip(words, sides))
        alone = room.steps.alone[: len(source)]
        found = [*room.steps.name[: room.steps.n[0]].tolist(), *alone[alone != ALIGNED].tolist()]
        names |= {
            key: name for key, name in zip(found, step_names(source, target, points.tolist())) if key not in names
        }
    return _distinct([names[key] for key in keys.tolist()])


def step_names(source: Sequence[str], target: Sequence[str], points: Points) -> Iterator[str]:
    """Names of the steps of a pair, then of the source words without alignment, in the order of OperationSteps."""
    cliques = [*cliques_of(points)]
    if not cliques and target:
        cliques = [([*range(len(source))], [*range(len(target))])]
    of_target = {j: clique for clique in cliques for j in clique[1]}
    for j, word in enumerate(target):
        if j not in of_target:
            yield f"target:{word}"
        elif of_target[j][1][0] == j:
            first, second = of_target[j]
            yield f"{'_'.join(source[i] for i in first)}~{'_'.join(target[k] for k in second)}"
            yield from (f"continue:{source[i]}" for i in first[1:])
    aligned = {i for clique in cliques for i in clique[0]}
    yield from (f"source:{word}" for i, word in enumerate(source) if i not in aligned)


def _distinct(names: list[str]) -> list[str]:
    """The names, those that are equal, as of words with the joining characters, with a number behind them."""
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            names[i] = f"{name}#{seen[name]}"
    return names


def build_operations(text: OperationText, directory: Path, order: int, memory: int) -> None:
    """Write operations/ of a model `directory`."""
    folder = directory / FOLDER
    folder.mkdir()
    np.save(folder / "keys.npy", text.keys)
    (folder / NAMES_FILE).write_text("".join(f"{name}\n" for name in text.names), encoding="utf-8")
    lines = directory / "operations.text"
    write_lines(text, lines)
    model = estimate([lines], order, memory, directory)
    with stage("writing the model of operations"):
        write_probing(model, folder / LM_FILE, memory)
    lines.unlink()


def write_lines(text: OperationText, path: Path) -> None:
    """Write the operations of each sentence pair, one pair a line."""
    with open(path, "w", encoding="utf-8") as file:
        for begin, end in zip(text.offsets[:-1].tolist(), text.offsets[1:].tolist()):
            file.write(" ".join([text.names[i] for i in text.operations[begin:end].tolist()]) + "\n")
