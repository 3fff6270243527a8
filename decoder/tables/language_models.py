"""Several language models as kernels take them: one array over the memory of all, and what each calls a word.

The models stay where they are, mapped from their files: the array begins where the lowest of them does and ends
with the highest. What lies between them is nobody's and is never touched.
"""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phrasebeam.kernels.jit import inlined_kernel
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.probing import ProbingTables
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary

UNIT = 4  # bytes
UNKNOWN = "<unk>"


@dataclass(frozen=True)
class TargetModel:
    """A language model of the target language, over words or over classes of words."""

    model: LanguageModel
    classes: Mapping[str, str] | None = None  # class of each word; the others are unknown

    def word_ids(self, words: Sequence[str]) -> np.ndarray:
        """int32[len(words)] LM ids of `words` or of their classes, 0 where unknown."""
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
def tables_of(lms, which):
    """The ProbingTables of one of the models."""
    return ProbingTables(
        lms.orders[which], lms.units, lms.floats, lms.starts[which], lms.buckets[which], lms.inverses[which]
    )


def join_language_models(models: Sequence[TargetModel], vocabulary: FixedVocabulary) -> LanguageModels:
    """The models for kernels, over a vocabulary, without weights. They must outlive the result."""
    tables = [one.model.tables for one in models]
    addresses = [table.units.ctypes.data for table in tables]
    first = min(addresses)
    last = max(address + table.units.nbytes for address, table in zip(addresses, tables))
    memory = (ctypes.c_uint32 * ((last - first) // UNIT)).from_address(first)
    units = tables[0].units if len(tables) == 1 else np.ctypeslib.as_array(memory)
    shifts = [(address - first) // UNIT for address in addresses]
    return LanguageModels(
        orders=np.array([table.order for table in tables], np.int64),
        units=units,
        floats=units.view(np.float32),
        starts=np.stack([table.starts + shift for table, shift in zip(tables, shifts)]),
        buckets=np.stack([table.buckets for table in tables]),
        inverses=np.stack([table.inverses for table in tables]),
        begin_ids=np.array([one.model.begin for one in models], np.int32),
        end_ids=np.array([[one.model.end for one in models]], np.int32),
        word_ids=np.ascontiguousarray(np.stack([one.vocabulary_ids(vocabulary) for one in models], axis=1)),
        ln_weights=np.zeros(len(models)),
    )
