"""A model directory that a trainer derives from another: files that do not change are shared, others are written."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from phrasebeam.base.config import save_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import real_path
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import ModelDescription, save_description
from phrasebeam.decoder.model.model import Model, open_model
from phrasebeam.decoder.sparse.sparse_files import FORMAT
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.decoder.tables.model_files import EDITABLE
from phrasebeam.decoder.tables.provenance import check_output, file_digests, signature, version
from phrasebeam.process.interruption import goes_on_in

REWRITTEN = ("model.yaml", "weights.yaml")
WORK_DIRECTORIES = ("tuning", "maxforce", "ranking", "expected_bleu")  # of trainers, in the models that they write


@dataclass(frozen=True)
class DerivedModel:
    """The model in the directory `output`, made of another one and of data."""

    model: Path
    opened: Model  # as it is in `model`
    output: Path
    work: Path  # the directory in `output` where a trainer keeps what is not part of the model
    digests: Mapping[str, Mapping[str, str]]  # of the data

    @classmethod
    def begin(cls, model: Path, output: Path, work: str, files: Mapping[str, Path]) -> "DerivedModel":
        """Open `model`, and read all files of the data once; `work` is one of WORK_DIRECTORIES.

        Raises ConfigError where `output` is `model` itself, or neither a model nor work that was begun.
        """
        if work not in WORK_DIRECTORIES:
            raise ValueError(f"{work} is not one of {', '.join(WORK_DIRECTORIES)}")
        if not (output / work).exists():
            check_output(output)
        check_not_itself(output, model)
        goes_on_in(output / work)
        return cls(model, open_model(model), output, output / work, file_digests(files))

    def signature(self, settings: Mapping[str, object], data: Mapping[str, Mapping[str, str]] | None = None) -> str:
        """Signature of what the work depends on: settings, model to begin with, digests of `data` (None: all)."""
        weights = self.opened.weights.model_dump(mode="json")
        before = {"model": self.opened.description.signature, "weights": weights, "sparse": FORMAT}
        return signature({**settings, **before}, self.digests if data is None else data)

    def write(
        self,
        weights: Weights,
        settings: Mapping[str, object],
        names: tuple[str, str] = ("", ""),
        shares: Callable[[Path], bool] = lambda path: True,
        description: ModelDescription | None = None,
    ) -> None:
        """Write the model: it gets these weights, and shares the files of `model` for whose paths `shares` is true.

        Work of trainers is not part of a model. `settings`: what made the weights, for model.yaml, which comes last;
        `names`: of the trainer (in the keys of its data there), and of its run; `description`: of `model`, where it is
        to be another one. Files of models are never changed, but replaced: sharing them is safe.
        """
        before, (trainer, run) = description or self.opened.description, names
        digests = dict[str, str]()  # of shared files
        for path in sorted(self.model.rglob("*")):
            relative = path.relative_to(self.model)
            is_part = relative.name not in REWRITTEN and relative.parts[0] not in WORK_DIRECTORIES
            if path.is_file() and is_part and shares(relative):
                share(path, self.output / relative)
                if relative.as_posix() not in EDITABLE:
                    digests[relative.as_posix()] = before.files.get(relative.as_posix(), "")
        save_config(weights, self.output / "weights.yaml")
        update = {
            "version": version(),
            "settings": before.settings | dict(settings) | ({"run": run} if run else {}),
            "data": before.data | {f"{trainer} {name}": entry for name, entry in self.digests.items()},
            "signature": signature(settings, self.digests),
        }
        save_description(before.model_copy(update=update), self.output, digests)


def with_sparse_weights(model: Model, weights: SparseWeights) -> Model:
    """The model with other weights of its sparse features, in memory."""
    tables = model.tables
    return model._replace(tables=tables._replace(sparse=tables.sparse._replace(weights=weights)))


def check_not_itself(output: Path, *models: Path) -> None:
    """Raises ConfigError where `output` is one of the models that it would be made of."""
    if real_path(output) in [real_path(model) for model in models]:
        raise ConfigError(f"{output}: is the model itself; give another --output")


def share(path: Path, target: Path) -> None:
    """Make `target` the same file, or a copy where the file system cannot."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(real_path(path), target)
    except OSError:
        shutil.copyfile(path, target)
