"""Requests for the results of one search, and the answer: all results come from the same hypothesis graph."""

import math
from dataclasses import dataclass, field
from typing import Literal

from phrasebeam.base.checked_arguments import check_fields
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.output.lattice import Lattice
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.output.word_confidence import ConfidenceSettings

SparseDetail = Literal["", "keys", "names"]


@dataclass(frozen=True)
class Request:
    """The results to compute for each sentence besides its translation. Raises ConfigError if impossible."""

    n: int | None = None  # derivations in the n-best list; None for no list
    distinct: bool = False  # only the best derivation of each text in that list
    mbr: MbrSettings | None = None  # choose the translation of least Bayes risk instead of the best derivation
    lattice: bool = False
    sparse: SparseDetail = ""  # sparse features of the n-best list or the translation of `mbr`, by key, and their names
    lattice_beam: float = math.inf  # keep what lies on derivations that score at most this much below the best
    confidence: ConfidenceSettings | None = None  # compute how sure each word of all these translations is

    def __post_init__(self) -> None:
        check_fields(self)
        if self.n is not None and self.n < 1:
            raise ConfigError(f"n is {self.n}, expected at least 1")
        if not self.lattice_beam >= 0:
            raise ConfigError(f"the beam of the lattice is {self.lattice_beam}, expected at least 0")


@dataclass(frozen=True)
class Answer:
    """The results that a Request asks for, for one sentence."""

    translation: Translation
    nbest: list[Translation] = field(default_factory=list)  # empty if not requested
    lattice: Lattice | None = None
