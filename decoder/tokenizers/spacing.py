"""Spaces between tokens: how each token attaches to its neighbours, learned from text, so that text can be restored.

A token attaches to the left, to the right, to both or to neither: this is its form. Words attach to neither. For any
other token, the usual form is the most frequent one in the text or, if the text lacks the token, the form of its
Unicode category. A token with another form gets marks: JOIN on the sides where it attaches, or SPACE before it if it
does not. Two tokens have no space between them if one of them attaches to the other. The words of a translation thus
determine its spaces: if most quotation marks are opening ones, a closing one is a different token, with a mark before
it.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from phrasebeam.decoder.tokenizers.escapes import JOIN, SPACE, escaped, unescaped
from phrasebeam.decoder.tokenizers.word_pieces import Piece


class Form(NamedTuple):
    """The sides to which a token attaches."""

    left: bool
    right: bool


APART, LEFT, RIGHT, BOTH = Form(False, False), Form(True, False), Form(False, True), Form(True, True)
FormName = Literal["apart", "left", "right", "both"]
FORMS: dict[FormName, Form] = {"apart": APART, "left": LEFT, "right": RIGHT, "both": BOTH}
OF_CATEGORIES = {  # of the first character of a token other than words; letters and vowels: scripts without spaces
    "Ps": RIGHT,
    "Pi": RIGHT,
    "Pe": LEFT,
    "Pf": LEFT,
    "Po": LEFT,
    "Lo": BOTH,
    "Mn": BOTH,
    "Mc": BOTH,
}


class Spacing:
    """The usual forms of tokens, which determine the marks of tokens and the spaces of text."""

    def __init__(self, usual: Mapping[str, Form]):
        self.usual = dict(usual)

    @classmethod
    def learn(cls, chunks: Iterable[tuple[Sequence[Piece], int]]) -> "Spacing":
        """Learn the most frequent form of each token in chunks with counts, except words and expected forms."""
        counts: dict[Piece, Counter[Form]] = {}
        for pieces, count in chunks:
            for i, piece in enumerate(pieces):
                if piece.kind != "word":
                    counts.setdefault(piece, Counter())[Form(i > 0, i + 1 < len(pieces))] += count
        best = {piece: max(forms, key=lambda form: (forms[form], form)) for piece, forms in counts.items()}
        return cls({piece.text: form for piece, form in best.items() if form != _expected(piece)})

    def form(self, piece: Piece) -> Form:
        """The usual form of a token."""
        return APART if piece.kind == "word" else self.usual.get(piece.text, _expected(piece))

    def tokens(self, pieces: Sequence[Piece], is_first: bool = False, is_last: bool = False) -> list[str]:
        """The tokens of a chunk, with marks if their forms are not the usual ones.

        At the beginning of the first chunk of a line, and at the end of the last, all forms give the same text.
        """
        if len(pieces) == 1 and pieces[0].kind == "word":
            return [escaped(pieces[0].text)]  # same result as below; most chunks are like this
        usual = [self.form(piece) for piece in pieces]
        tokens, attached = list[str](), False
        for i, (piece, form) in enumerate(zip(pieces, usual)):
            ends = i + 1 == len(pieces)
            left = i > 0 and (form.left or not attached)
            # If this one does not attach, the next one does; but a word attaches only to another word.
            right = not ends and (form.right or (pieces[i + 1].kind == "word" and piece.kind != "word"))
            if i == 0 and is_first and right == form.right:
                left = form.left
            if ends and is_last and left == form.left:
                right = form.right
            attached = right
            tokens.append(_marked(escaped(piece.text), Form(left, right), form))
        return tokens

    def read(self, token: str, piece_of: Callable[[str], Piece]) -> tuple[str, Form]:
        """The text of a token, and its form; `piece_of` makes a piece of a text without marks."""
        before = token[0] if token[0] in (JOIN, SPACE) and len(token) > 1 else ""
        after = token[-1] if token[-1] == JOIN and len(token) > 1 + len(before) else ""
        text = unescaped(token[len(before) : len(token) - len(after)])
        if before or after:
            return text, Form(before == JOIN, after == JOIN)
        return text, self.form(piece_of(text))


def _expected(piece: Piece) -> Form:
    """The usual form of a token that the text lacks."""
    return OF_CATEGORIES.get(unicodedata.category(piece.text[0]), APART) if piece.kind == "sign" else APART


def _marked(token: str, form: Form, usual: Form) -> str:
    if form == usual:
        return token
    before = JOIN if form.left else "" if form.right else SPACE
    return f"{before}{token}{JOIN if form.right else ''}"
