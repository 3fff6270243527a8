"""Settings of word alignment, with their defaults."""

from typing import Annotated, Literal

from pydantic import Field

from phrasebeam.base.config import Section

Aligner = Literal["eflomal", "fast_align", "hmm", "ibm4"]
Symmetrization = Literal[
    "grow_diag_final_and",
    "grow_diag_final",
    "grow_diag",
    "grow",
    "och",
    "union",
    "intersection",
    "source_to_target",
    "target_to_source",
]


Passes = Annotated[int, Field(ge=1, le=1000)]


class Iterations(Section):
    """Training passes of each model; those of eflomal depend on the size of the corpus instead."""

    ibm1: Passes = 5
    hmm: Passes = 5
    ibm3: Passes = 3
    ibm4: Passes = 3
    fast_align: Passes = 5


class AlignmentConfig(Section):
    """Word alignment in both directions, and symmetrization."""

    aligner: Aligner = "eflomal"
    symmetrization: Symmetrization = "grow_diag_final_and"
    seed: int = Field(1, ge=0, lt=2**32)
    samplers: int = Field(3, ge=1, le=100, description="independent samplers whose votes eflomal adds up")
    effort: float = Field(
        1.0, gt=0, le=1000, description="eflomal's sweeps, relative to its rule of 5000 / sqrt(pairs)"
    )
    iterations: Iterations = Iterations()
