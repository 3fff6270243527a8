"""The typing that a translator would need: word strokes, key strokes and mouse actions against a reference.

As in Barrachina et al. (2009, section 5): the system proposes a translation; the user goes to the first wrong place
(a mouse action, unless the cursor is there) and types the right text; the system completes what was typed.
"""

from typing import NamedTuple

from phrasebeam.decoder.translate.translator import Decoder


class Strokes(NamedTuple):
    """Counts, summed over sentences."""

    words: int = 0  # of the references
    characters: int = 0  # of the references, spaces between words included
    word_strokes: int = 0  # words typed if the user types whole words
    key_strokes: int = 0  # characters typed if the user types single characters
    mouse_actions: int = 0  # while typing single characters, including one to confirm each sentence

    def __add__(self, other: "Strokes") -> "Strokes":  # type: ignore[override]
        return Strokes(*(one + two for one, two in zip(self, other)))

    @property
    def shares(self) -> tuple[float, float, float]:
        """Word-stroke ratio, key-stroke ratio and mouse-action ratio, in per cent."""
        return (
            100 * self.word_strokes / max(self.words, 1),
            100 * self.key_strokes / max(self.characters, 1),
            100 * self.mouse_actions / max(self.characters, 1),
        )


def strokes(decoder: Decoder, source: str, reference: str, proposal: str) -> Strokes:
    """The strokes that turn the first `proposal` for a sentence into `reference`."""
    keys, actions = _key_strokes(decoder, source, reference, proposal)
    return Strokes(
        len(reference.split()), len(reference), _word_strokes(decoder, source, reference, proposal), keys, actions
    )


def _word_strokes(decoder: Decoder, source: str, reference: str, proposal: str) -> int:
    words, typed = reference.split(), 0
    found = proposal.split()
    while found != words:
        n = next((i for i, (one, other) in enumerate(zip(found, words)) if one != other), min(len(found), len(words)))
        typed += 1  # the right word, or the sign that the sentence ends here
        if n == len(words):
            break
        found = decoder.complete(source, " ".join(words[: n + 1]) + " ").text.split()
    return typed


def _key_strokes(decoder: Decoder, source: str, reference: str, proposal: str) -> tuple[int, int]:
    keys, actions, cursor, found = 0, 1, 0, proposal
    while found != reference:
        n = next((i for i, (one, other) in enumerate(zip(found, reference)) if one != other), None)
        n = min(len(found), len(reference)) if n is None else n
        actions += n != cursor
        keys += 1
        cursor = n + 1
        if n == len(reference):
            break
        found = decoder.complete(source, reference[:cursor], partial_word=True).text
        if not found.startswith(reference[:cursor]):  # a space typed at the end is missing in the completion
            found = reference[:cursor]
    return keys, actions
