"""A model with other weights than the one that it comes from: what is the same is shared, the rest is written anew."""

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from phrasebeam.base.config import save_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.decoder.model.model import Model
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.decoder.tables.provenance import signature, version

OWN = ("model.yaml", "weights.yaml")
WORK_DIRECTORIES = ("tuning", "maxforce", "expected_bleu")  # of trainers, in the models that they write


def with_sparse_weights(model: Model, weights: SparseWeights) -> Model:
    """The model with other weights of its sparse features, in memory."""
    tables = model.tables
    return model._replace(tables=tables._replace(sparse=tables.sparse._replace(weights=weights)))


def check_not_itself(output: Path, *models: Path) -> None:
    """Raises ConfigError where `output` is one of the models that it would be made of."""
    if output.resolve() in [model.resolve() for model in models]:
        raise ConfigError(f"{output}: is the model itself; give another --output")


def write_derived(
    model: Path,
    output: Path,
    before: ModelDescription,
    weights: Weights,
    settings: Mapping[str, object],
    digests: Mapping[str, Mapping[str, str]],
    names: tuple[str, str] = ("", ""),
    shares: Callable[[Path], bool] = lambda path: True,
) -> None:
    """Give `output` the files of `model` that it `shares` (by paths inside of it), and the weights; model.yaml last.

    What trainers keep of their work is not part of a model. `settings` and `digests` are what made the weights;
    `names`: of the work (in the keys of digests), and of its run. Files of models are never changed, but replaced:
    sharing them is safe.
    """
    for path in sorted(model.rglob("*")):
        relative = path.relative_to(model)
        is_part = relative.name not in OWN and relative.parts[0] not in WORK_DIRECTORIES
        if path.is_file() and is_part and shares(relative):
            share(path, output / relative)
    save_config(weights, output / "weights.yaml")
    work, run = names
    description = before.model_copy(
        update={
            "version": version(),
            "settings": before.settings | dict(settings) | ({"run": run} if run else {}),
            "data": before.data | {f"{work} {name}": entry for name, entry in digests.items()},
            "signature": signature(settings, digests),
        }
    )
    save_config(description, output / "model.yaml")


def share(path: Path, target: Path) -> None:
    """Make `target` the same file, or a copy where the file system cannot."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)
