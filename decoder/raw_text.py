"""Raw text into a model's tokenized text and back: Moses' normalization, tokenizer and truecaser, by sacremoses."""

import re
from pathlib import Path

from sacremoses import MosesDetokenizer, MosesDetruecaser, MosesPunctNormalizer, MosesTokenizer

from decoder.config import ModelDescription, Preprocessing
from decoder.phrase_table import TRAIN_AGAIN
from decoder.truecaser import Truecaser, truecaser_paths
from lm.config import load_config
from lm.errors import ModelError

# Kept in one piece, and so copied: addresses of the web (without punctuation that follows) and of mail.
ADDRESSES = [r"(?:(?:https?|ftp)://|www\.)\S*[\w/=&#%+~-]", r"(?<![\w.-])[\w.-]+@(?:[\w-]+\.)+[a-z]{2,}"]
HAS_ADDRESS = re.compile("://|www\\.|@", re.IGNORECASE)

NOT_RAW = (
    "no preprocessing, so that the model knows tokenized text alone; for raw text train it with train-model --raw, or "
    "import it with import-moses --source-language ... --target-language ..."
)


class Tokenizer:
    """Raw lines of one language into tokens; any number of threads may share one."""

    def __init__(self, language: str, normalize: bool = True, escape: bool = True):
        self.escape = escape
        self._normalizer = MosesPunctNormalizer(language) if normalize else None
        self._tokenizer = MosesTokenizer(language)

    def tokens(self, line: str) -> list[str]:
        """Without white space of any kind and control characters; with `escape`, also without & | < > ' " [ ]."""
        if self._normalizer:
            line = self._normalizer.normalize(line)
        protected = ADDRESSES if _has_addresses(line) else None
        tokens: list[str] = self._tokenizer.tokenize(line, escape=self.escape, protected_patterns=protected)
        return tokens


def _has_addresses(line: str) -> bool:
    """Whether there are addresses, and no more than sacremoses protects."""
    if not HAS_ADDRESS.search(line):
        return False
    n_found = sum(len(re.findall(pattern, line, re.IGNORECASE)) for pattern in ADDRESSES)
    return 0 < n_found <= MosesTokenizer.MAX_PROTECTED_TOKENS


class Detokenizer:
    """Tokens of one language into raw lines."""

    def __init__(self, language: str, unescape: bool = True):
        self.unescape = unescape
        self._detokenizer, self._plain = MosesDetokenizer(language), MosesDetokenizer("en")

    def line(self, tokens: list[str]) -> str:
        """The text of `tokens`, spaced as its language has it."""
        try:
            text: str = self._detokenizer.detokenize(tokens, unescape=self.unescape)
        except TypeError:  # in sacremoses 0.2, from Czech "x' - li"
            text = self._plain.detokenize(tokens, unescape=self.unescape)
        return text


class Preprocessor:
    """Raw lines of one language into lines as a model knows them."""

    def __init__(self, language: str, settings: Preprocessing, truecaser: Truecaser | None = None):
        self._tokenizer = Tokenizer(language, settings.normalize, settings.escape)
        self._lowercase, self._truecaser = settings.casing == "lowercase", truecaser

    def line(self, raw: str) -> str:
        """Tokens, cased, with a space between them."""
        tokens = self._tokenizer.tokens(raw)
        if self._truecaser:
            tokens = self._truecaser.truecase(tokens)
        text = " ".join(tokens)
        return text.lower() if self._lowercase else text


class RawText:
    """What goes before and after a Decoder for those who have raw text.

    decoder.translate(raw_text.before("Der Hund schläft.")).text is tokenized; raw_text.after makes it raw. `source`
    and `target` preprocess text of either side, such as that to tune on.
    """

    def __init__(self, settings: Preprocessing, truecasers: tuple[Truecaser, Truecaser] | None = None):
        source, target = truecasers or (None, None)
        self.source = Preprocessor(settings.source_language, settings, source)
        self.target = Preprocessor(settings.target_language, settings, target)
        self._detruecaser = None if settings.casing == "keep" else MosesDetruecaser()
        self._detokenizer = Detokenizer(settings.target_language, settings.escape)

    @classmethod
    def load(cls, directory: str | Path) -> "RawText":
        """That of the model in `directory`. Raises SmtError if the model was not made of raw text."""
        directory = Path(directory)
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

    def before(self, line: str) -> str:
        """A raw line of the source language as the decoder takes it."""
        return self.source.line(line)

    def after(self, text: str) -> str:
        """A tokenized translation as a raw line, its sentences with a capital."""
        tokens = self._detruecaser.detruecase(text) if self._detruecaser else text.split()
        return self._detokenizer.line(tokens)
