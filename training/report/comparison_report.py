"""The report on several systems: a page with their scores, and the sentences with the largest gains and losses.

It is similar to MT-ComparEval (Klejch et al. 2015) and compare-mt (Neubig et al. 2019).
"""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from phrasebeam.console.html_page import Child, element, html_contents, html_list, html_page, html_table
from phrasebeam.training.metrics.evaluation import EvaluatedTexts, Evaluation
from phrasebeam.training.report.compared_sentences import ComparedSentences, compared_sentences
from phrasebeam.training.report.system_comparison import length_ratios, sentence_scores

OF_P = "p: probability of so large a difference to the first system by chance, by a paired {} test; *: below 0.05."
OF_LENGTH = "length: number of words divided by that of the reference, the closest one if there are several."


class ComparedTexts(NamedTuple):
    """The content of a comparison's page, except the scores."""

    texts: EvaluatedTexts
    source: Sequence[str] | None  # a line for each sentence
    command: str  # the command that makes the page
    most: int  # maximum number of sentences in a list


def comparison_report(compared: ComparedTexts, evaluation: Evaluation) -> bytes:
    """The page on two or more systems; `evaluation` must have a paired test."""
    scores = sentence_scores(compared.texts, evaluation.options)
    first, *others = scores
    sentences = ComparedSentences(compared.texts, compared.source or [], scores, first, compared.most)
    parts = list[Child]()
    for number, name in enumerate(others, 1):
        parts.append(element("h2", {"id": f"system-{number}"}, f"{name} against {first}"))
        parts += compared_sentences(sentences, name, str(number))
    told = f"{time.strftime('%Y-%m-%d %H:%M')}, {len(scores[first]):,} sentences"
    beginning: list[Child] = [
        element("p", {"class": "soft"}, told),
        element("pre", {}, compared.command),
        html_contents(_places(others)),
        element("h2", {"id": "scores"}, "Scores"),
        html_table(score_rows(evaluation, length_ratios(compared.texts, evaluation.options))),
        element("p", {"class": "soft"}, f"{OF_P.format(evaluation.options.paired)} {OF_LENGTH}"),
        html_list(f"{name}|{signature}" for name, signature in evaluation.signatures.items()),
    ]
    return html_page(f"{first} compared with {', '.join(others)}", [*beginning, *parts])


def _places(others: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The parts of the page: name in links, and title."""
    yield "scores", "Scores"
    for number, name in enumerate(others, 1):
        yield f"system-{number}", name
        yield f"gains-{number}", f"{name}: gains"
        yield f"losses-{number}", f"{name}: losses"


def score_rows(evaluation: Evaluation, ratios: Sequence[float]) -> list[list[str]]:
    """The table of systems: the score and the p-value of each metric, and the length ratio."""
    header = [title for name in evaluation.results for title in (name, "p")]
    rows = [["system", *header, "length"]]
    for i, system in enumerate(evaluation.systems):
        cells: list[str] = []
        for results in evaluation.results.values():
            p = results[i].p_value
            cells += [f"{results[i].score:.1f}", "" if p is None else f"{p:.4f}{'*' if p < 0.05 else ''}"]
        rows.append([system, *cells, f"{ratios[i]:.3f}"])
    return rows
