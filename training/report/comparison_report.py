"""The report of several systems: a page with their scores, and the sentences that each gains and loses most.

As MT-ComparEval (Klejch et al. 2015) and compare-mt (Neubig et al. 2019) show them.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from phrasebeam.console.html_page import Child, element, html_list, html_page, html_table, html_texts
from phrasebeam.training.metrics.evaluation import EvaluatedTexts, Evaluation
from phrasebeam.training.report.marked_words import marked
from phrasebeam.training.report.system_comparison import Gains, gains, length_ratios, sentence_scores

OF_P = "p: how likely a difference to the first system of this size is by chance, by a paired {} test; *: below 0.05."
OF_LENGTH = "length: number of words, divided by that of the reference, of several the closest."
OF_SENTENCES = (
    "Sentences are compared by chrF++. Beside the score of a sentence stands the difference to the first system."
)
OF_MARKS = "Marked: words that the first system has and this one has not, {}, and words that only this one has, {}."


class ComparedTexts(NamedTuple):
    """What the page of a comparison shows, besides its scores."""

    texts: EvaluatedTexts
    source: Sequence[str] | None  # a line for each sentence
    command: str  # that makes the page
    most: int  # sentences of a list


def comparison_report(compared: ComparedTexts, evaluation: Evaluation) -> bytes:
    """The page of two systems or more, whose `evaluation` has a paired test."""
    scores = sentence_scores(compared.texts, evaluation.options)
    first, *others = scores
    parts = [part for n, name in enumerate(others, 1) for part in _pair(compared, scores, n, first, name)]
    told = f"{time.strftime('%Y-%m-%d %H:%M')}, {len(scores[first]):,} sentences"
    beginning: list[Child] = [
        element("p", {"class": "soft"}, told),
        element("pre", {}, compared.command),
        _contents(others),
        element("h2", {"id": "scores"}, "Scores"),
        html_table(score_rows(evaluation, length_ratios(compared.texts, evaluation.options))),
        element("p", {"class": "soft"}, f"{OF_P.format(evaluation.options.paired)} {OF_LENGTH}"),
        html_list(f"{name}|{signature}" for name, signature in evaluation.signatures.items()),
    ]
    return html_page(f"{first} compared with {', '.join(others)}", [*beginning, *parts])


def _contents(others: Sequence[str]) -> Element:
    """Links to the parts of the page."""
    places = [("scores", "Scores")]
    for number, name in enumerate(others, 1):
        places += [(f"system-{number}", name), (f"gains-{number}", f"{name}: gains")]
        places += [(f"losses-{number}", f"{name}: losses")]
    links = (element("li", {}, element("a", {"href": f"#{place}"}, text)) for place, text in places)
    return element("nav", {}, element("ul", {}, *links))


def score_rows(evaluation: Evaluation, ratios: Sequence[float]) -> list[list[str]]:
    """The table of systems: each metric with its p, and the ratio of lengths."""
    header = [title for name in evaluation.results for title in (name, "p")]
    rows = [["system", *header, "length"]]
    for i, system in enumerate(evaluation.systems):
        cells: list[str] = []
        for results in evaluation.results.values():
            p = results[i].p_value
            cells += [f"{results[i].score:.1f}", "" if p is None else f"{p:.4f}{'*' if p < 0.05 else ''}"]
        rows.append([system, *cells, f"{ratios[i]:.3f}"])
    return rows


def _pair(
    compared: ComparedTexts, scores: Mapping[str, Sequence[float]], number: int, first: str, name: str
) -> Iterator[Child]:
    """System `name`, the `number`th of those that are compared with the first."""
    found = gains(scores[first], scores[name])
    yield element("h2", {"id": f"system-{number}"}, f"{name} against {first}")
    counts = f"{len(found.won):,} sentences better, {len(found.lost):,} worse, {found.n_tied:,} as good."
    yield element("p", {}, counts)
    yield element("p", {"class": "soft"}, f"{OF_SENTENCES} ", *_of_marks())
    for kind, sentences in (("gains", found.won), ("losses", found.lost)):
        shown = sentences[: compared.most]
        yield element("h3", {"id": f"{kind}-{number}"}, f"Largest {kind}")
        yield element("p", {"class": "soft"}, f"{len(shown):,} of {len(sentences):,}")
        for one in shown:
            yield element("h4", {}, f"Line {one + 1:,}")
            yield html_texts(_texts(compared, scores, one, found, name))


def _of_marks() -> Iterator[Child]:
    """What marked words mean, marked so themselves."""
    before, between, after = OF_MARKS.split("{}")
    yield from (before, element("del", {}, "like this"), between, element("ins", {}, "like this"), after)


def _texts(
    compared: ComparedTexts, scores: Mapping[str, Sequence[float]], number: int, found: Gains, name: str
) -> Iterator[tuple[str, str, Child]]:
    """Name, score and text of one sentence: of its source, its references, and of the systems."""
    if compared.source is not None:
        yield "source", "", compared.source[number]
    references = compared.texts.references
    for i, lines in enumerate(references, 1):
        yield f"reference {i}" if len(references) > 1 else "reference", "", lines[number]
    before: str | None = None
    for system, lines in compared.texts.systems.items():
        gain = f" ({found.values[number]:+.1f})" if system == name else ""
        yield system, f"{scores[system][number]:.1f}{gain}", marked(before, lines[number])
        before = next(iter(compared.texts.systems.values()))[number]
