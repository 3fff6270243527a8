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
    """Number of iterations of each aligner; that of eflomal depends on the size of the corpus instead."""

    ibm1: Passes = Field(5, description="iterations of IBM Model 1, also before ibm2, hmm, ibm3 and ibm4")
    ibm2: Passes = Field(5, description="iterations of this aligner")
    hmm: Passes = Field(5, description="iterations of the HMM, also before ibm3 and ibm4")
    ibm3: Passes = Field(3, description="iterations of IBM Model 3, also before ibm4")
    ibm4: Passes = Field(3, description="iterations of this aligner")
    fast_align: Passes = Field(5, description="iterations of this aligner")


class AlignmentConfig(Section):
    """Word alignment in both directions, and symmetrization."""

    aligner: Aligner = Field("eflomal", description="aligner of each direction")
    symmetrization: Symmetrization = Field(
        "grow_diag_final_and",
        description="how the alignments of both directions are combined, as in Moses; or only one of them",
    )
    seed: int = Field(1, ge=0, lt=2**32, description="random seed of eflomal's sampling")
    samplers: int = Field(3, ge=1, le=100, description="number of independent samplers, whose votes eflomal adds up")
    effort: float = Field(
        1.0, gt=0, le=1000, description="factor of eflomal's number of sweeps, which is 5000 / sqrt(sentence pairs)"
    )
    iterations: Iterations = Iterations()
