"""The run of a trainer: the model that it begins with, its work directory, signatures, and what it writes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.decoder.model.model import Model, open_model
from phrasebeam.decoder.tables.provenance import check_output, file_digests, signature
from phrasebeam.training.common.derived_model import WORK_DIRECTORIES, check_not_itself, write_derived


@dataclass(frozen=True)
class TrainingRun:
    """A training that was begun, or is to go on."""

    model: Path
    opened: Model  # as it is in `model`
    output: Path
    work: Path  # the directory in `output` where all is kept that is not part of the model
    digests: Mapping[str, Mapping[str, str]]  # of the data

    @classmethod
    def begin(cls, model: Path, output: Path, work: str, files: Mapping[str, Path]) -> "TrainingRun":
        """Open the model, and read all files of data once; `work` is one of WORK_DIRECTORIES.

        Raises ConfigError where `output` is the model itself, or has something else than a model.
        """
        if work not in WORK_DIRECTORIES:
            raise ValueError(f"{work} is not one of {', '.join(WORK_DIRECTORIES)}")
        if not (output / work).exists():
            check_output(output)
        check_not_itself(output, model)
        return cls(model, open_model(model), output, output / work, file_digests(files))

    def signature(self, settings: Mapping[str, object], data: Mapping[str, Mapping[str, str]] | None = None) -> str:
        """The signature of settings and data (None: all data of the run), and of the model that it begins with."""
        weights = self.opened.weights.model_dump(mode="json")
        made_of = {"model": self.opened.description.signature, "weights": weights}
        return signature({**settings, **made_of}, self.digests if data is None else data)

    def write(
        self,
        output: Path,
        weights: Weights,
        settings: Mapping[str, object],
        names: tuple[str, str],
        shares: Callable[[Path], bool],
        description: ModelDescription | None = None,
    ) -> None:
        """Write the model with these weights to `output`, see write_derived; `description`: of it, where it differs."""
        before = description or self.opened.description
        write_derived(self.model, output, before, weights, settings, self.digests, names, shares)
