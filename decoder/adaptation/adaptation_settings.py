"""How a model learns from confirmed translations, and the defaults."""

from pydantic import Field

from phrasebeam.base.config import Section


class AdaptationSettings(Section):
    """How much confirmed segments count beside the training data, and for how long."""

    decay: float = Field(
        default=0.99, gt=0, le=1, description="what a count is worth after one more confirmed segment; 1: nothing fades"
    )
    weight: float = Field(
        default=3.0, gt=0, le=1e4, description="how often a confirmed segment counts beside a sentence pair of training"
    )
    order: int = Field(default=4, ge=2, le=6, description="longest n-grams of the language model of confirmed text")
    interpolation: float = Field(
        default=0.3, ge=0, lt=1, description="its share in the interpolation with the first language model of the model"
    )
    most_ratio: float = Field(
        default=10_000, ge=1, le=1e9, description="by which it raises the probability of a word at most"
    )
    similarity: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="of a confirmed sentence to another one, in words, from which on its pieces are translations, too",
    )
    piece_probability: float = Field(
        default=1.0, gt=0, le=1, description="of a piece of a similar sentence's translation, as of a term"
    )
    prior_count: float = Field(
        default=10, gt=0, le=1e9, description="count of each phrase of a phrase table without counts"
    )
