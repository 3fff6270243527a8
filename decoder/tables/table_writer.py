"""A phrase table written piece by piece, with memory that does not depend on its size."""

from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np

from phrasebeam.base.spill import RowFile
from phrasebeam.decoder.tables.model_files import PHRASES, REORDERING, array_writers
from phrasebeam.decoder.tables.phrase_table import ABSENT, MOSES_SCORES, PhraseTable, ReorderingTable
from phrasebeam.decoder.tables.source_slots import hash_phrases, write_slots

MEMORY = 1 << 28  # bytes, by default


class TableSizes(NamedTuple):
    """Sizes of a phrase table that model.yaml records, so that opening a model need not compute them."""

    longest_source: int  # words
    longest_target: int  # words
    most_pairs: int  # of one source phrase


class TableWriter:
    """Context manager that writes a PhraseTable, and a ReorderingTable if wanted, to existing directories."""

    def __init__(
        self,
        phrases: Path,
        reordering: Path | None = None,
        n_columns: int = 0,
        n_scores: int = MOSES_SCORES,
        memory: int = MEMORY,
    ):
        """`memory`: bytes for building the hash table, which is done when the context ends."""
        self.phrases, self.n_pairs, self.memory = phrases, 0, memory
        self.repeated_source = ABSENT  # when closed: the first source phrase that equals an earlier one
        written = [file for file in PHRASES if file.name != "slots"]
        self.writers = array_writers(phrases, written, {"K": n_scores})
        self.reordering = {} if reordering is None else array_writers(reordering, REORDERING, {"C": n_columns})
        self.ends = {name: 0 for name in self.writers if name.endswith("_offsets")}
        self.longest = dict.fromkeys(self.ends, 0)
        self.hashes = RowFile(phrases / "source_hashes", np.uint64)
        for name in self.ends:
            self.writers[name].append(np.zeros(1, np.int64))

    def __enter__(self) -> "TableWriter":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for writer in (*self.writers.values(), *self.reordering.values()):
            writer.close()
        if kind is None:
            self.repeated_source = write_slots(self.phrases, self.hashes, self.memory)
        self.hashes.path.unlink()

    @property
    def sizes(self) -> TableSizes:
        return TableSizes(*(self.longest[f"{name}_offsets"] for name in ("source", "target", "pair")))

    def append(self, table: PhraseTable, reordering: ReorderingTable | None = None) -> None:
        """Write a piece of the table, with offsets that start at 0; its slots are not read."""
        for name, writer in self.writers.items():
            rows = getattr(table, name)
            if name in self.ends:
                writer.append(rows[1:] + self.ends[name])
                self.ends[name] += int(rows[-1])
                self.longest[name] = max(self.longest[name], int(np.diff(rows).max(initial=0)))
            else:
                writer.append(rows)
        for name, writer in self.reordering.items():
            writer.append(getattr(reordering, name))
        self.hashes.append(hash_phrases(table.source_offsets, table.source_words))
        self.n_pairs += table.joint_counts.size
