"""Several language models as kernels take them: one array over the memory of all, and the LM ids of target words.

The models stay memory-mapped from their files: the array begins at the lowest address of any of them and ends at the
highest. Memory between two models is never read.
"""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phrasebeam.engine.parcel import travels_by
from phrasebeam.kernels.jit import inlined_kernel
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.probing import ProbingTables
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary

UNIT = 4  # bytes
UNKNOWN = "<unk>"
LN10 = 2.302585092994046


@dataclass(frozen=True)
class TargetModel:
    """A language model of the target language, over words or over classes of words."""

    model: LanguageModel
    classes: Mapping[str, str] | None = None  # class of each word; words without one become <unk>

    def word_ids(self, words: Sequence[str]) -> np.ndarray:
        """int32[len(words)] LM ids of `words` or of their classes, 0 if unknown."""
        if self.classes is not None:
            words = [self.classes.get(word, UNKNOWN) for word in words]
        return self.model.word_ids(words)

    def vocabulary_ids(self, vocabulary: FixedVocabulary) -> np.ndarray:
        """int32[V] LM ids of all words of a vocabulary, or of their classes."""
        if self.classes is None:
            return self.model.encoded_ids(vocabulary.encoded)
        return self.word_ids(vocabulary.words)


class LanguageModels(NamedTuple):
    """L language models over a vocabulary of V words."""

    orders: np.ndarray  # int64[L]
    units: np.ndarray  # uint32[...], see ProbingTables, as all of the following
    floats: np.ndarray  # float32[...]
    starts: np.ndarray  # int64[L, MAX_ORDER + 1]
    buckets: np.ndarray  # uint64[L, MAX_ORDER + 1]
    inverses: np.ndarray  # uint64[L, MAX_ORDER + 1]
    begin_ids: np.ndarray  # int32[L], LM ids of <s>
    end_ids: np.ndarray  # int32[1, L], LM ids of </s>, as a text of one word
    word_ids: np.ndarray  # int32[V, L], LM ids of the target vocabulary
    ln_weights: np.ndarray  # float64[L], weights of log10 p: times ln 10


@inlined_kernel
def tables_of(lms: LanguageModels, number):
    """The ProbingTables of language model `number`."""
    return ProbingTables(
        lms.orders[number], lms.units, lms.floats, lms.starts[number], lms.buckets[number], lms.inverses[number]
    )


def join_language_models(
    models: Sequence[TargetModel], vocabulary: FixedVocabulary, word_ids: np.ndarray | None = None
) -> LanguageModels:
    """The models for kernels, over the target vocabulary, with weights 0. They must outlive it: it shares their memory.

    `word_ids`: as in LanguageModels, if already known.
    """
    if word_ids is None:
        word_ids = np.stack([lm.vocabulary_ids(vocabulary) for lm in models], axis=1)
    tables = [lm.model.tables for lm in models]
    units, shifts = _joined_memory([table.units for table in tables])
    return LanguageModels(
        orders=np.array([table.order for table in tables], np.int64),
        units=units,
        floats=units.view(np.float32),
        starts=np.stack([table.starts + shift for table, shift in zip(tables, shifts)]),
        buckets=np.stack([table.buckets for table in tables]),
        inverses=np.stack([table.inverses for table in tables]),
        begin_ids=np.array([lm.model.begin for lm in models], np.int32),
        end_ids=np.array([[lm.model.end for lm in models]], np.int32),
        word_ids=np.ascontiguousarray(word_ids),
        ln_weights=np.zeros(len(models)),
    )


def _joined_memory(parts: Sequence[np.ndarray]) -> tuple[np.ndarray, list[int]]:
    """One array (uint32) over the memory of all `parts`, and the begin of each in it."""
    if len(parts) == 1:
        return parts[0], [0]
    addresses = [part.ctypes.data for part in parts]
    first = min(addresses)
    last = max(address + part.nbytes for address, part in zip(addresses, parts))
    memory: Any = (ctypes.c_uint32 * ((last - first) // UNIT)).from_address(first)
    memory.parts = [*parts]  # for _reduced
    return np.ctypeslib.as_array(memory), [(address - first) // UNIT for address in addresses]


def _rejoined(parts: Sequence[np.ndarray], others: dict[str, np.ndarray]) -> LanguageModels:
    """Language models over the `parts` (uint32[...]) of their memory; `others`: fields, with `starts` within parts."""
    units, shifts = _joined_memory(parts)
    starts = others["starts"] + np.array(shifts)[:, np.newaxis]
    return LanguageModels(**others | {"units": units, "floats": units.view(np.float32), "starts": starts})


def _reduced(lms: LanguageModels) -> tuple[Any, ...]:
    """The form in which an engine sends the arrays, without the memory between models, which cannot be read."""
    owner: Any = lms.units
    while owner is not None and not hasattr(owner, "parts"):
        owner = owner.obj if isinstance(owner, memoryview) else getattr(owner, "base", None)
    if owner is None:
        return LanguageModels, tuple(lms)
    first = lms.units.ctypes.data
    shifts = np.array([(part.ctypes.data - first) // UNIT for part in owner.parts])
    others = {name: array for name, array in lms._asdict().items() if name not in ("units", "floats")}
    return _rejoined, (owner.parts, others | {"starts": lms.starts - shifts[:, np.newaxis]})


travels_by(LanguageModels, _reduced)
