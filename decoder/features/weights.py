"""The dense weights of a model as in weights.yaml, and their defaults."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, SerializerFunctionWrapHandler, model_serializer

from phrasebeam.base.config import parse_config, section_of
from phrasebeam.decoder.features.dense_feature import DenseFeature, Finite, names_of
from phrasebeam.decoder.features.registry import FEATURES, LISTS

# A single number is read as a list of one weight
OneOrMore = Annotated[list[Finite], BeforeValidator(lambda value: [value] if isinstance(value, int | float) else value)]
TYPES: dict[str, Any] = {"number": Finite, "list": list[Finite], "list or number": OneOrMore}


def _field(feature: DenseFeature) -> tuple[Any, Any]:
    """Type and default of the weights of a feature."""
    if feature.weight is None:
        return TYPES[feature.kind] | None, None
    return TYPES[feature.kind], list(feature.weight) if isinstance(feature.weight, tuple) else feature.weight


_FeatureWeights: Any = section_of("_FeatureWeights", {feature.name: _field(feature) for feature in FEATURES})


class Weights(_FeatureWeights):
    """The dense weights, by the names of features; the defaults are those of Moses before tuning."""

    advice_on_unknown: ClassVar[str] = " If it is a feature of a plugin, name its file by --plugin"

    @model_serializer(mode="wrap")
    def _without_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {name: value for name, value in serialize(self).items() if value is not None}

    @classmethod
    def learned(cls, values: Mapping[str, object]) -> Self:
        """The weights from a training run; a missing list becomes empty, not the default.

        Raises ConfigError if a weight is too large, or not a number.
        """
        absent: dict[str, object] = {name: [] for name in names_of(LISTS)}
        return parse_config(absent | dict(values), cls, "weights that were learned, perhaps at too high a rate")

    @classmethod
    def required(cls) -> list[str]:
        """The names of the features that every model has."""
        return [feature.name for feature in FEATURES if feature.weight is not None]
