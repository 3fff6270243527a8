"""The tokenizer `subwords`: pieces of words by SentencePiece (Kudo 2018; Sennrich et al. 2016), trained on the text."""

import io
import unicodedata
from collections.abc import Iterable
from typing import Literal

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.raw_text.escapes import REFERENCES, SPACE, unescaped

SubwordKind = Literal["unigram", "bpe"]
MISSING = "the tokenizer subwords needs SentencePiece, which is not installed; pip install 'phrasebeam[subwords]'"
_ESCAPED = str.maketrans({one: reference for one, reference in REFERENCES.items() if one != " "})


class SubwordTokenizer:
    """Divides text as a model of SentencePiece says, whose file `model` is given."""

    def __init__(self, model: bytes):
        try:
            from sentencepiece import SentencePieceProcessor  # an extra
        except ImportError as error:
            raise ConfigError(MISSING) from error
        self.model = model
        self._processor = SentencePieceProcessor(model_proto=model)

    @classmethod
    def learn(cls, lines: Iterable[str], n_pieces: int, kind: SubwordKind = "unigram") -> "SubwordTokenizer":
        """Train on `lines`, for up to `n_pieces` pieces; fewer where the text has no more."""
        try:
            import sentencepiece
        except ImportError as error:
            raise ConfigError(MISSING) from error
        written = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(_prepared(line) for line in lines),
            model_writer=written,
            vocab_size=n_pieces,
            model_type=kind,
            hard_vocab_limit=False,
            character_coverage=1.0,
            normalization_rule_name="identity",
            num_threads=1,
            minloglevel=2,
        )
        return cls(written.getvalue())

    def tokens(self, line: str) -> list[str]:
        """The tokens of a line."""
        tokens: list[str] = self._processor.encode(_prepared(line), out_type=str)
        return tokens

    def text(self, tokens: Iterable[str]) -> str:
        """The text of tokens."""
        return unescaped("".join(tokens).replace(SPACE, " ")).strip(" ")


def _prepared(line: str) -> str:
    return " ".join(unicodedata.normalize("NFC", line).split()).translate(_ESCAPED)
