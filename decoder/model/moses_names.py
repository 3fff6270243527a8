"""The names of features in Moses' n-best lists, for models imported from Moses and for all others."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import Field

from phrasebeam.base.config import MOST_COUNTED, Section
from phrasebeam.decoder.features.dense_feature import names_of
from phrasebeam.decoder.features.registry import LISTS, SCALARS
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.templates import GROUPS

MOST_FEATURES = 1000
REQUIRED = names_of((*LISTS, *SCALARS))
MOSES_NAMES = {  # by our features, without numbers, in the order of n-best lists: stateful features first
    "reordering": "LexicalReordering",
    "distortion": "Distortion",
    "early_distortion": "Distortion",  # with the switch [early-distortion-cost]
    "language_model": "LM",
    "word_penalty": "WordPenalty",
    "phrase_penalty": "PhrasePenalty",
    "input_score": "InputFeature",
    "translation": "TranslationModel",
    "pair_sparse": "TranslationModel",
    "inserted_words": "TargetWordInsertionFeature",
    "deleted_words": "SourceWordDeletionFeature",
    "word_pairs": "WordTranslationFeature",
    "phrase_lengths": "PhraseLengthFeature",
}


class MosesFeature(Section):
    """A feature of a Moses model: its name in Moses, and which of our values belong to it."""

    name: str = Field(max_length=1000)
    feature: str = Field(max_length=1000)  # name in weights.yaml; for a group of sparse features, all of them
    first: int = Field(default=0, ge=0, le=MOST_COUNTED)  # of a list: the first value that belongs to it, and how many
    size: int = Field(default=1, ge=0, le=MOST_COUNTED)
    listed: bool = True  # whether it is in n-best lists: Moses omits features that it does not tune


def default_names(weights: Weights, reordering: Reordering | None) -> list[MosesFeature]:
    """The features of a model with these weights, with the names that Moses' training gives them.

    The penalty of unknown words is not included, since Moses does not tune and list it.
    """
    values = weights.model_dump()
    if "early_distortion" in values:
        del values["distortion"]
    features = []
    for feature, name in MOSES_NAMES.items():
        sizes = [len(values[feature]) if isinstance(values[feature], list) else 1] if feature in values else []
        if feature == "language_model":
            sizes = [1] * sizes[0]
        elif feature == "reordering":
            sizes = reordering.sizes if reordering else []
        first = 0
        for i, size in enumerate(sizes):
            features.append(MosesFeature(name=f"{name}{i}", feature=feature, first=first, size=size))
            first += size
    return features


def fitting_names(known: Sequence[MosesFeature], weights: Weights, reordering: Reordering | None) -> list[MosesFeature]:
    """The names `known` from an import as far as they fit the model, and the default_names of all other features.

    Later trainings may have added features or columns of reordering scores. Features without weights need no names.
    """
    defaults, sizes = default_names(weights, reordering), dict[str, list[int]]()
    if not known:
        return defaults
    for one in defaults:
        sizes.setdefault(one.feature, []).append(one.size)
    is_early = weights.early_distortion is not None and not weights.distortion
    names = [one for one in known if not (is_early and one.feature == "distortion")]
    for feature, expected in sizes.items():
        found = [one.size for one in names if one.feature == feature]
        fits = sum(found) == sum(expected) and (len(found) == len(expected) or feature == "translation")
        if not fits and feature != "pair_sparse" and (found or getattr(weights, feature)):
            names = [one for one in names if one.feature != feature]
            taken = {one.name for one in names}
            names += [one for one in defaults if one.feature == feature and one.name not in taken]
    return names


def named_values(
    names: Sequence[MosesFeature], values: Mapping[str, float | list[float]], sparse: Sequence[tuple[str, float]]
) -> Iterator[tuple[str, list[float]]]:
    """Yield Moses' names and values of the features `values` of a derivation, and of `sparse` features by our names.

    Features that Moses lacks keep their names and come last. A feature that every model has is left out if the Moses
    model lacks it or does not tune it. Without sparse features, the sums of their groups are included.
    """
    known, rest = set[str](), list(sparse)
    for one in (one for one in names if one.listed and one.feature in values):
        value = values[one.feature]
        if one.feature not in GROUPS:
            yield one.name, value[one.first : one.first + one.size] if isinstance(value, list) else [value]
        elif sparse:
            prefix = f"{one.name if one.feature == 'pair_sparse' else one.feature}_"
            yield from ((f"{one.name}_{name[len(prefix) :]}", [v]) for name, v in rest if name.startswith(prefix))
            rest = [(name, v) for name, v in rest if not name.startswith(prefix)]
        elif value:
            continue
        known.add(one.feature)
    for name, value in values.items():
        if name not in known and name not in REQUIRED:
            yield name, value if isinstance(value, list) else [value]
    yield from ((name, [value]) for name, value in rest)
