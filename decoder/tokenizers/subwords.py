"""The tokenizer `subwords`: pieces of words by SentencePiece (Kudo 2018; Sennrich et al. 2016), trained on the text."""

import io
import unicodedata
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.input.raw_text_settings import SubwordSettings
from phrasebeam.decoder.tables.model_files import TRAIN_AGAIN
from phrasebeam.decoder.tokenizers.escapes import REFERENCES, SPACE, unescaped

_ESCAPED = str.maketrans({one: reference for one, reference in REFERENCES.items() if one != " "})


class SubwordTokenizer:
    """Divides text with a SentencePiece model, given as the content `model` of its file."""

    def __init__(self, model: bytes):
        from sentencepiece import SentencePieceProcessor  # slow, and most models do without

        self.model = model
        self._processor = SentencePieceProcessor(model_proto=model)
        if not self._processor.get_piece_size():
            raise RuntimeError("no pieces")

    @classmethod
    def load(cls, path: Path, remedy: str = TRAIN_AGAIN) -> "SubwordTokenizer":
        """The tokenizer in a file of SentencePiece. Raises FormatError, with advice to the user, or OSError."""
        try:
            return cls(path.read_bytes())
        except RuntimeError as error:
            raise FormatError(path, f"not a SentencePiece model ({error}); {remedy}") from None

    def save(self, path: Path) -> None:
        """Write the model in SentencePiece's format."""
        with atomic_file(path) as file:
            file.write(self.model)

    @classmethod
    def learn(cls, lines: Iterable[str], settings: SubwordSettings) -> "SubwordTokenizer":
        """Train on `lines`."""
        from sentencepiece import SentencePieceTrainer

        texts = iter(filter(None, map(_prepared, lines)))
        first = next(texts, None)
        if first is None:
            raise ConfigError("the tokenizer subwords learns from text, and there is none; give its training text")
        written = io.BytesIO()
        SentencePieceTrainer.train(
            sentence_iterator=chain([first], texts),
            model_writer=written,
            vocab_size=settings.pieces,
            model_type=settings.kind,
            hard_vocab_limit=False,
            character_coverage=1.0,
            normalization_rule_name="identity",
            num_threads=1,
            minloglevel=2,
        )
        return cls(written.getvalue())

    def tokens(self, line: str) -> list[str]:
        tokens: list[str] = self._processor.encode(_prepared(line), out_type=str)
        return tokens

    def text(self, tokens: Iterable[str]) -> str:
        return unescaped("".join(tokens).replace(SPACE, " ")).strip(" ")


def _prepared(line: str) -> str:
    return " ".join(unicodedata.normalize("NFC", line).split()).translate(_ESCAPED)
