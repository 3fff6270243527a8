"""Two systems sentence by sentence: the largest gains and losses, with source, references, scores and marked words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from phrasebeam.console.html_page import Child, element, html_texts
from phrasebeam.training.metrics.evaluation import EvaluatedTexts
from phrasebeam.training.report.marked_words import marked
from phrasebeam.training.report.system_comparison import Gains, gains

OF_SENTENCES = "Sentences are compared by chrF++. After the score of a sentence follows the difference to {}."
OF_MARKS = "Marked: words that only {} has, {{}}, and words that only this system has, {{}}."


class ComparedSentences(NamedTuple):
    """Sentences of several systems; the system `first` is compared with the others."""

    texts: EvaluatedTexts
    source: Sequence[str]  # a line for each sentence; empty if it is not known
    scores: Mapping[str, Sequence[float]]  # of each sentence, by system
    first: str
    most: int  # maximum number of sentences in a list

    def gains(self, name: str) -> Gains:
        """Gains of the system `name` over the first."""
        return gains(self.scores[self.first], self.scores[name])


def compared_sentences(compared: ComparedSentences, name: str, place: str) -> Iterator[Child]:
    """The lists of gains and losses of the system `name`; links to them end with `place`."""
    found = compared.gains(name)
    counts = f"{len(found.won):,} sentences better, {len(found.lost):,} worse, {found.n_tied:,} equal."
    yield element("p", {}, counts)
    yield element("p", {"class": "soft"}, OF_SENTENCES.format(compared.first), " ", *_of_marks(compared.first))
    for kind, sentences in (("gains", found.won), ("losses", found.lost)):
        shown = sentences[: compared.most]
        yield element("h3", {"id": f"{kind}-{place}"}, f"Largest {kind}")
        yield element("p", {"class": "soft"}, f"{len(shown):,} of {len(sentences):,}")
        for one in shown:
            yield element("h4", {}, f"Line {one + 1:,}")
            yield html_texts(_texts(compared, one, found, name))


def _of_marks(first: str) -> Iterator[Child]:
    """The legend of marked words, which has the same marks."""
    before, between, after = OF_MARKS.format(first).split("{}")
    yield from (before, element("del", {}, "like this"), between, element("ins", {}, "like this"), after)


def _texts(compared: ComparedSentences, number: int, found: Gains, name: str) -> Iterator[tuple[str, str, Child]]:
    """Yield name, score and text of one sentence: in the source, in the references, and in each system."""
    if compared.source:
        yield "source", "", compared.source[number]
    references = compared.texts.references
    for i, lines in enumerate(references, 1):
        yield f"reference {i}" if len(references) > 1 else "reference", "", lines[number]
    before = compared.texts.systems[compared.first][number]
    for system, lines in compared.texts.systems.items():
        gain = f" ({found.values[number]:+.1f})" if system == name else ""
        text = marked(None if system == compared.first else before, lines[number])
        yield system, f"{compared.scores[system][number]:.1f}{gain}", text
