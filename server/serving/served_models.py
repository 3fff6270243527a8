"""The models that are served, by name: each is mapped once, and replaced when its directory has a new version."""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.status import HTTP_404_NOT_FOUND

from phrasebeam.base.errors import ConfigError, excerpt
from phrasebeam.base.progress import log
from phrasebeam.decoder.documents.file_formats import named_format
from phrasebeam.decoder.documents.term_base import TermBase, read_terms
from phrasebeam.decoder.explanation.explainer import Explainer
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.model.digests import model_files
from phrasebeam.decoder.normalization.directory import is_normalizer
from phrasebeam.decoder.tables.frequent_phrases import frequent_phrases
from phrasebeam.decoder.tables.model_files import EDITABLE, MODEL
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.lm.text.corpus import split
from phrasebeam.process.system_errors import shortage
from phrasebeam.server.serving.languages import LanguagePair

if TYPE_CHECKING:
    from phrasebeam.decoder.raw_text.preprocessing import RawText

EXAMPLES = 3  # phrases of each model to try
MODEL_NAME, NAME_RULE = r"[\w.+-]{1,100}", "expected up to 100 letters, digits and . _ + -"
State = tuple[tuple[str, int, int, int], ...]  # name, inode, size and time of change of each file


@dataclass(frozen=True)
class ServedModel:
    """One version of a model. A request keeps the version with which it began."""

    name: str
    version: str  # equal for equal models
    decoder: Decoder
    raw_text: "RawText | None"  # None: the model knows only tokenized text
    explainer: Explainer
    languages: LanguagePair | None  # the languages that an option gives, or else those of its raw text
    terms: TermBase | None = None  # whose translations are used in each request
    examples: Sequence[str] = ()  # phrases of the training text, to try the model with


class ServedModels:
    """Models by name; the first is used if a request names none."""

    def __init__(
        self,
        directories: Mapping[str, Path],
        languages: Mapping[str, LanguagePair] | None = None,
        terms: Mapping[str, Path] | None = None,
    ):
        """Open all models. `languages` and `terms` (files of term bases) are by model name; not every model needs one.

        Raises SmtError, which names the file at fault.
        """
        self.directories, self.languages, self.terms = dict(directories), dict(languages or {}), dict(terms or {})
        self._seen = {name: self._state(name) for name in self.directories}
        self._tried = dict(self._seen)
        self._models = {name: self._opened(name) for name in self.directories}

    def all(self) -> Sequence[ServedModel]:
        """The newest version of each model, in the order in which they were named."""
        return list(self._models.values())

    def get(self, name: str | None = None) -> ServedModel:
        """The newest version of the named model, or of the first one (None). Raises HTTPException (404)."""
        model = next(iter(self._models.values())) if name is None else self._models.get(name)
        if model is None:
            known = ", ".join(self._models)
            raise HTTPException(HTTP_404_NOT_FOUND, f"no model {excerpt(name)}; expected one of {known}")
        return model

    def refresh(self) -> None:
        """Open new versions of models. Called regularly, in a thread; running requests keep the versions they have.

        A changed directory is opened once two calls have found it in the same state, so not while it is written. If a
        model cannot be opened, that is logged, and the old version stays until the directory changes again. If open
        files, memory or threads were short, the next call tries again.
        """
        for name in self.directories:
            state = self._state(name)
            is_settled, self._seen[name] = state == self._seen[name], state
            if not is_settled or state == self._tried[name] or not state:
                continue
            self._tried[name] = state
            try:
                self._models[name] = self._opened(name)
                log.info("%s: version %s is served from now on", name, self._models[name].version)
            except Exception as error:
                self._tried[name] = () if shortage(error) else state
                kept = self._models[name].version
                log.warning("%s: the new version cannot be opened, %s stays: %s", name, kept, error)

    def _opened(self, name: str) -> ServedModel:
        return open_served(name, self.directories[name], self.languages.get(name), self.terms.get(name))

    def _state(self, name: str) -> State:
        return state_of(self.directories[name], self.terms.get(name))


def open_served(
    name: str, directory: Path, languages: LanguagePair | None = None, terms: Path | None = None
) -> ServedModel:
    """The model in a directory, ready to translate at once, with the term base of a file. Raises SmtError."""
    version = version_of(directory)
    decoder = Decoder.load(directory)
    raw_text, settings = None, decoder.model.description.preprocessing
    if settings is not None:
        from phrasebeam.decoder.raw_text.preprocessing import RawText

        raw_text = RawText.load(directory)
    if known := decoder.model.description.text_languages:
        languages = languages or LanguagePair(known.source_language, known.target_language)
    explainer = Explainer(decoder)
    model = decoder.model
    if len(model.source):
        given = decoder.input_of([f"{model.source.word(0)}|X" if model.has_tags else model.source.word(0)])
        decoder.nbest(given, 2)
        explainer.compare(given, explainer.explain(given).best.text)
    base = terms and read_terms(terms, *(languages or ()) if named_format(terms) == "tbx" else ())
    shown, phrases = Tokenization.of(raw_text).shown, frequent_phrases(model.tables.phrases, model.source, EXAMPLES)
    examples = [" ".join(map(shown, split(phrase))) for phrase in phrases]
    return ServedModel(name, version, decoder, raw_text, explainer, languages, base or None, examples)


def state_of(directory: Path, terms: Path | None = None) -> State:
    """A value that changes when a model directory or its terms are changed or replaced; empty if one cannot be read."""
    try:
        paths = [directory / name for name in (MODEL, *model_files(directory))] + ([terms] if terms else [])
        stats = {str(path): os.stat(path) for path in paths}
    except OSError:
        return ()
    return tuple((name, one.st_ino, one.st_size, one.st_mtime_ns) for name, one in stats.items())


def version_of(directory: Path) -> str:
    """A name for the content of a model directory, from its settings and its files' digests in model.yaml."""
    digest = hashlib.sha256()
    for name in (MODEL, *sorted(EDITABLE)):
        path = directory / name
        digest.update(f"{name}:".encode() + (path.read_bytes() if path.is_file() else b"-"))
    for name in model_files(directory):
        digest.update(f"{name}:{(directory / name).stat().st_size}".encode())
    return digest.hexdigest()[:12]


def named_directories(models: Iterable[str | Path]) -> dict[str, Path]:
    """Directories by name, from arguments NAME=DIR or DIR; a DIR without name has the name of its last part.

    Raises ConfigError.
    """
    directories: dict[str, Path] = {}
    for given in models:
        name, equals, rest = str(given).partition("=") if not Path(given).is_dir() else (str(given), "", "")
        directory = Path(rest if equals else name)
        name = name if equals else directory.absolute().name
        if is_normalizer(directory):
            raise ConfigError(f"--model {given}: a normalizer, which is not served; use translate or Normalizer")
        if name in directories:
            raise ConfigError(f"--model {given}: a second model called {name}; give it another name, NAME=DIR")
        if not re.fullmatch(MODEL_NAME, name):
            raise ConfigError(f"--model {given}: {excerpt(name)} is no name of a model, {NAME_RULE}; give NAME=DIR")
        directories[name] = directory
    if not directories:
        raise ConfigError("no model is given; give a model directory, or NAME=DIR")
    return directories
