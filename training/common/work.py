"""The work of a trainer inside the model directory that it writes; its settings and data distinguish it from others."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self

from phrasebeam.base.config import load_config
from phrasebeam.base.errors import ConfigError, SmtError
from phrasebeam.decoder.model.description import open_description
from phrasebeam.decoder.model.replacement import FORCE, clear_model, name_of
from phrasebeam.decoder.tables.model_files import MODEL, WORK_DIRECTORIES
from phrasebeam.decoder.tables.provenance import differences
from phrasebeam.training.common.checkpoint import SignedSection
from phrasebeam.training.common.kept_translations import DEVELOPMENT

FILE = "work.yaml"  # in the directory of the work


class BegunWork(SignedSection):
    """The settings and data with which the work began; to continue it, they must be the same."""

    format: Literal["phrasebeam work 1"] = "phrasebeam work 1"
    command: str
    version: str
    settings: dict[str, object]  # those that affect the work done so far
    model: dict[str, object]  # the initial model
    data: dict[str, dict[str, str]]
    begun: str = ""  # time (UTC) at which the work first began; continuing it does not change this

    def since(self, path: Path) -> Self:
        """A copy with the time at which the work began: that in the file `path`, or now if there is no file."""
        begun = load_config(path, type(self)).begun if path.exists() else ""
        return self.model_copy(update={"begun": begun or datetime.now(UTC).isoformat(" ", "seconds")})

    def differences(self, now: "BegunWork") -> str:
        """The entries in which the work `now` differs, in a few words."""
        return differences(self._flat(), now._flat())

    def _flat(self) -> dict[str, object]:
        return self.settings | self.model_dump(include={"version", "model", "data"})


def find_conflict(output: Path, directory: Path, now: BegunWork) -> str:
    """What prevents the work `now` in `directory` of the model `output`; "" if it can begin or continue."""
    if (directory / FILE).exists():
        try:
            before = load_config(directory / FILE, BegunWork)
        except SmtError as error:
            return f"a run that cannot be read ({error})"
        if before.signature == now.signature:
            return ""
        if not {path.name for path in directory.iterdir()} <= {FILE, DEVELOPMENT}:  # otherwise the work has no results
            return f"a run of {before.command}: {before.differences(now) or 'other settings'}"
    if (output / MODEL).exists():
        try:
            return name_of(open_description(output, is_verified=False))
        except SmtError as error:
            return f"a model that cannot be read ({error})"
    others = [output / name / FILE for name in WORK_DIRECTORIES if output / name != directory]
    begun = [path.parent.name for path in others if path.exists()]
    return f"an unfinished run, in {', '.join(begun)}" if begun else ""


def check_conflict(output: Path, directory: Path, now: BegunWork, is_forced: bool) -> None:
    """Raise ConfigError if a model or other work is in the way; if `is_forced`, delete that instead."""
    if problem := find_conflict(output, directory, now):
        if not is_forced:
            raise ConfigError(f"{output}: {problem}; {FORCE}")
        clear_model(output)
