"""Conversion of raw text to the tokenized and cased text of a model and back, with the settings of its model.yaml."""

from pathlib import Path
from typing import Protocol, runtime_checkable

from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.config import load_config
from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.input.raw_text_settings import Casing, RawTextSettings
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.decoder.raw_text.sentence_case import SentenceCase
from phrasebeam.decoder.raw_text.truecaser import Truecaser, truecaser_paths
from phrasebeam.decoder.tables.model_files import TRAIN_AGAIN
from phrasebeam.decoder.tables.model_paths import check_model_files
from phrasebeam.decoder.tokenizers.registry import TOKENIZERS, Tokenizer, open_tokenizer, tokenizer_paths

NOT_RAW = (
    "no preprocessing, so that the model knows only tokenized text; for raw text train it with train-model --raw, or "
    "import it with import-moses --source-language ... --target-language ..."
)


class Preprocessor:
    """Tokenizes and cases raw lines of one language."""

    def __init__(self, tokenizer: Tokenizer, case: SentenceCase, casing: Casing, truecaser: Truecaser | None = None):
        self._tokenizer, self._case = tokenizer, case
        self._lowercase, self._truecaser = casing == "lowercase", truecaser

    def line(self, raw: str) -> str:
        """The cased tokens of the line `raw`, joined by single spaces."""
        tokens = self._tokenizer.tokens(raw)
        if self._truecaser:
            tokens = self._truecaser.truecase(tokens)
        text = " ".join(tokens)
        return self._case.lower(text) if self._lowercase else text


@runtime_checkable
class WithText(Protocol):
    """A Translation, or another object with a text."""

    @property
    def text(self) -> str:
        """Tokens, separated by spaces."""


class RawText:
    """Raw text for a Decoder: preprocesses its input and postprocesses its output.

    `source` and `target` preprocess text of either side, such as development data.

    >>> raw_text = RawText(RawTextSettings(source_language="de", target_language="en", casing="lowercase"))
    >>> raw_text.before("Der Hund schläft.")
    'der hund schläft .'
    >>> raw_text.after("the dog sleeps .")
    'The dog sleeps.'
    """

    @checked
    def __init__(
        self,
        settings: RawTextSettings,
        truecasers: tuple[Truecaser, Truecaser] | None = None,
        tokenizers: tuple[Tokenizer, Tokenizer] | None = None,
    ):
        self.settings = settings
        source, target = truecasers or (None, None)
        of_source, of_target = tokenizers or tuple(TOKENIZERS[one.tokenizer].learn((), one) for one in settings.sides)
        cases = [SentenceCase.of(side) for side in settings.sides]
        self.source = Preprocessor(of_source, cases[0], settings.casing, source)
        self.target = Preprocessor(of_target, cases[1], settings.casing, target)
        self._target_case = cases[1]
        self._capitalizes = settings.casing != "keep" and settings.capitalize is not False
        self._target_tokenizer = of_target

    @classmethod
    @checked
    def load(cls, directory: str | Path) -> "RawText":
        """Load the RawText of the model in `directory`. Raises SmtError if the model was not trained on raw text."""
        directory = Path(directory)
        check_model_files(directory)
        settings = load_config(directory / "model.yaml", ModelDescription).preprocessing
        if settings is None:
            raise ModelError(f"{directory / 'model.yaml'}: {NOT_RAW}")
        return cls.of(settings, directory)

    @classmethod
    def of(cls, settings: RawTextSettings, directory: Path) -> "RawText":
        """The RawText with these settings; its trained tokenizers and truecasers are in `directory`."""
        source, target = map(open_tokenizer, settings.sides, tokenizer_paths(directory))
        if settings.casing != "truecase":
            return cls(settings, None, (source, target))
        paths = truecaser_paths(directory)
        for path in paths:
            if not path.exists():
                raise ModelError(f"{path}: missing; {TRAIN_AGAIN}")
        of_source, of_target = (
            Truecaser.load(path, SentenceCase.of(side)) for path, side in zip(paths, settings.sides)
        )
        return cls(settings, (of_source, of_target), (source, target))

    @checked
    def before(self, line: str) -> str:
        """Preprocess a raw line of the source language for the decoder."""
        return self.source.line(line)

    @checked
    def after(self, translation: str | WithText) -> str:
        """Turn a tokenized Translation, or its text, into a raw line, capitalized if the settings say so."""
        text = translation if isinstance(translation, str) else translation.text
        tokens = text.split()
        if self._capitalizes:
            tokens = self._target_case.capitalized(tokens)
        return self._target_tokenizer.text(tokens)

    def joined(self, text: str) -> str:
        """Like `after`, but faster: without capitals at the beginning of sentences."""
        return self._target_tokenizer.text(text.split())
