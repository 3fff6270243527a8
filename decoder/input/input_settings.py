"""How source sentences are read: markup of terms, and unknown words."""

from typing import Literal

from pydantic import Field

from phrasebeam.base.config import Section

TermPolicy = Literal["exclusive", "inclusive", "constraint"]
Markup = Literal["pass-through", "ignore", TermPolicy]
Oov = Literal["copy", "drop", "mark"]
InputFormat = Literal["text", "confusion", "plf"]


class InputSettings(Section):
    """How source sentences are read, with Moses' words for it."""

    format: InputFormat = Field(
        default="text",
        description="text, a sentence a line; confusion, a column of a confusion network a line; plf, a lattice a line",
    )
    lattice_paths: int = Field(
        default=100, ge=1, le=10_000, description="paths of a lattice between two nodes that are looked up, the best"
    )
    markup: Markup = Field(
        default="pass-through",
        description="translations of terms in the input: none, plain text; exclusive, nothing else for their words; "
        "inclusive, beside the phrase table's; constraint, what phrases over their words must contain; ignore",
    )
    oov: Oov = Field(default="copy", description="words that are no phrase: copy; drop if without digits; or mark")
    oov_prefix: str = Field(default="UNK", pattern=r"^\S*$", description="before a marked word")
    oov_suffix: str = Field(default="", pattern=r"^\S*$", description="behind it")
