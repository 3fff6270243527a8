"""Conversion of raw text to the tokenized and cased text of a model and back, with the settings of its model.yaml."""

from pathlib import Path
from typing import Protocol, runtime_checkable

from sacremoses import MosesDetruecaser

from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.config import load_config
from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.decoder.raw_text.tokenizer import Detokenizer, Tokenizer
from phrasebeam.decoder.raw_text.truecaser import Truecaser, truecaser_paths
from phrasebeam.decoder.tables.model_files import TRAIN_AGAIN
from phrasebeam.decoder.tables.model_paths import check_model_files

NOT_RAW = (
    "no preprocessing, so that the model knows tokenized text alone; for raw text train it with train-model --raw, or "
    "import it with import-moses --source-language ... --target-language ..."
)


class Preprocessor:
    """Tokenizes and cases raw lines of one language."""

    def __init__(self, language: str, settings: RawTextSettings, truecaser: Truecaser | None = None):
        self._tokenizer = Tokenizer(language, settings.normalize, settings.escape)
        self._lowercase, self._truecaser = settings.casing == "lowercase", truecaser

    def line(self, raw: str) -> str:
        """The cased tokens of the line `raw`, joined by single spaces."""
        tokens = self._tokenizer.tokens(raw)
        if self._truecaser:
            tokens = self._truecaser.truecase(tokens)
        text = " ".join(tokens)
        return text.lower() if self._lowercase else text


@runtime_checkable
class WithText(Protocol):
    """A Translation, or what else has a text."""

    @property
    def text(self) -> str:
        """Tokens, with spaces between them."""


class RawText:
    """Raw text for a Decoder: preprocessing of its input and postprocessing of its output.

    `source` and `target` preprocess text of either side, such as text to tune on.

    >>> raw_text = RawText(RawTextSettings(source_language="de", target_language="en", casing="lowercase"))
    >>> raw_text.before("Der Hund schläft.")
    'der hund schläft .'
    >>> raw_text.after("the dog sleeps .")
    'The dog sleeps.'
    """

    @checked
    def __init__(self, settings: RawTextSettings, truecasers: tuple[Truecaser, Truecaser] | None = None):
        source, target = truecasers or (None, None)
        self.source = Preprocessor(settings.source_language, settings, source)
        self.target = Preprocessor(settings.target_language, settings, target)
        self._detruecaser = None if settings.casing == "keep" else MosesDetruecaser()
        self._detokenizer = Detokenizer(settings.target_language, settings.escape)

    @classmethod
    @checked
    def load(cls, directory: str | Path) -> "RawText":
        """The RawText of the model in `directory`. Raises SmtError if the model was not made of raw text."""
        directory = Path(directory)
        check_model_files(directory)
        settings = load_config(directory / "model.yaml", ModelDescription).preprocessing
        if settings is None:
            raise ModelError(f"{directory / 'model.yaml'}: {NOT_RAW}")
        if settings.casing != "truecase":
            return cls(settings)
        paths = truecaser_paths(directory)
        for path in paths:
            if not path.exists():
                raise ModelError(f"{path}: missing; {TRAIN_AGAIN}")
        return cls(settings, (Truecaser.load(paths[0]), Truecaser.load(paths[1])))

    @checked
    def before(self, line: str) -> str:
        """A raw line of the source language as the decoder takes it."""
        return self.source.line(line)

    @checked
    def after(self, translation: str | WithText) -> str:
        """A tokenized Translation, or its text, as a raw line, with a capital letter at the beginning of sentences."""
        text = translation if isinstance(translation, str) else translation.text
        tokens = self._detruecaser.detruecase(text) if self._detruecaser else text.split()
        return self._detokenizer.line(tokens)
