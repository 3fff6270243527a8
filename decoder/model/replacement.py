"""Whether a new model may replace an existing one: only if the same command can restore everything that is lost."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from phrasebeam.base.config import load_config
from phrasebeam.base.errors import ConfigError, SmtError
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import ModelDescription, open_description
from phrasebeam.decoder.model.digests import file_digest, model_files
from phrasebeam.decoder.tables.model_files import EDITABLE, MODEL, WORK_DIRECTORIES
from phrasebeam.decoder.tables.provenance import check_output, differences, version
from phrasebeam.process.unfinished import is_unfinished, remove

FORCE = "give --force to delete it, or another --output"


def check_replaceable(
    output: Path,
    command: str,
    settings: Mapping[str, object],
    data: Mapping[str, object],
    weights: Weights | None = None,
    is_forced: bool = False,
) -> None:
    """Raise ConfigError if `output` is a model that differs from a new one of this `command`, settings and data.

    `weights`: the initial weights of the new model, None if they are not known yet. Only the entries of `data` that are
    digests of files are compared. Raises ConfigError even with `is_forced` if `output` is not a model.
    """
    check_output(output)
    if is_forced or not (output / MODEL).exists():
        return
    try:
        before = open_description(output, is_verified=False)
        old = before.settings | {"version": before.version, "data": _files(before.data)}
        new = {**settings, "version": version(), "data": _files(data)}
        if weights is not None:
            old["weights"] = load_config(output / "weights.yaml", Weights).model_dump(mode="json")
            new["weights"] = weights.model_dump(mode="json")
        is_of_other = bool(before.stages) and before.stages[-1].command != command
        problems = [f"expected one of {command}"] if is_of_other else [*_further(output, before), differences(old, new)]
        problem = "; ".join(filter(None, problems))
    except (SmtError, OSError) as error:
        raise ConfigError(f"{output}: a model that cannot be read ({error}); {FORCE}") from None
    if problem:
        raise ConfigError(f"{output}: {name_of(before)}: {problem}; {FORCE}")


def name_of(description: ModelDescription) -> str:
    """The kind of the model: the command that made it."""
    return f"a model that {description.stages[-1].command} made" if description.stages else "a model"


def _files(data: Mapping[str, object]) -> dict[str, object]:
    return {name: entry for name, entry in data.items() if isinstance(entry, Mapping)}


def _further(output: Path, description: ModelDescription) -> Iterator[str]:
    """What would be lost with this directory: edits, and files that are not part of the model."""
    for name, digest in description.files.items():
        if name in EDITABLE and (output / name).is_file() and file_digest(output / name) != digest:
            yield f"{name} was edited"
    for name in EDITABLE:
        if name not in description.files and description.has_digests and (output / name).is_file():
            yield f"{name} was added"
    known = {name.partition("/")[0] for name in (MODEL, *description.files, *model_files(output))}
    if others := sorted({path.name for path in output.iterdir() if not is_unfinished(path)} - known):
        yield f"has {', '.join(others[:3])}, which is not part of it"


def clear_model(output: Path) -> None:
    """Delete the model in `output`, and the work of trainers there, but nothing else.

    Until everything is deleted, the directory still has a model or work, which the same command can delete.
    """
    for name in [*model_files(output), MODEL]:
        (output / name).unlink(missing_ok=True)
    for name in WORK_DIRECTORIES:
        remove(output / name)
