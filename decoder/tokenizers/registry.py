"""The registry of tokenizers, which convert raw text of one language to tokens, and tokens to text."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.config import parse_config
from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings, SideSettings, TokenizerName, primary_language
from phrasebeam.decoder.tables.model_files import TRAIN_AGAIN
from phrasebeam.decoder.tokenizers.moses import MosesTokenizer
from phrasebeam.decoder.tokenizers.neutral import NeutralTokenizer
from phrasebeam.decoder.tokenizers.simple_tokenizers import CharacterTokenizer, WhitespaceTokenizer
from phrasebeam.decoder.tokenizers.subwords import SubwordTokenizer


@runtime_checkable
class Tokenizer(Protocol):
    """Converts text to tokens, and tokens to text."""

    def tokens(self, line: str) -> list[str]:
        """The tokens of a raw line. No token is empty or contains a space, `|`, `<`, `>`, `[` or `]`."""

    def text(self, tokens: Iterable[str]) -> str:
        """The raw text for the tokens of a text or of a translation."""


@runtime_checkable
class LearnedTokenizer(Tokenizer, Protocol):
    """A tokenizer that learned something from text."""

    def save(self, path: Path) -> None:
        """Write the learned rules."""


class TokenizerKind(NamedTuple):
    """Two ways to make a tokenizer; a tokenizer that learns nothing is made by `learn` without text."""

    learn: Callable[[Iterable[str], SideSettings], Tokenizer]  # from the training text of a side
    load: Callable[[Path], Tokenizer] | None = None  # from a file that LearnedTokenizer.save wrote


def _subwords(lines: Iterable[str], side: SideSettings) -> SubwordTokenizer:
    if side.subword_model:
        return SubwordTokenizer.load(Path(side.subword_model), "give a model of SentencePiece, or none")
    return SubwordTokenizer.learn(lines, side.subwords)


TOKENIZERS: dict[TokenizerName, TokenizerKind] = {
    "moses": TokenizerKind(
        lambda _, side: MosesTokenizer(primary_language(side.language), side.normalize, side.escape)
    ),
    "neutral": TokenizerKind(lambda lines, _: NeutralTokenizer.learn(lines), NeutralTokenizer.load),
    "characters": TokenizerKind(lambda *_: CharacterTokenizer()),
    "subwords": TokenizerKind(_subwords, SubwordTokenizer.load),
    "whitespace": TokenizerKind(lambda *_: WhitespaceTokenizer()),
}


@checked
def tokenizer(language: str, name: TokenizerName | None = None, text: Iterable[str] = ()) -> Tokenizer:
    """Make a tokenizer by name, or the default for a language (BCP 47); see Tokenizer for its methods.

    `text`: lines on which the tokenizers neutral and subwords are trained, such as the training text of that side. For
    the tokenizers of a model use RawText. Raises ConfigError.

    >>> moses = tokenizer("en")
    >>> moses.tokens("It's 5 o'clock.")
    ['It', '&apos;s', '5', 'o', '&apos;clock', '.']
    >>> moses.text(["It", "&apos;s", "late", "."])
    "It's late."
    >>> neutral = tokenizer("bzd", text=["Ye' wôqkela", "Ye' tso' wôqkela"] * 3)
    >>> neutral.tokens("Ye' wôqkela.")
    ["Ye'", 'wôqkela', '.']
    >>> tokenizer("ja", "characters").tokens("猫 です")
    ['猫', '▁', 'で', 'す']
    """
    given = {"source_language": language, "target_language": language, "source_tokenizer": name}
    side = parse_config(given, RawTextSettings, "tokenizer").sides[0]
    return TOKENIZERS[side.tokenizer].learn(text, side)


def tokenizer_paths(directory: Path) -> tuple[Path, Path]:
    """Paths of the learned rules of a model's tokenizers of source and target."""
    return directory / "tokenizer.source", directory / "tokenizer.target"


def open_tokenizer(side: SideSettings, path: Path) -> Tokenizer:
    """The tokenizer of a side of a model; `path` is its file, if it has one. Raises SmtError."""
    kind = TOKENIZERS[side.tokenizer]
    if kind.load is None:
        return kind.learn((), side)
    if not path.exists():
        raise ModelError(f"{path}: missing; {TRAIN_AGAIN}")
    return kind.load(path)


def learn_tokenizers(
    settings: RawTextSettings, texts: tuple[Iterable[str], Iterable[str]], directory: Path
) -> tuple[Path, Path]:
    """Let the tokenizers of both sides learn from their text; return the paths of their files in `directory`."""
    paths = tokenizer_paths(directory)
    for lines, side, path in zip(texts, settings.sides, paths):
        kind = TOKENIZERS[side.tokenizer]
        if kind.load is not None:
            learned = kind.learn(lines, side)
            if isinstance(learned, LearnedTokenizer):
                learned.save(path)
    return paths
