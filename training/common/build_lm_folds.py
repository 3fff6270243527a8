"""Language models for decoding the training data: K of them, each estimated without its fold of the sentences."""

import logging
from collections.abc import Sequence
from pathlib import Path

from phrasebeam.base.config import save_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_directory, read_lines
from phrasebeam.base.memory_bound import DEFAULT_MEMORY
from phrasebeam.decoder.model.digests import file_digest
from phrasebeam.decoder.model.language_model_folds import FOLDS_FORMAT, FoldsDescription, fold_of, fold_path
from phrasebeam.decoder.tables.provenance import file_digests
from phrasebeam.lm.estimate import estimate
from phrasebeam.lm.probing_writer import write_probing

log = logging.getLogger("phrasebeam")


def build_lm_folds(
    target: str | Path,
    output: str | Path,
    n_folds: int,
    order: int,
    more: Sequence[str | Path] = (),
    memory_bytes: int = DEFAULT_MEMORY,
) -> FoldsDescription:
    """Write the directory `output`, for `open_folds`; one already there is replaced.

    `target`: the target side of the training data, tokenized, one sentence a line; `more`: text that all models see,
    as language_model.text of train-model. Memory is bounded as in `estimate`. Raises ConfigError or FormatError.
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
            model = estimate([rest, *more], order, memory_bytes, directory)
            write_probing(model, fold_path(directory, fold), memory_bytes)
            rest.unlink()
            files[fold_path(directory, fold).name] = file_digest(fold_path(directory, fold))
        description = FoldsDescription(format=FOLDS_FORMAT, folds=n_folds, order=order, data=data, files=files)
        save_config(description, directory / "folds.yaml")
    return description


def _write_rest(target: str | Path, rest: Path, fold: int, n_folds: int) -> None:
    """Write the sentences of `target` that are not in the fold to `rest`, one a line."""
    with open(rest, "wb") as file:
        for number, line in enumerate(read_lines(target)):
            if fold_of(number, n_folds) != fold:
                file.write(f"{line}\n".encode())
