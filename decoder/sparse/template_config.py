"""Which sparse features a model has: templates.yaml. What is absent from it is absent from the model."""

from typing import Literal

from pydantic import Field, model_validator

from phrasebeam.base.config import Section

LevelKind = Literal["word", "characters", "classes", "type"]


class Level(Section):
    """A backoff level: what stands for a word, and what using it costs (Yu et al. 2013, Table 1)."""

    kind: LevelKind = Field(description="the word; its first characters; its class in a map; numeral, mark or other")
    budget: int = Field(ge=1, description="what one of these adds to the cost of a combination")
    source: str = Field(
        default="", description="map of source words to classes: lines `class word count` or `word class`"
    )
    target: str = Field(default="", description="the same of target words")
    prefix: int = Field(default=0, ge=0, description="characters of the class or the word that count, 0 for all")

    @model_validator(mode="after")
    def _has_maps(self) -> "Level":
        if (self.kind == "classes") != bool(self.source and self.target):
            raise ValueError("source and target are the maps of a level of kind classes, and needed there")
        if self.kind == "characters" and not self.prefix:
            raise ValueError("prefix says how many characters count; give 1 or more")
        return self

    @property
    def name(self) -> str:
        """What the level is called in the names of features."""
        return f"{self.kind}{self.prefix or ''}"


class WordEdges(Section):
    """Combinations of what stands at the edges of a phrase pair and around it.

    They are as many groups as there are kinds of them, by the sides that they combine, see EDGES in templates.py.
    """

    budget: int = Field(default=10, ge=1, description="a combination costs at most so much in all")
    most_words: int = Field(default=2, ge=1, le=6, description="words in a combination at most")
    with_length: bool = Field(default=True, description="each also together with the length of the source phrase")


class Templates(Section):
    """Groups of sparse features; the scale of each stands in weights.yaml."""

    levels: list[Level] = Field(default=[Level(kind="word", budget=5)])
    word_edges: WordEdges | None = None
    rule_id: bool = False
    rule_bigram: bool = False
    rule_history: bool = Field(default=False, description="rule and the last two target words, at every level")

    @model_validator(mode="after")
    def _distinct_levels(self) -> "Templates":
        names = [level.name for level in self.levels]
        if len(set(names)) < len(names) or not names:
            raise ValueError(f"levels are {names}; give one or more, each once")
        return self
