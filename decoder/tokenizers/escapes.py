"""Characters that are not allowed in tokens, written as HTML references; Moses writes some of them so, too."""

JOIN, SPACE = "\uffed", "\u2581"  # marks of tokens: joined or separate at this place; see spacing.py
REFERENCES = {"&": "&amp;", "|": "&#124;", "<": "&lt;", ">": "&gt;", "[": "&#91;", "]": "&#93;", " ": "&#32;"}
REFERENCES |= {JOIN: "&#65517;", SPACE: "&#9601;"}
_ESCAPED = str.maketrans(REFERENCES)
# In words that a decoder copies from text escaped by Moses' tokenizer
_CHARACTERS = {"&apos;": "'", "&quot;": '"'} | {reference: one for one, reference in reversed(REFERENCES.items())}


def escaped(token: str) -> str:
    """The token as it is written in tokenized text."""
    return token.translate(_ESCAPED)


def unescaped(token: str) -> str:
    """The inverse of `escaped`."""
    if "&" in token:
        for reference, character in _CHARACTERS.items():
            token = token.replace(reference, character)
    return token


def shown(token: str) -> str:
    """The token as it is written in text: without marks, and with references resolved."""
    return unescaped(token.strip(JOIN + SPACE))
