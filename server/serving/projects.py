"""Projects: for each model and project name a journal of confirmed translations, and a decoder that learned them."""

import re
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from starlette.exceptions import HTTPException

from phrasebeam.base.errors import ConfigError, FormatError, excerpt
from phrasebeam.base.progress import log
from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.adaptation.journal import ChangedJournalError, OpenJournalError
from phrasebeam.decoder.adaptation.static_counts import StaticCounts
from phrasebeam.decoder.explanation.explainer import Explainer
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.decoder.translation_memory.memory_files import MemoryFile, read_memory
from phrasebeam.decoder.translation_memory.segment import NewSegment, Segment
from phrasebeam.server.serving.languages import LanguagePair
from phrasebeam.server.serving.served_models import ServedModel

PROJECT_NAME = r"^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}$"
NAME_RULE = "up to 100 letters, digits and . _ + -, beginning with a letter, a digit or _"
MOST_OPEN = 32  # projects with a decoder in memory; the least recently used one is closed for another
CHANGED = "was removed, replaced or cut by another program; it was read again, repeat the request"
NO_PROJECTS = "this server keeps no projects; it is to be started with --projects DIR"


class OpenProject(NamedTuple):
    """A project in memory, for one version of a model."""

    version: str
    decoder: AdaptedDecoder
    explainer: Explainer


