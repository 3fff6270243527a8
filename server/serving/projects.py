"""Projects: what people have confirmed, for each model and name a journal, and a decoder that learned it."""

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from starlette.exceptions import HTTPException

from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.adaptation.segment import Segment
from phrasebeam.decoder.adaptation.static_counts import StaticCounts
from phrasebeam.decoder.explanation.explanation import Explainer
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.server.serving.served_models import ServedModel

PROJECT_NAME = r"^[A-Za-z0-9_.+-]{1,100}$"
MOST_OPEN = 32  # projects with a decoder in memory; the one that was not used longest is closed for another
NO_PROJECTS = "this server keeps no projects; it is to be started with --projects DIR"


class OpenProject(NamedTuple):
    """A project in memory, for one version of a model."""

    version: str
    decoder: AdaptedDecoder
    explainer: Explainer


class Projects:
    """The projects in a directory, which alone has their files; any number of threads may share it."""

    def __init__(self, directory: Path | None):
        """`directory` is made when something is confirmed; None: there are no projects."""
        self.directory, self._lock = directory, threading.RLock()
        self._open = OrderedDict[tuple[str, str], OpenProject]()
        self._static = dict[str, tuple[str, StaticCounts]]()  # version and counts by model

    def of(self, served: ServedModel, project: str | None) -> ServedModel:
        """The model with a decoder that learned what the project has; the model itself where that is nothing.

        Raises HTTPException (404) where the server keeps no projects.
        """
        if project is None:
            return served
        with self._lock:
            if not self._journal(served, project).exists():
                return served
            found = self._project(served, project)
            return replace(served, decoder=found.decoder, explainer=found.explainer)

    def confirm(
        self, served: ServedModel, project: str, source: Sequence[str], translation: Sequence[str], key: str
    ) -> Segment:
        """Learn a segment, which is on disk when this returns, see AdaptedDecoder. Raises HTTPException (404)."""
        with self._lock:
            self._journal(served, project).parent.mkdir(parents=True, exist_ok=True)
            return self._project(served, project).decoder.confirm(source, translation, key)

    def undo(self, served: ServedModel, project: str, number: int) -> Segment:
        """Forget a segment. Raises HTTPException (404) where there is none."""
        with self._lock:
            if not any(segment.number == number for segment in self.segments(served, project)):
                raise HTTPException(404, f"project {project} has no segment {number}, or it was undone")
            return self._project(served, project).decoder.undo(number)

    def segments(self, served: ServedModel, project: str) -> Sequence[Segment]:
        """All segments of a project that are not undone. Raises HTTPException (404) where there are no projects."""
        with self._lock:
            has_some = self._journal(served, project).exists()
            return self._project(served, project).decoder.segments if has_some else ()

    def close(self) -> None:
        """Close all journals."""
        with self._lock:
            while self._open:
                self._open.popitem()[1].decoder.close()

    def _journal(self, served: ServedModel, project: str) -> Path:
        """The file of a project, whose name has been checked, since it comes from a request."""
        if self.directory is None:
            raise HTTPException(404, NO_PROJECTS)
        if not re.fullmatch(PROJECT_NAME, project):
            raise HTTPException(422, "a project is named by up to 100 letters, digits and . _ + -")
        return self.directory / served.name / f"{project}.journal"

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
        known, model = served.decoder, served.decoder.model
        version, static = self._static.get(served.name, ("", None))
        if static is None or version != served.version:
            static = StaticCounts(model, AdaptationSettings().prior_count)
            self._static[served.name] = served.version, static
        reading, journal = known.searcher.input_settings, self._journal(served, project)
        decoder = AdaptedDecoder(model, known.search_settings, None, reading, None, journal, static)
        decoder.request = known.request
        return decoder
