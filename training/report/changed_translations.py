"""Development translations that changed from iteration to iteration, with their differences marked."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple
from xml.etree.ElementTree import Element

from phrasebeam.console.html_page import Child, element, html_table

MOST_SENTENCES = 200  # in a report


class Version(NamedTuple):
    """A translation that a sentence had for some iterations on end."""

    first: int
    last: int
    text: str


def versions(translations: Mapping[int, Sequence[str]], number: int) -> list[Version]:
    """Distinct translations of sentence `number`, in order of iterations."""
    found: list[Version] = []
    for iteration, texts in sorted(translations.items()):
        if found and found[-1].text == texts[number]:
            found[-1] = found[-1]._replace(last=iteration)
        else:
            found.append(Version(iteration, iteration, texts[number]))
    return found


def changed_translations(translations: Mapping[int, Sequence[str]]) -> list[Child]:
    """Parts of a page that show changes, the sentences that changed most often first."""
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


def marked(before: str | None, text: str) -> Element:
    """The text with what differs from the one before: words that went, and those that came."""
    if before is None:
        return element("span", {"dir": "auto"}, text)
    old, new = before.split(), text.split()
    parts: list[Child] = []
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append(" ".join(new[k:m]) + " ")
            continue
        parts += [part for words, tag in ((old[i:j], "del"), (new[k:m], "ins")) for part in _part(words, tag)]
    return element("span", {"dir": "auto"}, *parts)


def _part(words: Sequence[str], tag: str) -> list[Child]:
    return [element(tag, {}, " ".join(words)), " "] if words else []
