"""Functions about whole models: check_model, explain, join_features."""

from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field

from phrasebeam.api.arguments import File, Force, MemoryBound, RawOrTokens, memory_bound
from phrasebeam.base.config import MOST_COUNTED
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.memory_bound import memory_option
from phrasebeam.base.options import Option, described
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.model.description import accept_files
from phrasebeam.decoder.model.model_check import findings
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.translate.explain import Explanation, fired, heaviest
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.joining import joined_model


class Explained(NamedTuple):
    """Sparse features of a model, or of a translation."""

    features: list[Explanation]  # the most important first
    translation: Translation | None = None  # of the source sentence, if one was given
    n_fired: int = 0  # features that fired in it


@described()
def check_model(
    model: Annotated[File, Option("Model directory, as train-model or import-moses writes it.", is_bare=True)],
    *,
    accept: Annotated[bool, "Accept changed files: write their digests to model.yaml."] = False,
    memory: MemoryBound = None,
) -> list[str]:
    """Check all files of a model, and report each damage: file, position, value, and what was expected.

    Returns an empty list if the model is sound. Raises SmtError if it cannot be opened.

    >>> check_model("model")
    []
    """
    with memory_bound(memory_option(memory)):
        found = list(findings(model, is_verified=not accept))
        if accept and not found:
            accept_files(Path(model))
        return found


@described()
def explain(
    model: Annotated[File, "Model directory with sparse features."],
    *,
    top: Annotated[
        int, Field(ge=1, le=MOST_COUNTED), "Number of features to show, in each group or in the translation."
    ] = 50,
    source: Annotated[str | None, "A sentence: show the features of its translation instead."] = None,
    raw: RawOrTokens = None,
) -> Explained:
    """List the sparse features with the largest weights in each group of a model, or those of a translation.

    Raises ConfigError if the model has no sparse features, and SmtError if it cannot be opened.

    >>> explained = explain("model-with-features", top=3, source="der hund schläft .")
    >>> len(explained.features)
    3
    """
    decoder = Decoder.load(model)
    if not decoder.tables.sparse.active.any():
        raise ConfigError(f"{model}: no sparse features to explain; train-maxforce trains some")
    if source is None:
        return Explained(list(heaviest(decoder, Path(model), top)))
    given = Tokenization.of_model(model, raw).sentence(source, has_tags=decoder.model.has_tags)
    translation, found = fired(decoder, given)
    return Explained(found[:top], translation, len(found))


@described()
def join_features(
    model: Annotated[File, "Model directory, for example of train-expected-bleu."],
    features: Annotated[
        File, "Model with the sparse features to add, from train-maxforce, train-ranking or tune with method online."
    ],
    output: Annotated[File, "Directory of the combined model."],
    *,
    force: Force = False,
) -> None:
    """Add the sparse features of one model to another, so that the features of two trainers can be tuned together.

    Raises SmtError, see phrasebeam.training.joining.

    >>> join_features("model", "model-with-features", "both")
    >>> explain("both", top=1).features == explain("model-with-features", top=1).features
    True
    """
    joined_model.join_features(Path(model), Path(features), Path(output), force)
