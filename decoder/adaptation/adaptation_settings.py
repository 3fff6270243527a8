"""Settings of learning from confirmed translations, with their defaults."""

from pydantic import Field

from phrasebeam.base.config import Section


class AdaptationSettings(Section):
    """How much confirmed segments count relative to the training data, and how fast their counts decay."""

    decay: float = Field(
        default=0.99, gt=0, le=1, description="factor of all counts after each further confirmed segment; 1: no decay"
    )
    weight: float = Field(
        default=3.0, gt=0, le=1e4, description="how many training sentence pairs a confirmed segment counts for"
    )
    order: int = Field(
        default=4, ge=2, le=6, description="length of the longest n-grams of the language model of confirmed text"
    )
    interpolation: float = Field(
        default=0.3,
        ge=0,
        lt=1,
        description="share of that model in the interpolation with the model's first language model",
    )
    most_ratio: float = Field(
        default=10_000, ge=1, le=1e9, description="maximum factor by which it raises the probability of a word"
    )
    similarity: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description=(
            "minimum similarity of a confirmed source sentence, in words, from which pieces of its translation are used"
        ),
    )
    piece_probability: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="probability of a piece of a similar sentence's translation, like that of a term",
    )
    prior_count: float = Field(
        default=10, gt=0, le=1e9, description="count of each phrase if the phrase table has no counts"
    )
