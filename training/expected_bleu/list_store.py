"""N-best lists of training data on disk, made once: score, sentence BLEU and phrases of every hypothesis.

Features depend on the phrases of a derivation: on a phrase pair and its orientations to the phrases before and after
it. Each combination of these is an event. Events are numbered in the order in which they occur, so that arrays over
events are as large as the lists need, not as large as the phrase table. Arrays only grow; after a kill the store is as
it was at the last commit.
"""

from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field, field_validator

from phrasebeam.base.config import Count, save_config
from phrasebeam.base.files import check_regular
from phrasebeam.decoder.features.reordering import DIRECTIONS, N_ORIENTATIONS, UNSEEN
from phrasebeam.training.common.checkpoint import SignedSection, begin
from phrasebeam.training.expected_bleu.objective import ScoredLists
from phrasebeam.training.nbest.growing_array import NO_ROWS, Committed, GrowingArray

INDEX = "lists.yaml"
NO_EVENT = -1
CHOICES = N_ORIENTATIONS - int(UNSEEN)  # number of values of an orientation, including UNSEEN
LAYOUT: dict[str, tuple[type, tuple[int, ...]]] = {
    "first": (np.int64, ()),
    "score": (np.float32, ()),
    "bleu": (np.float32, ()),
    "event_first": (np.int64, ()),
    "event": (np.int32, ()),
    "pair": (np.int64, ()),  # by event
    "orientations": (np.int8, (len(DIRECTIONS),)),  # by event
}


class ListIndex(SignedSection):
    """The progress of a store, which is kept in its index file."""

    format: Literal["phrasebeam scored lists 4"] = "phrasebeam scored lists 4"
    n_read: Count = Field(0, description="sentences whose lists, if they have any, are there")
    is_whole: bool = Field(False, description="whether these are all")
    rows: dict[str, Committed] = Field({}, description="of each array")

    @field_validator("rows")
    @classmethod
    def _are_of_all(cls, rows: dict[str, Committed]) -> dict[str, Committed]:
        if rows and rows.keys() != LAYOUT.keys():
            raise ValueError(f"should be of {', '.join(LAYOUT)}")
        return rows


class Events(NamedTuple):
    """E events: phrase pairs with their orientations."""

    pair: np.ndarray  # int64[E]
    orientations: np.ndarray  # int8[E, 2], by DIRECTIONS, see fill_orientations

    def take(self, indices: np.ndarray) -> "Events":
        """The events at `indices` (int64[K])."""
        return Events(self.pair[indices], self.orientations[indices])

    def codes(self) -> np.ndarray:
        """One number for both orientations of each event (int64[E])."""
        backward, forward = self.orientations.astype(np.int64).T - UNSEEN
        return CHOICES * backward + forward


class ScoredList(NamedTuple):
    """One list of K hypotheses, best first."""

    score: np.ndarray  # float64[K], model score
    bleu: np.ndarray  # float64[K], of the sentence
    first: np.ndarray  # int64[K + 1], phrases of hypothesis i are first[i]:first[i + 1]
    phrases: Events  # negative pairs are not in the phrase table; they have no features


class ListStore:
    """The n-best lists of the first sentences of the training data, for a phrase table of `n_pairs` pairs."""

    def __init__(self, directory: Path, signature: str, n_pairs: int):
        """Open the store in `directory` at its last commit, or make a new one.

        `signature`: of everything that the lists depend on. Raises ConfigError if the store has another signature, or
        if `directory` has other files.
        """
        check_regular(directory)
        self.directory, self.index = directory, begin(directory / INDEX, ListIndex(signature=signature))
        rows = self.index.rows
        self._arrays = {
            name: GrowingArray(directory / f"{name}.npy", *layout, rows.get(name, NO_ROWS))
            for name, layout in LAYOUT.items()
        }
        if not rows:
            for name in ("first", "event_first"):
                self._arrays[name].append(np.zeros(1, np.int64))
            self.commit(0)
        self._row = np.full(n_pairs, NO_EVENT, np.int32)  # row of each pair in _event
        self._n_rows, self._event = 0, np.full((0, CHOICES**2), NO_EVENT, np.int32)
        self._number(self.events(), 0)

    def add(self, scored: ScoredList) -> None:
        """Append the list of the next sentence that has a list."""
        arrays = self._arrays
        is_known = scored.phrases.pair >= 0
        phrases = scored.phrases.take(np.flatnonzero(is_known))
        new = phrases.take(self._number(phrases, arrays["pair"].n_rows))
        arrays["pair"].append(new.pair)
        arrays["orientations"].append(new.orientations)
        ends = np.append(0, np.cumsum(is_known))[scored.first[1:]]
        arrays["event_first"].append(arrays["event"].n_rows + ends)
        arrays["event"].append(self._event[self._row[phrases.pair], phrases.codes()])
        arrays["score"].append(scored.score - scored.score[0])
        arrays["bleu"].append(scored.bleu)
        arrays["first"].append(np.array([arrays["score"].n_rows]))

    def _number(self, phrases: Events, n_events: int) -> np.ndarray:
        """Number new events from `n_events` on; return the index of the first phrase of each of them (int64[...])."""
        pairs = np.unique(phrases.pair[self._row[phrases.pair] == NO_EVENT])
        self._row[pairs] = np.arange(self._n_rows, self._n_rows + pairs.size)
        self._n_rows += pairs.size
        if self._n_rows > len(self._event):
            added = np.full((self._n_rows, CHOICES**2), NO_EVENT, np.int32)  # the array becomes at least twice as long
            self._event = np.concatenate([self._event, added])
        cells = self._row[phrases.pair] * np.int64(CHOICES**2) + phrases.codes()
        event = self._event.reshape(-1)
        indices = np.flatnonzero(event[cells] == NO_EVENT)
        indices = np.sort(indices[np.unique(cells[indices], return_index=True)[1]])
        event[cells[indices]] = np.arange(n_events, n_events + indices.size)
        return indices

    def commit(self, n_read: int, is_whole: bool = False) -> None:
        """Make all added lists durable; they are those of the first `n_read` sentences."""
        rows = {name: array.commit() for name, array in self._arrays.items()}
        self.index = self.index.model_copy(update={"n_read": n_read, "is_whole": is_whole, "rows": rows})
        save_config(self.index, self.directory / INDEX)

    def lists(self) -> ScoredLists:
        """All committed lists, mapped into memory."""
        return ScoredLists(*(np.asarray(self._arrays[name].map()) for name in ScoredLists._fields))

    def events(self) -> Events:
        """All committed events by number, mapped into memory."""
        return Events(*(np.asarray(self._arrays[name].map()) for name in Events._fields))

    def close(self) -> None:
        """Close the files; what was not committed is lost."""
        for array in self._arrays.values():
            array.close()
