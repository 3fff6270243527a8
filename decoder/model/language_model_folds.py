"""Language models that have each not seen a fold of the training data, for decoding the training data itself.

folds.yaml      how many there are, and of what text; sentence i, counted from 0, is of fold i mod K
0.bin, 1.bin ...  KenLM probing binaries; the model of a fold has seen all sentences but those of the fold
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from phrasebeam.base.config import Section, load_config
from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.model.model import Model
from phrasebeam.decoder.tables.language_models import LanguageModels, TargetModel, join_language_models
from phrasebeam.lm.language_model import LanguageModel

FOLDS_FORMAT = "phrasebeam language model folds 1"


class FoldsDescription(Section):
    """folds.yaml."""

    format: Literal["phrasebeam language model folds 1"]
    folds: int = Field(ge=2)
    order: int
    data: dict[str, dict[str, str]]  # name and digest of the texts


class Fold(NamedTuple):
    """A model whose first language model has not seen a fold."""

    model: Model
    lms: LanguageModels  # of the model, without weights


def fold_of(sentence: int, n_folds: int) -> int:
    """The fold of a sentence of the training data, counted from 0.

    Neighbours are of different folds: no fold lacks a whole text or domain that the data may be put together of.
    """
    return sentence % n_folds


def fold_path(directory: Path, fold: int) -> Path:
    """The file of a fold's model."""
    return directory / f"{fold}.bin"


def open_folds(directory: str | Path, model: Model) -> Sequence[Fold]:
    """The folds in `directory`, for that model. Raises ModelError, FormatError or ConfigError, naming the file."""
    directory, folds = Path(directory), []
    if not (directory / "folds.yaml").exists():
        raise ModelError(f"{directory / 'folds.yaml'}: missing; estimate the folds again")
    for fold in range(load_config(directory / "folds.yaml", FoldsDescription).folds):
        path = fold_path(directory, fold)
        if not path.exists():
            raise ModelError(f"{path}: missing; estimate the folds again or copy them whole")
        first = TargetModel(LanguageModel.load(path), model.language_models[0].classes)
        models = first, *model.language_models[1:]
        folds.append(Fold(model._replace(language_models=models), join_language_models(models, model.target)))
    return folds
