"""What forced decoding looks for, and when it gives up: the only defaults."""

from typing import Literal

from pydantic import Field

from phrasebeam.base.config import MOST_COUNTED, Section

Prefixes = Literal["longest", "closed", "all", "none"]


class ForcedDecodingSettings(Section):
    """What forced decoding looks for where a sentence pair as a whole is not reachable, and when it gives up.

    Prefix pairs: the longest one, the longest one that the word alignment closes, all, or none.
    """

    prefixes: Prefixes = Field(
        default="longest", description="prefix pairs that are looked for where the whole is not reachable"
    )
    least_prefix: int = Field(default=5, ge=1, le=MOST_COUNTED, description="source words of the shortest prefix pair")
    max_states: int = Field(
        default=1 << 20,
        ge=1,
        le=1 << 24,
        description="states of a pair that is not too large, which may have 4 nodes each",
    )
    aligned: bool = Field(default=False, description="only phrase pairs that fit the sentence pair's word alignment")

    @property
    def needs_alignment(self) -> bool:
        """Whether sentence pairs need word alignments."""
        return self.aligned or self.prefixes == "closed"
