"""Settings of forced decoding: its goal, and when it gives up. The only place of their defaults."""

from typing import Literal

from pydantic import Field

from phrasebeam.base.config import MOST_COUNTED, Section

Prefixes = Literal["longest", "closed", "all", "none"]


class ForcedDecodingSettings(Section):
    """Settings of forced decoding: which prefix pairs it searches if a sentence pair is not reachable, and its limits.

    Prefix pairs: the longest one; closed, the longest one without alignment links to the rest; all; or none.
    """

    prefixes: Prefixes = Field(
        default="longest", description="which prefix pairs are searched if the whole sentence pair is not reachable"
    )
    least_prefix: int = Field(
        default=5, ge=1, le=MOST_COUNTED, description="minimum number of source words of a prefix pair"
    )
    max_states: int = Field(
        default=1 << 20,
        ge=1,
        le=1 << 24,
        description="give up a sentence pair with more states; a state may have 4 nodes",
    )
    aligned: bool = Field(
        default=False,
        description="use only phrase pairs that are consistent with the word alignment of the sentence pair",
    )

    @property
    def needs_alignment(self) -> bool:
        """Whether sentence pairs need word alignments."""
        return self.aligned or self.prefixes == "closed"