class Projects:
    """The projects in a directory that no other process uses; any number of threads may share this object."""

    def __init__(self, directory: Path | None, memories: Mapping[str, Sequence[Path]] | None = None):
        """`directory` is created when a segment is first confirmed; None: there are no projects.

        `memories`: files of translation memories, by model; all projects of the model find segments in them.
        """
        self.directory, self._memories, self._lock = directory, memories or {}, threading.RLock()
        self._files = dict[str, tuple[str, list[MemoryFile]]]()  # version and memories by model
        self._open = OrderedDict[tuple[str, str], OpenProject]()
        self._static = dict[str, tuple[str, StaticCounts]]()  # version and counts by model
        for path in sorted(directory.glob("*/*.journal")) if directory else ():
            if not re.fullmatch(PROJECT_NAME, path.stem):
                log.warning("%s: cannot be used, rename it: a project is named by %s", path, NAME_RULE)

    def names(self, served: ServedModel) -> Sequence[str]:
        """The projects of a model that have a journal, the most recently changed first."""
        folder = self.directory / served.name if self.directory else None
        found = [(path.stat().st_mtime, path.stem) for path in folder.glob("*.journal")] if folder else []
        return [name for _, name in sorted(found, reverse=True) if re.fullmatch(PROJECT_NAME, name)]

    def of(self, served: ServedModel, project: str | None) -> ServedModel:
        """The model with a decoder that has learned from the project; the model itself if the project is empty.

        Raises HTTPException: 404 if the server keeps no projects, and what `_using` raises.
        """
        if project is None:
            return served
        with self._using(served, project) as journal:
            has_memory = bool(self._memories.get(served.name))
            if has_memory:
                journal.parent.mkdir(parents=True, exist_ok=True)
            found = self._current(served, project) if has_memory or journal.exists() else None
            return replace(served, decoder=found.decoder, explainer=found.explainer) if found else served

    def confirm(
        self, served: ServedModel, project: str, source: Sequence[str], translation: Sequence[str], key: str
    ) -> Segment:
        """Learn a segment; it is on disk when this returns, see AdaptedDecoder. Raises HTTPException as `of`."""
        with self._using(served, project) as journal:
            journal.parent.mkdir(parents=True, exist_ok=True)
            return self._project(served, project).decoder.confirm(source, translation, key)

    def confirm_all(self, served: ServedModel, project: str, segments: Iterable[NewSegment]) -> list[Segment]:
        """Learn several segments, see AdaptedDecoder.confirm_all. Raises HTTPException as `of`."""
        with self._using(served, project) as journal:
            journal.parent.mkdir(parents=True, exist_ok=True)
            return self._project(served, project).decoder.confirm_all(segments)

    def undo(self, served: ServedModel, project: str, number: int) -> Segment:
        """Forget a segment. Raises HTTPException like `of`, and if there is no such segment."""
        with self._using(served, project) as journal:
            missing = HTTPException(404, f"project {project} has no segment {number}, or it was undone")
            if not journal.exists():
                raise missing
            decoder = self._project(served, project).decoder
            try:
                return decoder.undo(number)
            except OpenJournalError:
                raise
            except ConfigError:
                raise missing from None

    def segments(self, served: ServedModel, project: str) -> Sequence[Segment]:
        """All segments of a project that are not undone. Raises HTTPException as `of`."""
        with self._using(served, project) as journal:
            return self._current(served, project).decoder.segments if journal.exists() else ()

    def close(self) -> None:
        with self._lock:
            while self._open:
                self._open.popitem()[1].decoder.close()

    @contextmanager
    def _using(self, served: ServedModel, project: str) -> Iterator[Path]:
        """Hold the lock while the journal of the project is used; errors do not show paths of the server.

        Raises HTTPException: 409 if another process has the journal open, 503 if it cannot be used as it is, or if
        another program has changed it.
        """
        journal = self._journal(served, project)
        with self._lock:
            try:
                yield journal
            except OpenJournalError:
                raise HTTPException(409, f"project {project} is open in another process") from None
            except ChangedJournalError as error:
                log.warning("%s", error)
                raise HTTPException(503, f"the journal of project {project} {CHANGED}") from None
            except (FormatError, OSError) as error:
                if isinstance(error, FormatError) and Path(error.path) != journal:
                    raise
                log.error("%s", error)
                problem = str(error.strerror) if isinstance(error, OSError) else error.without_path()
                raise HTTPException(503, f"the journal of project {project} cannot be used: {problem}") from None

    def _journal(self, served: ServedModel, project: str) -> Path:
        """The journal of a project. The name is checked here, since it comes from a request."""
        if self.directory is None:
            raise HTTPException(404, NO_PROJECTS)
        if not re.fullmatch(PROJECT_NAME, project):
            raise HTTPException(422, f"a project is named by {NAME_RULE}")
        return self.directory / served.name / f"{project}.journal"

    def _current(self, served: ServedModel, project: str) -> OpenProject:
        """The project with the present content of its journal, for requests that only read."""
        found = self._project(served, project)
        found.decoder.memory.follow_journal()
        return found

    def _project(self, served: ServedModel, project: str) -> OpenProject:
        name = served.name, project
        found = self._open.get(name)
        if found is None or found.version != served.version:
            if found:
                self._open.pop(name).decoder.close()
            while len(self._open) >= MOST_OPEN:
                self._open.popitem(last=False)[1].decoder.close()
            decoder = self._opened(served, project)
            found = self._open[name] = OpenProject(served.version, decoder, Explainer(decoder))
        self._open.move_to_end(name)
        return found

    def _opened(self, served: ServedModel, project: str) -> AdaptedDecoder:
        version, static = self._static.get(served.name, ("", None))
        if static is None or version != served.version:
            static = StaticCounts(served.decoder.model, AdaptationSettings().prior_count)
            self._static[served.name] = served.version, static
        journal, files = self._journal(served, project), self.memory_files(served)
        return AdaptedDecoder.of(served.decoder, journal, static, files)

    def memory_files(self, served: ServedModel) -> list[MemoryFile]:
        """The translation memories of a model, read when they are first needed. Raises SmtError or OSError."""
        version, files = self._files.get(served.name, ("", []))
        if version != served.version:
            languages, tokenization = served.languages or LanguagePair("", ""), Tokenization.of(served.raw_text)
            files = [read_memory(path, *languages, tokenization) for path in self._memories.get(served.name, ())]
            self._files[served.name] = served.version, files
        return files


def named_files(option: str, given: Iterable[str], models: Collection[str]) -> dict[str, list[Path]]:
    """Files by the name of the model, from the values of `option`: FILE, for the first model, or MODEL=FILE.

    Raises ConfigError.
    """
    found: dict[str, list[Path]] = {}
    for one in given:
        name, equals, path = one.partition("=")
        if not equals or Path(one).is_file():
            name, path = next(iter(models)), one
        if name not in models:
            raise ConfigError(f"{option} {one}: no model {excerpt(name)}, expected one of {', '.join(models)}")
        found.setdefault(name, []).append(Path(path))
    return found


def checked_project(name: str | None, are_kept: bool) -> str | None:
    """The project that --project names. Raises ConfigError if the name is not valid, or no projects are kept."""
    if name is not None and not are_kept:
        raise ConfigError(f"--project {name}: needs a place for what is learned; give --projects DIR, too")
    if name is not None and not re.fullmatch(PROJECT_NAME, name):
        raise ConfigError(f"--project {name}: a project is named by {NAME_RULE}")
    return name
