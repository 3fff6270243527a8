"""Characters that cannot stand in tokens, written as references of HTML, as Moses writes some of them."""

JOIN, SPACE = "\uffed", "\u2581"  # marks of tokens: attached there, or apart; see spacing.py
REFERENCES = {"&": "&amp;", "|": "&#124;", "<": "&lt;", ">": "&gt;", "[": "&#91;", "]": "&#93;", " ": "&#32;"}
REFERENCES |= {JOIN: "&#65517;", SPACE: "&#9601;"}
_ESCAPED = str.maketrans(REFERENCES)
# In words that a decoder copies from text that Moses' tokenizer has escaped
_CHARACTERS = {"&apos;": "'", "&quot;": '"'} | {reference: one for one, reference in reversed(REFERENCES.items())}


def escaped(token: str) -> str:
    """The token as it stands in tokenized text."""
    return token.translate(_ESCAPED)


def unescaped(token: str) -> str:
    """The inverse of `escaped`."""
    if "&" in token:
        for reference, character in _CHARACTERS.items():
            token = token.replace(reference, character)
    return token


def shown(token: str) -> str:
    """The token as it looks in text: without marks, its references resolved."""
    return unescaped(token.strip(JOIN + SPACE))
