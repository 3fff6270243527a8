"""A phrase table written piece by piece: .npy files that grow until their number of rows is known."""

from pathlib import Path
from types import TracebackType

import numpy as np

from decoder.phrase_table import MOSES_SCORES, PhraseTable, ReorderingTable, build_slots

HEADER_SIZE = 128


class ArrayWriter:
    """An .npy file of rows of one shape; the header is written last, into room left for it."""

    def __init__(self, path: Path, dtype: type, row_shape: tuple[int, ...] = ()):
        self.dtype, self.row_shape, self.n_rows = np.dtype(dtype), row_shape, 0
        self.file = open(path, "wb")
        self.file.write(bytes(HEADER_SIZE))

    def append(self, rows: np.ndarray) -> None:
        """Write `rows` ([K, *row_shape]) after those already there."""
        rows = np.ascontiguousarray(rows, self.dtype)
        if rows.shape[1:] != self.row_shape:
            raise ValueError(f"rows of shape {rows.shape[1:]}, expected {self.row_shape}")
        self.file.write(rows.data)
        self.n_rows += len(rows)

    def close(self) -> None:
        """Write the header and close the file."""
        shape = (self.n_rows, *self.row_shape)
        text = repr({"descr": self.dtype.str, "fortran_order": False, "shape": shape}).encode("ascii")
        magic = np.lib.format.magic(1, 0)
        room = HEADER_SIZE - len(magic) - 2
        self.file.seek(0)
        self.file.write(magic + room.to_bytes(2, "little") + text.ljust(room - 1) + b"\n")
        self.file.close()


class TableWriter:
    """Writes a PhraseTable and, unless it comes otherwise, its ReorderingTable, into directories that exist.

    Used as a context.
    """

    def __init__(self, phrases: Path, reordering: Path | None = None, n_columns: int = 0, n_scores: int = MOSES_SCORES):
        self.phrases, self.n_pairs = phrases, 0
        self.writers = {
            "source_offsets": ArrayWriter(phrases / "source_offsets.npy", np.int64),
            "source_words": ArrayWriter(phrases / "source_words.npy", np.int32),
            "pair_offsets": ArrayWriter(phrases / "pair_offsets.npy", np.int64),
            "target_offsets": ArrayWriter(phrases / "target_offsets.npy", np.int64),
            "target_words": ArrayWriter(phrases / "target_words.npy", np.int32),
            "ln_scores": ArrayWriter(phrases / "ln_scores.npy", np.float32, (n_scores,)),
            "alignment_offsets": ArrayWriter(phrases / "alignment_offsets.npy", np.int64),
            "alignment_points": ArrayWriter(phrases / "alignment_points.npy", np.uint8, (2,)),
            "joint_counts": ArrayWriter(phrases / "joint_counts.npy", np.int32),
            "source_counts": ArrayWriter(phrases / "source_counts.npy", np.int32),
            "target_counts": ArrayWriter(phrases / "target_counts.npy", np.int32),
        }
        self.reordering = {}
        if reordering is not None:
            self.reordering = {
                "ln_scores": ArrayWriter(reordering / "ln_scores.npy", np.float32, (n_columns,)),
                "counts": ArrayWriter(reordering / "counts.npy", np.int32, (8,)),
            }
        self.ends = {name: 0 for name in self.writers if name.endswith("_offsets")}
        for name in self.ends:
            self.writers[name].append(np.zeros(1, np.int64))

    def __enter__(self) -> "TableWriter":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for writer in (*self.writers.values(), *self.reordering.values()):
            writer.close()
        if kind is None:
            names = ("source_offsets", "source_words")
            slots = build_slots(*(np.load(self.phrases / f"{name}.npy", mmap_mode="c") for name in names))
            np.save(self.phrases / "slots.npy", slots)

    def append(self, table: PhraseTable, reordering: ReorderingTable | None = None) -> None:
        """Write a piece, whose offsets count from its own beginning and whose slots are not looked at."""
        for name, writer in self.writers.items():
            rows = getattr(table, name)
            if name in self.ends:
                writer.append(rows[1:] + self.ends[name])
                self.ends[name] += int(rows[-1])
            else:
                writer.append(rows)
        for name, writer in self.reordering.items():
            writer.append(getattr(reordering, name))
        self.n_pairs += table.joint_counts.size
