"""Language models each trained without one of K folds of the training data, for decoding the training data itself.

folds.yaml      FoldsDescription; sentence i, counted from 0, is in fold i mod K
0.bin, 1.bin ...  KenLM probing binaries; the model of a fold was trained on all sentences except those of the fold
0-lm2.bin ...   the second language model likewise, if it is also trained on the training data
0-operations.bin ...   the operation sequence model likewise
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from phrasebeam.base.config import Section, load_config
from phrasebeam.base.errors import FormatError, ModelError
from phrasebeam.decoder.model.digests import Digest, FileName, file_digest
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.operations.operation_model import Operations, with_language_model
from phrasebeam.decoder.tables.language_models import LanguageModels, TargetModel, join_language_models
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.ngrams import MAX_ORDER

MOST_FOLDS = 1000  # a language model is trained for each
FOLDS_FORMAT = "phrasebeam language model folds 2"
ESTIMATE_AGAIN = "estimate the folds again or copy them whole"


Number = Annotated[int, Field(ge=1)]
Order = Annotated[int, Field(ge=1, le=MAX_ORDER)]


class FoldsDescription(Section):
    """folds.yaml: the number of folds, and their text."""

    format: Literal["phrasebeam language model folds 2"]
    folds: int = Field(ge=2, le=MOST_FOLDS)
    orders: dict[Number, Order]  # of the model's language models that have folds, by number, from 1
    operations: Order | None = None  # of the operation sequence model
    data: dict[str, dict[str, str]]  # name and digest of the texts
    files: dict[FileName, Digest]  # of the folds


class Fold(NamedTuple):
    """A model whose language models and operation sequence model of the training data were trained without a fold."""

    model: Model
    lms: LanguageModels  # its language models, with weights 0
    operations: Operations  # its operation sequence model


def fold_of(sentence: int, n_folds: int) -> int:
    """The fold of a sentence of the training data, counted from 0.

    Neighbouring sentences are in different folds, so that no model lacks a whole document or domain.
    """
    return sentence % n_folds


def fold_path(directory: Path, fold: int, number: int) -> Path:
    """The file of a fold's language model `number`, from 1, in `directory`."""
    return directory / (f"{fold}.bin" if number == 1 else f"{fold}-lm{number}.bin")


def operations_path(directory: Path, fold: int) -> Path:
    """The file of a fold's operation sequence model in `directory`."""
    return directory / f"{fold}-operations.bin"


def numbers_with_folds(model: Model) -> list[int]:
    """Numbers, from 1, of the language models of the training data: the first, and those without text of their own."""
    data, numbers = model.description.data, range(2, len(model.language_models) + 1)
    if "target" not in data:  # an imported model; the text of its further language models is unknown
        return [1]
    return [1, *(n for n in numbers if not any(name.startswith(f"language_model_{n}_text_") for name in data))]


def open_folds(directory: str | Path, model: Model) -> Sequence[Fold]:
    """`model` with the language models in `directory`, one for each fold. Raises SmtError, naming the file."""
    directory, folds = Path(directory), []
    if not (directory / "folds.yaml").exists():
        raise ModelError(f"{directory / 'folds.yaml'}: missing; estimate the folds again")
    description = load_config(directory / "folds.yaml", FoldsDescription)
    for fold in range(description.folds):
        models = tuple(
            TargetModel(_opened(fold_path(directory, fold, number), description), lm.classes)
            if number in description.orders
            else lm
            for number, lm in enumerate(model.language_models, 1)
        )
        operations = _operations(directory, fold, model, description)
        lms = join_language_models(models, model.target)
        folds.append(Fold(model._replace(language_models=models), lms, operations))
    return folds


def _operations(directory: Path, fold: int, model: Model, description: FoldsDescription) -> Operations:
    if model.operation_names is None:
        return model.tables.operations
    if description.operations is None:
        raise ModelError(f"{directory / 'folds.yaml'}: no operations, which the model has; {ESTIMATE_AGAIN}")
    lm = _opened(operations_path(directory, fold), description)
    return with_language_model(model.tables.operations, model.operation_names, lm)


def _opened(path: Path, description: FoldsDescription) -> LanguageModel:
    if not path.is_file():
        raise ModelError(f"{path}: missing, or not a regular file; {ESTIMATE_AGAIN}")
    found, expected = file_digest(path), description.files.get(path.name)
    if found != expected:
        raise FormatError(path, f"{found}, expected {expected}, as folds.yaml says; {ESTIMATE_AGAIN}")
    return LanguageModel.load(path)
