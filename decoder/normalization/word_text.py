"""Text with a word or a sentence per line, and the forms of its words in the same layout."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from phrasebeam.decoder.normalization.normalizer import NormalizedWord
from phrasebeam.decoder.output.rendering import SEPARATOR

INNER_SPACE = "\N{NO-BREAK SPACE}"  # replaces a space within a form, since spaces separate words


class WordText(NamedTuple):
    """The words of a text by sentence, and the layout of the text."""

    sentences: list[list[str]]
    has_word_lines: bool  # one word per line and an empty line after each sentence; otherwise one sentence per line
    line_sizes: list[int]  # number of words in each line

    @classmethod
    def of(cls, lines: Sequence[str]) -> "WordText":
        """The words of lines; if no line has more than one, each line is a word."""
        words = [line.split() for line in lines]
        sizes = list(map(len, words))
        if max(sizes, default=0) > 1:
            return cls(words, False, sizes)
        sentences: list[list[str]] = [[]]
        for line in words:
            if line:
                sentences[-1] += line
            else:
                sentences.append([])
        return cls(sentences, True, sizes)

    def lines(self, forms: Sequence[Sequence[NormalizedWord]], with_confidence: bool) -> Iterator[str]:
        """The forms of all words, in the same lines as were read; each followed by its confidence if requested."""
        if self.has_word_lines:
            words = (word for sentence in forms for word in sentence)
            for size in self.line_sizes:
                yield _word_line(next(words), with_confidence) if size else ""
            return
        for sentence in forms:
            text = " ".join(word.form.replace(" ", INNER_SPACE) for word in sentence)
            shown = SEPARATOR + " ".join(f"{word.confidence:.4f}" for word in sentence)
            yield text + shown if with_confidence and sentence else text


def _word_line(word: NormalizedWord, with_confidence: bool) -> str:
    return f"{word.form}\t{word.confidence:.4f}" if with_confidence else word.form
