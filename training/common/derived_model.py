"""A model directory that a trainer derives from another model: unchanged files are shared, the others are written."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.config import save_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import read_lines, real_path
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.decoder.model.digests import model_files
from phrasebeam.decoder.model.opened_model import Model, open_model
from phrasebeam.decoder.model.readme import save_model
from phrasebeam.decoder.raw_text.raw_lines import warn_of_raw_text
from phrasebeam.decoder.sparse.sparse_files import FORMAT
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.decoder.tables.model_files import EDITABLE, MODEL, README, WORK_DIRECTORIES
from phrasebeam.decoder.tables.provenance import DataSize, Stage, check_work, file_digests, signature, version
from phrasebeam.process.interruption import goes_on_in
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.kept_translations import keep_development
from phrasebeam.training.common.shared_file import share
from phrasebeam.training.common.work import FILE, BegunWork, check_conflict

REWRITTEN = (MODEL, "weights.yaml", README)
NOT_TEXT = ("alignment", "tasks")  # names of data files that are not text


class Making(NamedTuple):
    """The command that derives a model from another one, with its settings and result, for model.yaml."""

    command: str
    settings: Mapping[str, object]  # added to those of the other model
    changed: Mapping[str, object] = {}  # settings of the command that are not the defaults
    gain: str = ""
    trainer: str = ""  # the names of its data in model.yaml begin with this
    run: str = ""  # if there are several runs, the one whose weights are written


@dataclass(frozen=True)
class DerivedModel:
    """The model in the directory `output`, which is made from another model and from data."""

    model: Path
    opened: Model  # the model in the directory `model`
    output: Path
    work: Path  # the directory in `output` where a trainer keeps what is not part of the model
    digests: Mapping[str, Mapping[str, str]]  # of the data files, by name
    sizes: Sequence[DataSize] = ()  # of the data files that are text

    @classmethod
    def begin(cls, model: Path, output: Path, work: str, files: Mapping[str, Path]) -> "DerivedModel":
        """Open `model`, and compute digests and sizes of the data `files`; `work` is one of WORK_DIRECTORIES.

        Raises ConfigError if `output` is `model` itself, and the errors of check_work.
        """
        if work not in WORK_DIRECTORIES:
            raise ValueError(f"{work} is not one of {', '.join(WORK_DIRECTORIES)}")
        check_work(output)
        check_not_itself(output, model)
        opened, digests = open_model(model), file_digests(files)
        if opened.description.preprocessing:
            for name, path in files.items():
                if name not in NOT_TEXT:
                    warn_of_raw_text(path, read_lines(path))
        sizes = [DataSize.of(name, path) for name, path in files.items() if name not in NOT_TEXT]
        return cls(model, opened, output, output / work, digests, sizes)

    def begin_work(
        self,
        command: str,
        settings: Mapping[str, object],
        is_forced: bool,
        development: BitextFiles,
        is_text: bool = True,
    ) -> str:
        """Begin the work with these `settings`, or continue it, and return its signature.

        A copy of the development set is kept for the report; `is_text`: whether the source is text, not lattices.

        Raises ConfigError if a model or other work is in `output`; if `is_forced`, that is deleted instead.
        """
        now = BegunWork(
            signature=self.signature(settings),
            command=command,
            version=version(),
            settings=dict(settings),
            model=self._before(),
            data={name: dict(entry) for name, entry in self.digests.items()},
        )
        check_conflict(self.output, self.work, now, is_forced)
        goes_on_in(self.work)
        save_config(now.since(self.work / FILE), self.work / FILE)
        keep_development(self.work, development.source if is_text else None, development.references)
        return now.signature

    def signature(self, settings: Mapping[str, object], data: Mapping[str, Mapping[str, str]] | None = None) -> str:
        """Signature of everything that the work depends on: settings, initial model, digests of `data` (None: all)."""
        return signature({**settings, **self._before()}, self.digests if data is None else data)

    def _before(self) -> dict[str, object]:
        weights = self.opened.weights.model_dump(mode="json")
        return {"model": self.opened.description.signature, "weights": weights, "sparse": FORMAT}

    def write(
        self,
        weights: Weights,
        making: Making,
        own: Collection[str] = (),
        without: Collection[str] = (),
        description: ModelDescription | None = None,
    ) -> None:
        """Write the model: these weights, its `own` files, and all other files of `model`.

        `own`: files that were already written to `output`; `without`: files and folders of `model` that the new model
        does not get. Work of trainers is not part of a model. `description`: replaces that of `model`. Files of an
        earlier model in `output` are deleted; model.yaml is written last.
        """
        before, known = description or self.opened.description, dict[str, str]()  # known: digests of shared files
        ours = {*model_files(self.model), *before.files}
        for path in sorted(self.model.rglob("*")):
            relative = path.relative_to(self.model)
            name, folder = relative.as_posix(), relative.parts[0]
            is_left = name in own or not {name, folder}.isdisjoint(without)
            if path.is_file() and name not in REWRITTEN and folder not in WORK_DIRECTORIES and not is_left:
                share(path, self.output / relative, is_own=name in ours)
                known[name] = before.files.get(name, "")
        for name in {*model_files(self.output)} - {*known, *own, *REWRITTEN}:
            (self.output / name).unlink()
        save_config(weights, self.output / "weights.yaml")
        digests = {name: digest for name, digest in known.items() if name not in EDITABLE}
        save_model(self._described(before, making), self.output, digests)

    def _described(self, before: ModelDescription, making: Making) -> ModelDescription:
        stage = Stage(
            command=making.command,
            version=version(),
            settings=dict(making.changed),
            data=list(self.sizes),
            gain=making.gain,
        )
        update = {
            "version": version(),
            "settings": before.settings | dict(making.settings) | ({"run": making.run} if making.run else {}),
            "data": before.data | {f"{making.trainer} {name}": entry for name, entry in self.digests.items()},
            "signature": signature(making.settings, self.digests),
            "stages": [*before.stages, stage],
        }
        return before.model_copy(update=update)


def with_sparse_weights(model: Model, weights: SparseWeights) -> Model:
    """A copy of the model in memory, with other weights of its sparse features."""
    tables = model.tables
    return model._replace(tables=tables._replace(sparse=tables.sparse._replace(weights=weights)))


def check_not_itself(output: Path, *models: Path) -> None:
    """Raise ConfigError if `output` is one of the input models."""
    if real_path(output) in [real_path(model) for model in models]:
        raise ConfigError(f"{output}: is the input model; give another --output")
