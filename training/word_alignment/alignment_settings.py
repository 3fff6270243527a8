"""Settings of word alignment, with their defaults."""

from typing import Annotated, Literal

from pydantic import Field

from phrasebeam.base.config import Section

Aligner = Literal["eflomal", "fast_align", "ibm1", "ibm2", "hmm", "ibm3", "ibm4"]
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

    ibm1: Passes = Field(5, description="before ibm2, hmm, ibm3 and ibm4, too")
    ibm2: Passes = Field(5, description="of that aligner alone")
    hmm: Passes = Field(5, description="before ibm3 and ibm4, too")
    ibm3: Passes = Field(3, description="before ibm4, too")
    ibm4: Passes = Field(3, description="of that aligner alone")
    fast_align: Passes = Field(5, description="of that aligner alone")


class AlignmentConfig(Section):
    """Word alignment in both directions, and symmetrization."""

    aligner: Aligner = Field("eflomal", description="what aligns each direction")
    symmetrization: Symmetrization = Field(
        "grow_diag_final_and", description="how the two directions become one, as in Moses; or one of the two alone"
    )
    seed: int = Field(1, ge=0, lt=2**32, description="of eflomal's sampling")
    samplers: int = Field(3, ge=1, le=100, description="independent samplers whose votes eflomal adds up")
    effort: float = Field(
        1.0, gt=0, le=1000, description="eflomal's sweeps, relative to its rule of 5000 / sqrt(pairs)"
    )
    iterations: Iterations = Iterations()
