"""How source sentences are read: markup of terms, and unknown words."""

from typing import Literal

from pydantic import Field

from phrasebeam.base.config import Section

TermPolicy = Literal["exclusive", "inclusive", "constraint"]
Markup = Literal["pass-through", "ignore", TermPolicy]
Oov = Literal["copy", "drop", "mark"]
InputFormat = Literal["text", "confusion", "plf"]


class InputSettings(Section):
    """How source sentences are read, with the names that Moses uses."""

    format: InputFormat = Field(
        default="text",
        description="text: one sentence per line; confusion: one column of a confusion network per line; plf: one "
        "lattice per line",
    )
    lattice_paths: int = Field(
        default=100,
        ge=1,
        le=10_000,
        description="number of paths between two nodes of a lattice that are looked up, those with the best scores",
    )
    markup: Markup = Field(
        default="pass-through",
        description="tags in the input that give translations of terms. pass-through: read tags as text; ignore: "
        "remove tags; exclusive: use only the given translations; inclusive: use them together with "
        "phrase pairs of the model; constraint: use only phrase pairs that contain them",
    )
    oov: Oov = Field(
        default="copy",
        description="unknown words. copy: copy them; drop: drop them if they have no digits; mark: copy and mark them",
    )
    oov_prefix: str = Field(default="UNK", pattern=r"^\S*$", description="text before a marked word")
    oov_suffix: str = Field(default="", pattern=r"^\S*$", description="text after a marked word")
