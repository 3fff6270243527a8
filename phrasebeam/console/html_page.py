"""HTML pages that are a single file: elements with escaped text, tables, and a style for light and dark screens."""

from collections.abc import Iterable, Mapping, Sequence
from xml.etree.ElementTree import Element, tostring

Child = Element | str
STYLE = """
:root { color-scheme: light dark; --line: #ccc; --soft: #666; --raised: #f4f4f4; --good: #00704f; --bad: #b3261e;
  --colour-0: #0072b2; --colour-1: #d55e00; --colour-2: #009e73; --colour-3: #cc79a7; --colour-4: #b88a00;
  --colour-5: #56b4e9; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-size: 0.9rem; }
td, th { padding: 0.25rem 0.7rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
td:first-child, th:first-child, table.text :is(td, th) { text-align: start; }
.scroll { overflow-x: auto; }
pre { background: var(--raised); padding: 1rem; overflow: auto; }
svg { max-width: 100%; height: auto; }
svg text { font-size: 12px; fill: currentColor; }
.soft { color: var(--soft); }
ins { color: var(--good); text-decoration: none; font-weight: 600; }
del { color: var(--bad); }
tr.best { font-weight: 600; }
table.text td, li, h1, h2 { overflow-wrap: anywhere; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; padding: 0; list-style: none; }
dl { display: grid; grid-template-columns: fit-content(14rem) 7rem 1fr; gap: 0.15rem 1rem; margin: 0.25rem 0 1.25rem; }
dd { margin: 0; }
dt, dd { overflow-wrap: anywhere; }
dt, dd.score { color: var(--soft); font-size: 0.9rem; }
h4 { border-top: 1px solid var(--line); padding-top: 0.5rem; margin: 0; }
@media (max-width: 40rem) {
  dl { grid-template-columns: 1fr auto; }
  dd.score { text-align: end; }
  dd.words { grid-column: 1 / -1; margin-bottom: 0.35rem; }
}
.charts { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; flex: 0 1 400px; min-width: 0; }
@media (prefers-color-scheme: dark) {
  :root { --line: #444; --soft: #aaa; --raised: #262626; --good: #4fd1a5; --bad: #ff8a80; --colour-0: #4aa3df;
    --colour-1: #f08a4b; --colour-2: #2fc79b; --colour-3: #dfa0c4; --colour-4: #e0b83c; --colour-5: #8fd0f5; }
  body { background: #181818; color: #ddd; }
}
"""


def element(tag: str, attributes: Mapping[str, object] = {}, *children: Child) -> Element:
    """An element with attributes and children, which are elements or text."""
    made = Element(tag, {name: str(value) for name, value in attributes.items()})
    for child in children:
        if isinstance(child, Element):
            made.append(child)
        elif len(made):
            made[-1].tail = (made[-1].tail or "") + child
        else:
            made.text = (made.text or "") + child
    return made


def html_page(title: str, children: Iterable[Child]) -> bytes:
    """The page, which needs no other file."""
    head = element(
        "head",
        {},
        element("meta", {"charset": "utf-8"}),
        element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("title", {}, title),
        element("style", {}, STYLE),
    )
    page = element("html", {"lang": "en"}, head, element("body", {}, element("h1", {}, title), *children))
    return b"<!doctype html>\n" + tostring(page, "utf-8", method="html") + b"\n"


def html_table(rows: Sequence[Sequence[Child]], best: int | None = None, is_text: bool = False) -> Element:
    """A table with a header; row `best` (from 1) is highlighted; `is_text`: cells are text, aligned to the left."""
    header, *body = rows
    lines = [element("tr", {}, *(element("th", {}, cell) for cell in header))]
    for number, row in enumerate(body, 1):
        marked = {"class": "best"} if number == best else {}
        lines.append(element("tr", marked, *(element("td", {"dir": "auto"}, cell) for cell in row)))
    return element("div", {"class": "scroll"}, element("table", {"class": "text"} if is_text else {}, *lines))


def html_texts(texts: Iterable[tuple[str, str, Child]]) -> Element:
    """Texts one below the other, each with its name and its score, which may be empty."""
    cells = (
        cell
        for name, score, text in texts
        for cell in (
            element("dt", {"dir": "auto"}, name),
            element("dd", {"class": "score"}, score),
            element("dd", {"class": "words", "dir": "auto"}, text),
        )
    )
    return element("dl", {}, *cells)


def html_contents(places: Iterable[tuple[str, str]]) -> Element:
    """A list of links to parts of the page: id and name of each."""
    links = (element("li", {}, element("a", {"href": f"#{place}"}, text)) for place, text in places)
    return element("nav", {}, element("ul", {}, *links))


def html_list(items: Iterable[str]) -> Element:
    """A list of lines."""
    return element("ul", {}, *(element("li", {}, item) for item in items))
