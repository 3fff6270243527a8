"""Translations that a training changed: sorted by gain and loss if references are known, else by number of changes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from phrasebeam.console.html_page import Child, element, html_table
from phrasebeam.training.common.kept_translations import KeptSet
from phrasebeam.training.metrics.evaluation import EvaluatedTexts, EvaluationOptions
from phrasebeam.training.report.compared_sentences import ComparedSentences, compared_sentences
from phrasebeam.training.report.marked_words import marked
from phrasebeam.training.report.system_comparison import sentence_scores

MOST_SENTENCES = 200  # number of changed sentences in a report
MOST_COMPARED = 25  # number of the largest gains in a report, and of the largest losses


def changed_texts(texts: Mapping[str, Sequence[str]], known: KeptSet, place: str) -> Iterator[Child]:
    """Gains and losses of the second of two sets of translations against the first; `texts`: both, by name."""
    first, name = texts
    evaluated = EvaluatedTexts(texts, known.references)
    scores = sentence_scores(evaluated, EvaluationOptions())
    compared = ComparedSentences(evaluated, known.source, scores, first, MOST_COMPARED)
    yield from compared_sentences(compared, name, place)


def changed_in_run(
    translations: Mapping[int, Sequence[str]], best: int | None, known: KeptSet | None, place: str
) -> Iterator[Child]:
    """Changes of translations from the first iteration to the best or, without scores, to the last."""
    first, *others = sorted(translations)
    last = best if best in others else others[-1]
    sizes = {len(translations[first]), len(translations[last]), *map(len, known.references if known else ())}
    if known is None or len(sizes) > 1:
        yield from changed_translations(translations)
        return
    texts = {"before" if number == 0 else f"after {number}": translations[number] for number in (first, last)}
    yield from changed_texts(texts, known, place)


class Version(NamedTuple):
    """A translation that a sentence had in successive iterations, from `first` to `last`."""

    first: int
    last: int
    text: str


def versions(translations: Mapping[int, Sequence[str]], number: int) -> list[Version]:
    """The successive translations of sentence `number`, in the order of iterations."""
    found: list[Version] = []
    for iteration, texts in sorted(translations.items()):
        if found and found[-1].text == texts[number]:
            found[-1] = found[-1]._replace(last=iteration)
        else:
            found.append(Version(iteration, iteration, texts[number]))
    return found


def changed_translations(translations: Mapping[int, Sequence[str]]) -> list[Child]:
    """Parts of a page that show changes; sentences that changed most often come first."""
    n_sentences = min((len(texts) for texts in translations.values()), default=0)
    every = {number: versions(translations, number) for number in range(n_sentences)}
    changed = sorted((number for number in every if len(every[number]) > 1), key=lambda one: (-len(every[one]), one))
    told = f"{len(changed)} of {n_sentences} translations changed within {len(translations)} iterations"
    parts: list[Child] = [element("p", {}, told)]
    if len(changed) > MOST_SENTENCES:
        parts.append(element("p", {"class": "soft"}, f"The {MOST_SENTENCES} that changed most often are shown."))
    rows = [row for number in changed[:MOST_SENTENCES] for row in _rows(number, every[number])]
    return [*parts, html_table([["line", "iterations", "translation"], *rows], is_text=True)] if rows else parts


def _rows(number: int, found: Sequence[Version]) -> Iterator[list[Child]]:
    before: Version | None = None
    for version in found:
        name = f"{version.first}" if version.first == version.last else f"{version.first} to {version.last}"
        yield [str(number + 1) if before is None else "", name, marked(before.text if before else None, version.text)]
        before = version
