"""A check of all files of a model directory: their digests, invalid numbers, and tables that contradict each other.

Opening a model reads almost nothing of its tables, and translating checks only the entries that it uses.
"""

from collections.abc import Iterator
from pathlib import Path

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.features.dense import active_groups, dense_weights
from phrasebeam.decoder.model.description import open_description
from phrasebeam.decoder.model.digests import changed_files
from phrasebeam.decoder.model.opened_model import Model, check_parts, open_model
from phrasebeam.decoder.model.table_agreement import disagreements
from phrasebeam.decoder.operations.operation_model import FOLDER, LM_FILE
from phrasebeam.decoder.tables.array_checks import Finding, wrong_numbers
from phrasebeam.decoder.tables.model_files import ARRAY_FILES, TRAIN_AGAIN, Finite, open_arrays, phrase_files
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.table_check import contradictions


def findings(directory: str | Path, is_verified: bool = True) -> Iterator[str]:
    """A line for each file that differs from its digest; if there is none, a line for the first defect of each kind.

    Digests are skipped unless `is_verified`. Raises SmtError if the model cannot be opened.
    """
    directory = Path(directory)
    if is_verified and (changed := _changed(directory)):
        yield from changed
        return
    model = open_model(directory, is_verified)
    scores, n_language_models = model.tables.phrases.ln_scores, len(model.language_models)
    dense_weights(model.weights, scores.shape[1], model.description.reordering, n_language_models)  # raises its errors
    active_groups(model.weights, model.tables.sparse)
    found = [*_numbers(directory, model)]
    for name, message in found or disagreements(model):
        yield f"{directory / name}: {message}; {TRAIN_AGAIN}"
    for lm in _language_models(directory, model):
        yield from (f"{lm.path}: {message}; {TRAIN_AGAIN}" for message in contradictions(lm))


def check_arrays(directory: Path, model: Model) -> None:
    """Raise ModelError if an array of the opened model contains a number that is invalid for its file.

    For functions that read whole tables; functions that read the phrases of sentences rely on BoundsChecks.
    """
    for name, message in _numbers(directory, model):
        raise ModelError(f"{directory / name}: {message}; {TRAIN_AGAIN}")


def _changed(directory: Path) -> list[str]:
    """A line for each file that differs from its digest; none for a model without digests."""
    check_parts(directory)
    description = open_description(directory)
    return [*changed_files(directory, description.files)] if description.has_digests else []


def _numbers(directory: Path, model: Model) -> Iterator[Finding]:
    """The first invalid number of each array, by the declaration of its file."""
    description = model.description
    counts = {"V": len(model.source), "W": len(model.target)}
    counts["B"] = description.reordering.n_columns if description.reordering else 0
    for folder, files in ARRAY_FILES.items():
        is_used = folder != "reordering" or description.reordering is not None
        if is_used and (directory / folder / f"{files[0].name}.npy").exists():
            present = phrase_files(directory / folder) if folder == "phrases" else files
            arrays = open_arrays(directory / folder, present, counts)
            for name, _, values, _ in present:
                if isinstance(values, Finite) and not description.is_estimated:
                    values = Finite()
                yield from wrong_numbers(f"{folder}/{name}.npy", arrays[name], values, counts)


def _language_models(directory: Path, model: Model) -> Iterator[LanguageModel]:
    yield from (lm.model for lm in model.language_models)
    if model.operation_names is not None:
        yield LanguageModel.load(directory / FOLDER / LM_FILE)
