"""Translation memories of tools, such as OmegaT's project memory, from which projects learn whenever they are saved."""

import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from starlette.exceptions import HTTPException

from phrasebeam.base.errors import ConfigError, SmtError, excerpt
from phrasebeam.base.progress import log
from phrasebeam.decoder.documents.file_formats import format_name
from phrasebeam.decoder.documents.sentence_pairs import FORMATS
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.translation_memory.memory_files import memory_pairs, segment_words
from phrasebeam.decoder.translation_memory.segment import NewSegment, Segment
from phrasebeam.server.serving.projects import NAME_RULE, PROJECT_NAME, Projects
from phrasebeam.server.serving.served_models import ServedModel, ServedModels

AT_ONCE = 16  # segments that are learned while requests wait
EXPECTED = "expected PROJECT=FILE, or MODEL/PROJECT=FILE"
KEY = "memory {source} {translation}"  # of a segment, from checksums of both texts
State = tuple[int, int, int]  # inode, size and time of change of a file


class WatchedFile(NamedTuple):
    """A translation memory of a tool, and the project that learns from it."""

    model: str
    project: str
    path: Path


class KeptProjects(NamedTuple):
    """The directory of projects, and the translation memories that they use or learn from."""

    directory: Path | None
    memories: Mapping[str, Sequence[Path]] = {}  # translation memories by model, see Projects
    watched: Sequence[WatchedFile] = ()


def watched_file(given: str, models: Collection[str]) -> WatchedFile:
    """The value of --watch; without a model's name it is for the first model. Raises ConfigError."""
    name, equals, path = given.partition("=")
    model, slash, project = name.rpartition("/")
    if not (equals and path and re.fullmatch(PROJECT_NAME, project)):
        raise ConfigError(f"--watch {excerpt(given)}: {EXPECTED}; a project is named by {NAME_RULE}")
    if slash and model not in models:
        raise ConfigError(f"--watch {excerpt(given)}: no model {excerpt(model)}, expected one of {', '.join(models)}")
    format_name(path, FORMATS)
    return WatchedFile(model or next(iter(models)), project, Path(path))


class WatchedMemories:
    """Learns from files that other programs write. `look` is called repeatedly, by one thread at a time."""

    def __init__(self, files: Iterable[WatchedFile], models: ServedModels, projects: Projects):
        self._files, self._models, self._projects = list(files), models, projects
        self._seen, self._learned = dict[WatchedFile, State | None](), dict[WatchedFile, State]()

    def look(self) -> None:
        """Learn from each file that has changed and was the same in two calls, so that none is read half written.

        Pairs that are no longer in a file stay learned. If a source has another translation now, the new one counts
        from now on. Files that cannot be read are logged, and read again when they change.
        """
        for file in self._files:
            state = _state(file.path)
            is_settled, self._seen[file] = state == self._seen.get(file), state
            if state is None or not is_settled or state == self._learned.get(file):
                continue
            self._learned[file] = state
            try:
                n_learned = self._learn(file)
            except (SmtError, OSError, HTTPException) as error:
                log.warning("%s: nothing is learned from it now: %s", file.path, getattr(error, "detail", error))
                continue
            if n_learned:
                log.info("%s: project %s has learned %d segments from it", file.path, file.project, n_learned)

    def _learn(self, file: WatchedFile) -> int:
        """Confirm the pairs of a file that the project does not have; return their number."""
        served = self._models.get(file.model)
        known = {
            one.key.split()[1]: one
            for one in self._projects.segments(served, file.project)
            if one.key.startswith("memory ")
        }
        new, replaced = list[NewSegment](), list[Segment]()
        for pair in _new_segments(file, served):
            before = known.get(pair.key.split()[1])
            if before is None or before.key != pair.key:
                new.append(pair)
                replaced += [before] if before else []
        for first in range(0, len(new), AT_ONCE):
            self._projects.confirm_all(served, file.project, new[first : first + AT_ONCE])
        for segment in replaced:  # the old translation is removed only when the new one is on disk
            self._projects.undo(served, file.project, segment.number)
        return len(new)


def _new_segments(file: WatchedFile, served: ServedModel) -> Iterator[NewSegment]:
    """The tokenized pairs of a file, without those that are too long; for each source the last pair."""
    languages, tokenization = served.languages, Tokenization.of(served.raw_text)
    codes = (languages.source, languages.target) if languages else (None, None)
    texts = {pair.source: pair.target for pair in memory_pairs(file.path, *codes)}
    for source, translation in texts.items():
        if sides := segment_words(source, translation, tokenization):
            yield NewSegment(*sides, KEY.format(source=_checksum(source), translation=_checksum(translation)))


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode('utf-8')):08x}{zlib.adler32(text.encode('utf-8')):08x}"


def _state(path: Path) -> State | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
