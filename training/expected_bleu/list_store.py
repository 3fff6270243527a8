"""N-best lists of training data on disk, made once: scores, sentence BLEU and phrase pairs of every hypothesis.

What of a derivation fires features is its phrase pairs. They are numbered anew in the order in which they come, so that
arrays over these numbers, the events, have room for what stands in the lists and not for the whole phrase table.
Arrays only grow; after a kill the store is as it was at the last commit.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lm.errors import ConfigError, FormatError
from lm.files import atomic_file
from training.expected_bleu.objective import ScoredLists
from training.growing_array import GrowingArray

FORMAT = "phrasebeam scored lists 1"
INDEX = "lists.json"
NO_EVENT = -1
LAYOUT: dict[str, type] = {
    "first": np.int64,
    "score": np.float32,
    "bleu": np.float32,
    "event_first": np.int64,
    "event": np.int32,
    "pairs": np.int64,  # by event
}


class ScoredList(NamedTuple):
    """One list of K hypotheses, best first."""

    score: np.ndarray  # float64[K], model score
    bleu: np.ndarray  # float64[K], of the sentence
    first: np.ndarray  # int64[K + 1], phrases of hypothesis i are pairs[first[i]:first[i + 1]]
    pairs: np.ndarray  # int64[...]; negative ones, which the phrase table has not, fire nothing


class ListStore:
    """The lists of the first sentences of some training data, for a phrase table of P pairs."""

    def __init__(self, directory: Path, signature: str, n_pairs: int):
        """The store in `directory` as it was committed last, or a new one.

        `signature` is of all that lists depend on. Raises ConfigError where those in `directory` have another, and
        FormatError where there is something else.
        """
        index = _read_index(directory / INDEX, signature)
        self.directory, self._signature = directory, signature
        self.n_read: int = index["read"]  # sentences whose lists, if they have any, are there
        self.is_whole: bool = index["whole"]  # whether these are all
        directory.mkdir(parents=True, exist_ok=True)
        rows = index["rows"]
        self._arrays = {
            name: GrowingArray(directory / f"{name}.npy", dtype, (), rows.get(name, 0))
            for name, dtype in LAYOUT.items()
        }
        if not rows:
            for name in ("first", "event_first"):
                self._arrays[name].append(np.zeros(1, np.int64))
            self.commit(0)
        self._event = np.full(n_pairs, NO_EVENT, np.int32)
        known = self.pairs()
        self._event[known] = np.arange(known.size)

    def add(self, found: ScoredList) -> None:
        """Append a list."""
        arrays = self._arrays
        is_known = found.pairs >= 0
        pairs = found.pairs[is_known]
        self._number(pairs)
        ends = np.append(0, np.cumsum(is_known))[found.first[1:]]
        arrays["event_first"].append(arrays["event"].n_rows + ends)
        arrays["event"].append(self._event[pairs])
        arrays["score"].append(found.score - found.score[0])
        arrays["bleu"].append(found.bleu)
        arrays["first"].append(np.array([arrays["score"].n_rows]))

    def _number(self, pairs: np.ndarray) -> None:
        new, place = np.unique(pairs[self._event[pairs] == NO_EVENT], return_index=True)
        new = new[np.argsort(place)]
        self._event[new] = self._arrays["pairs"].n_rows + np.arange(new.size)
        self._arrays["pairs"].append(new)

    def commit(self, n_read: int, is_whole: bool = False) -> None:
        """From now on the store keeps what was added, which was made of the first `n_read` sentences."""
        self.n_read, self.is_whole = n_read, is_whole
        for array in self._arrays.values():
            array.commit()
        rows = {name: array.n_rows for name, array in self._arrays.items()}
        index = {"format": FORMAT, "signature": self._signature, "read": n_read, "whole": is_whole, "rows": rows}
        with atomic_file(self.directory / INDEX) as file:
            file.write(json.dumps(index, indent=1).encode("ascii"))

    def lists(self) -> ScoredLists:
        """All committed lists, mapped into memory."""
        return ScoredLists(*(np.asarray(self._arrays[name].map()) for name in ScoredLists._fields))

    def pairs(self) -> np.ndarray:
        """int64[E], the phrase pair of each event."""
        return np.asarray(self._arrays["pairs"].map())

    def close(self) -> None:
        """Close the files; what was not committed is lost."""
        for array in self._arrays.values():
            array.close()


def _read_index(path: Path, signature: str) -> Any:
    if not path.exists():
        return {"read": 0, "whole": False, "rows": {}}
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        index = None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise FormatError(path, f"not the index of {FORMAT}; remove the directory and begin anew")
    if index["signature"] != signature:
        what = f"{index['signature']}, expected {signature}"
        raise ConfigError(f"{path}: lists made with {what}; choose another directory, or give the same settings")
    return index
