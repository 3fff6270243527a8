"""The tokenizer `neutral`, for any language: words by Unicode's boundaries; learns spaces and apostrophes from text."""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Literal

from pydantic import Field

from phrasebeam.base.config import Section, load_config, save_config
from phrasebeam.decoder.tokenizers.spacing import FORMS, Form, FormName, Spacing
from phrasebeam.decoder.tokenizers.word_pieces import EDGES, Piece, WordPieces

MOST_REMEMBERED = 1 << 17  # number of chunks and tokens, which repeat in text
LEAST = 3  # occurrences of an edge that are needed to judge it


class NeutralRules(Section):
    """The rules that the tokenizer learned, as stored in its file."""

    leading: str = Field("", description="signs that words begin with")
    trailing: str = Field("", description="signs that words end with")
    forms: dict[str, FormName] = Field({}, description="sides to which tokens attach that are no words")


class NeutralTokenizer:
    """Divides text of any language into tokens, and restores text from tokens, with single spaces and in NFC."""

    def __init__(self, spacing: Spacing, leading: str = "", trailing: str = ""):
        self.spacing, self.leading, self.trailing = spacing, leading, trailing
        self._pieces = WordPieces(leading, trailing)
        # Keys: whether chunks are the first and the last of a line
        self._of_chunk = [[_ChunkTokens(self, *at_ends) for at_ends in ((i, False), (i, True))] for i in (False, True)]
        self._read: dict[str, tuple[str, Form]] = {}

    @classmethod
    def learn(cls, lines: Iterable[str]) -> "NeutralTokenizer":
        """Train a tokenizer on text such as `lines`, which are read once."""
        counts = Counter(chunk for line in lines for chunk in WordPieces().chunks(_composed(line)))
        leading, trailing = _edges(counts)
        pieces = WordPieces(leading, trailing)
        return cls(Spacing.learn((pieces.of(chunk), count) for chunk, count in counts.items()), leading, trailing)

    @classmethod
    def load(cls, path: Path) -> "NeutralTokenizer":
        """The tokenizer in a file that `save` wrote. Raises ConfigError, naming the key."""
        rules = load_config(path, NeutralRules)
        return cls(Spacing({token: FORMS[name] for token, name in rules.forms.items()}), rules.leading, rules.trailing)

    def save(self, path: Path) -> None:
        """Write what was learned, as YAML."""
        names = {form: name for name, form in FORMS.items()}
        forms = {token: names[form] for token, form in sorted(self.spacing.usual.items())}
        save_config(NeutralRules(leading=self.leading, trailing=self.trailing, forms=forms), path)

    def tokens(self, line: str) -> list[str]:
        chunks = self._pieces.chunks(_composed(line))
        if len(chunks) < 2:
            return [token for chunk in chunks for token in self._of_chunk[True][True][chunk]]
        within = chain.from_iterable(map(self._of_chunk[False][False].__getitem__, chunks[1:-1]))
        return [*self._of_chunk[True][False][chunks[0]], *within, *self._of_chunk[False][True][chunks[-1]]]

    def text(self, tokens: Iterable[str]) -> str:
        """The text of tokens, whether they are from a line or a translation."""
        parts, attached = list[str](), True
        for token in tokens:
            text, form = self._read.get(token) or self._remembered_form(token)
            if not (attached or form.left):
                parts.append(" ")
            parts.append(text)
            attached = form.right
        return "".join(parts)

    def chunk_tokens(self, chunk: str, is_first: bool, is_last: bool) -> list[str]:
        """The tokens of a part of a line between spaces."""
        return self.spacing.tokens(self._pieces.of(chunk), is_first, is_last)

    def _remembered_form(self, token: str) -> tuple[str, Form]:
        found = self.spacing.read(token, self._piece)
        if len(self._read) < MOST_REMEMBERED:
            self._read[token] = found
        return found

    def _piece(self, text: str) -> Piece:
        """A token as a piece, with its text in the chunk."""
        pieces = self._pieces.of(text)
        return pieces[0] if len(pieces) == 1 else Piece(text, "whole")


class _ChunkTokens(dict[str, list[str]]):
    """The tokens of chunks at one kind of place in a line; many chunks are cached."""

    def __init__(self, tokenizer: NeutralTokenizer, is_first: bool, is_last: bool):
        super().__init__()
        self._tokenizer, self._place = tokenizer, (is_first, is_last)

    def __missing__(self, chunk: str) -> list[str]:
        tokens = self._tokenizer.chunk_tokens(chunk, *self._place)
        if len(self) < MOST_REMEMBERED:
            self[chunk] = tokens
        return tokens


def _composed(line: str) -> str:
    return line if unicodedata.is_normalized("NFC", line) else unicodedata.normalize("NFC", line)


def _edges(chunks: Counter[str]) -> tuple[str, str]:
    """The characters of EDGES with which words begin, and those with which they end.

    They do if words seen with such an edge are seen more often with it than without it. The apostrophe of Bribri "ye'"
    is therefore a letter, but those of English "the dogs' 'quotes'" are not.
    """
    words: Counter[str] = Counter()
    pieces = WordPieces(EDGES, EDGES)
    for chunk, count in chunks.items():
        for piece in pieces.of(chunk):
            if piece.kind == "word":
                words[piece.text] += count
    return _edges_of(words, 0), _edges_of(words, -1)


def _edges_of(words: Counter[str], side: Literal[0, -1]) -> str:
    """The characters on one side; a character that also stands on the other side is a quotation mark."""
    usual: Counter[str] = Counter()  # occurrences of an edge at words that mostly have it
    seen: Counter[str] = Counter()  # occurrences at all words that occur more than once, with or without the edge
    opposite: Counter[str] = Counter()
    for word, count in words.items():
        edge, without = word[side], words[word.strip(EDGES)]
        opposite[word[-1 - side]] += count
        if edge in EDGES and count + without > 1:
            seen[edge] += count
            usual[edge] += count if count > without else 0
    return "".join(one for one in EDGES if seen[one] >= max(LEAST, 2 * opposite[one]) and 2 * usual[one] > seen[one])
