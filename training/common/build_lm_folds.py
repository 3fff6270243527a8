"""Language models for decoding the training data, each estimated without one of K folds of the sentences.

All language models of the training data need folds: a model that has seen the reference, even only as word classes,
prefers it, and weights that are learned from its translations are of little use for other text.
"""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.config import save_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_directory, read_lines
from phrasebeam.base.memory_bound import DEFAULT_MEMORY
from phrasebeam.decoder.model.digests import file_digest
from phrasebeam.decoder.model.language_model_folds import (
    FOLDS_FORMAT,
    FoldsDescription,
    fold_of,
    fold_path,
    operations_path,
)
from phrasebeam.decoder.tables.provenance import file_digests
from phrasebeam.lm.counting import without_specials
from phrasebeam.lm.estimate import estimate
from phrasebeam.lm.probing_writer import write_probing
from phrasebeam.lm.text.corpus import split

log = logging.getLogger("phrasebeam")


class FoldedOperations(NamedTuple):
    """A file with the operations of each training sentence pair, one pair a line, and the order of their model."""

    lines: Path
    order: int


class FoldedModel(NamedTuple):
    """Settings of a language model that is estimated once for each fold, without that fold."""

    order: int
    classes: Mapping[str, str] | None = None  # class of each word, for a model of word classes; None: of words


def build_lm_folds(
    target: str | Path,
    output: str | Path,
    n_folds: int,
    models: Mapping[int, FoldedModel],
    more: Sequence[str | Path] = (),
    operations: FoldedOperations | None = None,
    memory_bytes: int = DEFAULT_MEMORY,
) -> FoldsDescription:
    """Write the directory `output`, which `open_folds` reads; an existing directory is replaced.

    `target`: the target side of the training data, tokenized, one sentence a line; `models`: the language models that
    need folds, by their number, from 1; `more`: text on which all these models are estimated, as language_model.text of
    train-model; `operations`: those of the sentence pairs, if the model has an operation sequence model. Memory is
    bounded as in `estimate`. Raises ConfigError or FormatError.
    """
    if n_folds < 2:
        raise ConfigError(f"{n_folds} folds of the language model, expected at least 2")
    paths = {"target": target} | {f"language_model_text_{i}": path for i, path in enumerate(more, 1)}
    data, files = file_digests(paths), {}
    with atomic_directory(output) as directory:
        for fold in range(n_folds):
            log.info("language model without fold %d of %d", fold, n_folds)
            rest = directory / "rest"
            _write_rest(target, rest, fold, n_folds)
            for number, (order, classes) in models.items():
                path = fold_path(directory, fold, number)
                write_probing(estimate([rest, *more], order, memory_bytes, directory, classes), path, memory_bytes)
                files[path.name] = file_digest(path)
            rest.unlink()
            if operations:
                _write_rest(operations.lines, rest, fold, n_folds)
                path = operations_path(directory, fold)
                write_probing(estimate([rest], operations.order, memory_bytes, directory), path, memory_bytes)
                files[path.name] = file_digest(path)
                rest.unlink()
        orders = {number: model.order for number, model in models.items()}
        description = FoldsDescription(
            format=FOLDS_FORMAT,
            folds=n_folds,
            orders=orders,
            operations=operations.order if operations else None,
            data=data,
            files=files,
        )
        save_config(description, directory / "folds.yaml")
    return description


def _write_rest(target: str | Path, rest: Path, fold: int, n_folds: int) -> None:
    """Write the sentences of `target` outside the fold to `rest`, one a line, without <s>, </s> and <unk>."""
    with open(rest, "wb") as file:
        for number, line in enumerate(read_lines(target)):
            if fold_of(number, n_folds) != fold:
                file.write(f"{' '.join(without_specials(split(line)))}\n".encode())
