"""An operation sequence model as kernels take it: a language model over operations, and the names of the operations.

In a model directory, operations/ contains the language model `lm.bin` and the operations that it knows: `names`, the
words of its vocabulary, one a line, in the order of `keys.npy`, with which kernels find them.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.operations.word_operations import jump_keys
from phrasebeam.decoder.sparse.sparse_features import PairPoints, no_pair_points
from phrasebeam.decoder.tables.array_checks import open_checked
from phrasebeam.decoder.tables.model_files import ARRAY_FILES, TRAIN_AGAIN
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.kernels.hashing import EMPTY, first_slot, next_slot
from phrasebeam.kernels.jit import inlined_kernel, kernel
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.probing import ProbingTables
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary

FOLDER, LM_FILE, NAMES_FILE = "operations", "lm.bin", "names"
UNKNOWN_ID = 0  # of <unk>


class Operations(NamedTuple):
    """An operation sequence model of O operations, for a phrase table of P pairs."""

    lm: ProbingTables
    begin: int  # LM id of <s>
    keys: np.ndarray  # int64[O], see OperationSteps
    ids: np.ndarray  # int32[O], LM ids
    slots: np.ndarray  # int32[S], hash table of indices of keys, S a power of two >= 2 O
    jumps: np.ndarray  # int32[N_JUMPS], LM ids of jumps
    points: PairPoints  # of the pairs


@inlined_kernel
def operation_id(operations: Operations, key):
    """LM id (int32) of the operation with that key (int64), UNKNOWN_ID if the model does not know it."""
    slot = first_slot(np.uint64(key) >> np.uint64(1), operations.slots.size)
    while operations.slots[slot] != EMPTY:
        i = operations.slots[slot]
        if operations.keys[i] == key:
            return operations.ids[i]
        slot = next_slot(slot, operations.slots.size)
    return np.int32(UNKNOWN_ID)


@kernel
def fill_operation_slots(keys, slots):
    """Fill the hash table `slots` (int32[S], EMPTY) of indices of `keys` (int64[O], all different)."""
    for i in range(keys.size):
        slot = first_slot(np.uint64(keys[i]) >> np.uint64(1), slots.size)
        while slots[slot] != EMPTY:
            slot = next_slot(slot, slots.size)
        slots[slot] = i


def no_operations() -> Operations:
    """Operations of a model without them."""
    units = np.zeros(0, np.uint32)
    tables = ProbingTables(2, units, units.view(np.float32), np.zeros(0, np.int64), *np.zeros((2, 0), np.uint64))
    empty = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int32)
    return Operations(tables, 0, *empty, no_pair_points())


def open_operations(directory: Path, phrases: PhraseTable) -> tuple[Operations, FixedVocabulary | None]:
    """The operation sequence model in the model `directory`, with the names of its operations; or an empty one.

    Raises SmtError, naming the file at fault.
    """
    folder = directory / FOLDER
    if not folder.exists():
        return no_operations(), None
    for name in (LM_FILE, NAMES_FILE):
        if not (folder / name).is_file():
            raise ModelError(f"{folder / name}: missing; {TRAIN_AGAIN}")
    keys = open_checked(folder, ARRAY_FILES[FOLDER])["keys"]
    names = FixedVocabulary(folder / NAMES_FILE)
    if len(names) != keys.size:
        raise ModelError(f"{folder / NAMES_FILE}: {len(names)} operations, expected {keys.size}; {TRAIN_AGAIN}")
    points = PairPoints(phrases.alignment_offsets, phrases.alignment_points, np.zeros(0, np.int64))
    slots = np.full(1 << max(2 * keys.size, 2).bit_length(), EMPTY, np.int32)
    fill_operation_slots(keys, slots)
    known = no_operations()._replace(keys=keys, slots=slots, points=points)
    return with_language_model(known, names, LanguageModel.load(folder / LM_FILE)), names


def with_language_model(operations: Operations, names: FixedVocabulary, model: LanguageModel) -> Operations:
    """The same operations, whose `names` are given, scored by another language model."""
    ids = model.encoded_ids(names.encoded)
    known = operations._replace(lm=model.tables, begin=model.begin, ids=ids)
    jumps = np.array([_operation_id(known, key) for key in jump_keys().tolist()], np.int32)
    return known._replace(jumps=jumps)


def operations_of(operations: Operations, pairs: np.ndarray) -> Operations:
    """`operations` for a phrase table that has only the `pairs` (int64[P]) of the model's table, renumbered from 0."""
    return operations._replace(points=operations.points._replace(origin=pairs))


@kernel
def _operation_id(operations: Operations, key):
    """operation_id of `key` (int64), for calls from Python."""
    return operation_id(operations, key)
