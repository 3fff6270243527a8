"""The dense weights of a model as weights.yaml has them: the only defaults."""

from typing import Annotated

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from phrasebeam.base.config import Section

Finite = Annotated[float, Field(allow_inf_nan=False)]
# One number stands for a list of one.
OneOrMore = Annotated[list[Finite], BeforeValidator(lambda value: [value] if isinstance(value, int | float) else value)]


class Weights(Section):
    """The dense weights; the defaults are Moses' before tuning."""

    translation: list[Finite] = Field(default=[0.2] * 4)
    reordering: list[Finite] = Field(default=[0.3] * 6)
    language_model: OneOrMore = Field(default=[0.5], description="one for each language model")
    distortion: Finite = 0.3
    word_penalty: Finite = -1.0
    phrase_penalty: Finite = 0.2
    unknown_word_penalty: Finite = 1.0
    # Features that are there only where they are given a weight:
    early_distortion: Finite | None = None
    bitext_count: Finite | None = None
    unique_rule: Finite | None = None
    length_groups: list[Finite] | None = None
    # Scales of groups of sparse features, see templates.yaml:
    pair_sparse: Finite | None = None
    rule_id: Finite | None = None
    rule_bigram: Finite | None = None
    rule_history: Finite | None = None
    source_edges: Finite | None = None
    target_edges: Finite | None = None
    context_edges: Finite | None = None
    source_target_edges: Finite | None = None
    source_context_edges: Finite | None = None
    target_context_edges: Finite | None = None
    all_edges: Finite | None = None

    @model_serializer(mode="wrap")
    def _without_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {name: value for name, value in serialize(self).items() if value is not None}

    @classmethod
    def required(cls) -> list[str]:
        """The names of the features that every model has."""
        return [name for name, field in cls.model_fields.items() if field.default is not None]
