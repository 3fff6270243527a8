"""Language models each trained without one of K folds of the training data, for decoding the training data itself.

folds.yaml      FoldsDescription; sentence i, counted from 0, is in fold i mod K
0.bin, 1.bin ...  KenLM probing binaries; the model of a fold was trained on all sentences but those of the fold
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from phrasebeam.base.config import Section, load_config
from phrasebeam.base.errors import FormatError, ModelError
from phrasebeam.decoder.model.digests import Digest, FileName, file_digest
from phrasebeam.decoder.model.model import Model
from phrasebeam.decoder.tables.language_models import LanguageModels, TargetModel, join_language_models
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.ngrams import MAX_ORDER

MOST_FOLDS = 1000  # each is a language model of its own
FOLDS_FORMAT = "phrasebeam language model folds 1"
ESTIMATE_AGAIN = "estimate the folds again or copy them whole"


class FoldsDescription(Section):
    """folds.yaml: how many folds there are, and of which text."""

    format: Literal["phrasebeam language model folds 1"]
    folds: int = Field(ge=2, le=MOST_FOLDS)
    order: int = Field(ge=1, le=MAX_ORDER)  # of the language models
    data: dict[str, dict[str, str]]  # name and digest of the texts
    files: dict[FileName, Digest] = Field(default={})  # of the folds; none in older directories


class Fold(NamedTuple):
    """A model whose first language model was trained without a fold."""

    model: Model
    lms: LanguageModels  # of the model, with weights 0


def fold_of(sentence: int, n_folds: int) -> int:
    """The fold of a sentence of the training data, counted from 0.

    Neighbours are in different folds, so that no model lacks a whole document or domain.
    """
    return sentence % n_folds


def fold_path(directory: Path, fold: int) -> Path:
    """The file of a fold's language model in `directory`."""
    return directory / f"{fold}.bin"


def open_folds(directory: str | Path, model: Model) -> Sequence[Fold]:
    """`model` with each of the language models in `directory` in turn. Raises SmtError, naming the file."""
    directory, folds = Path(directory), []
    if not (directory / "folds.yaml").exists():
        raise ModelError(f"{directory / 'folds.yaml'}: missing; estimate the folds again")
    description = load_config(directory / "folds.yaml", FoldsDescription)
    for fold in range(description.folds):
        path = fold_path(directory, fold)
        if not path.is_file():
            raise ModelError(f"{path}: missing, or not a regular file; {ESTIMATE_AGAIN}")
        expected = description.files.get(path.name)
        if expected and file_digest(path) != expected:
            raise FormatError(path, f"{file_digest(path)}, expected {expected}, as folds.yaml says; {ESTIMATE_AGAIN}")
        first = TargetModel(LanguageModel.load(path), model.language_models[0].classes)
        models = first, *model.language_models[1:]
        folds.append(Fold(model._replace(language_models=models), join_language_models(models, model.target)))
    return folds
