"""SVG charts within a page: lines over iterations, and values with intervals."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import NamedTuple
from xml.etree.ElementTree import Element

from phrasebeam.console.html_page import element

WIDTH, HEIGHT = 400, 220  # of a line chart, in pixels
LEFT, RIGHT, TOP, BOTTOM = 60, 15, 15, 45  # margins
COLOURS = 6  # that the style of pages has; they are used in turn
MOST_TICKS = 10

Points = Sequence[tuple[float, float]]


class Range(NamedTuple):
    """Values from `low` to `high`, drawn from `begin` to `end`."""

    low: float
    high: float
    begin: float
    end: float

    def at(self, value: float) -> float:
        """The position at which a value is drawn."""
        return self.begin + (self.end - self.begin) * (value - self.low) / (self.high - self.low)


def line_chart(title: str, lines: Mapping[str, Points], best: float | None = None) -> Element:
    """A line for each name through its points, whose values are shown on hover; `best`: the iteration to mark."""
    xs = [x for points in lines.values() for x, _ in points]
    ys = [y for points in lines.values() for _, y in points]
    across, up = _range(xs, LEFT, WIDTH - RIGHT), _range(ys, HEIGHT - BOTTOM, TOP)
    parts = [*_axes(across, up, sorted(set(xs)))]
    if best is not None:
        x = f"{across.at(best):.1f}"
        line = {"x1": x, "x2": x, "y1": TOP, "y2": HEIGHT - BOTTOM, "stroke": "var(--soft)", "stroke-dasharray": "3 3"}
        parts.append(element("line", line))
    for number, (name, points) in enumerate(lines.items()):
        parts += _line(name, points, across, up, f"var(--colour-{number % COLOURS})")
    legend = _legend(list(lines)) if len(lines) > 1 else []
    label = {"viewBox": f"0 0 {WIDTH} {HEIGHT + 18 * len(legend)}", "width": WIDTH, "role": "img", "aria-label": title}
    caption = element("figcaption", {}, title)
    return element("figure", {}, caption, element("svg", label, *parts, *legend))


def _range(values: Sequence[float], begin: float, end: float) -> Range:
    """The range of all values with some room around them; if there is one value only, it is in the middle."""
    low, high = min(values), max(values)
    room = 0.05 * (high - low) or 0.5
    return Range(low - room, high + room, begin, end)


def _axes(across: Range, up: Range, xs: Sequence[float]) -> Sequence[Element]:
    step = max(1, -(-len(xs) // MOST_TICKS))
    below = HEIGHT - BOTTOM
    parts = [_rule(LEFT, below, WIDTH - RIGHT, below)]
    for x in xs[::step]:
        parts.append(element("text", {"x": f"{across.at(x):.1f}", "y": below + 16, "text-anchor": "middle"}, f"{x:g}"))
    middle = {"x": (LEFT + WIDTH - RIGHT) / 2, "y": below + 34, "text-anchor": "middle"}
    parts.append(element("text", middle, "iteration"))
    for value in _ticks(up.low, up.high):
        y = up.at(value)
        parts.append(_rule(LEFT, y, WIDTH - RIGHT, y, 0.25))
        parts.append(element("text", {"x": LEFT - 6, "y": f"{y + 4:.1f}", "text-anchor": "end"}, f"{value:.6g}"))
    return parts


def _ticks(low: float, high: float) -> Sequence[float]:
    """Round numbers from low to high, about four of them."""
    rough = (high - low) / 4
    size = 10.0 ** floor(log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * (1 - 1e-9))
    return [step * i for i in range(ceil(low / step), floor(high / step) + 1)]


def _rule(x1: float, y1: float, x2: float, y2: float, opacity: float = 1.0) -> Element:
    ends = {name: f"{value:.1f}" for name, value in (("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2))}
    return element("line", ends | {"stroke": "var(--line)", "stroke-opacity": opacity})


def _line(name: str, points: Points, across: Range, up: Range, colour: str) -> Sequence[Element]:
    places = [(across.at(x), up.at(y)) for x, y in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    line = element("polyline", {"points": path, "fill": "none", "stroke": colour, "stroke-width": 2})
    dots = [
        element(
            "circle",
            {"cx": f"{place[0]:.1f}", "cy": f"{place[1]:.1f}", "r": 3.5, "fill": colour},
            element("title", {}, f"{name}, iteration {x:g}: {y:.6g}"),
        )
        for place, (x, y) in zip(places, points)
    ]
    return [line, *dots]


def _legend(names: Sequence[str]) -> list[Element]:
    parts = []
    for number, name in enumerate(names):
        y = HEIGHT + 18 * number
        dot = element("circle", {"cx": LEFT, "cy": y + 2, "r": 5, "fill": f"var(--colour-{number % COLOURS})"})
        parts.append(element("g", {}, dot, element("text", {"x": LEFT + 12, "y": y + 6}, name)))
    return parts


def interval_chart(title: str, rows: Mapping[str, tuple[float, float]]) -> Element:
    """A row for each name, with its value and half the width of its interval."""
    lows, highs = ([value + sign * half for value, half in rows.values()] for sign in (-1, 1))
    width, height = 640, 30 * len(rows) + 30
    across = Range(min(lows), max(max(highs), min(lows) + 1e-9), 180, width - 40)
    parts = []
    for number, (name, (value, half)) in enumerate(rows.items()):
        y = 30 * number + 20
        ends = {"x1": f"{across.at(value - half):.1f}", "x2": f"{across.at(value + half):.1f}", "y1": y, "y2": y}
        parts.append(element("text", {"x": 0, "y": y + 5}, name))
        parts.append(element("line", ends | {"stroke": "var(--colour-5)", "stroke-width": 3}))
        parts.append(element("circle", {"cx": f"{across.at(value):.1f}", "cy": y, "r": 6, "fill": "var(--colour-0)"}))
    for value in (across.low, across.high):
        place = {"x": f"{across.at(value):.1f}", "y": height, "text-anchor": "middle"}
        parts.append(element("text", place, f"{value:.1f}"))
    label = {"viewBox": f"0 0 {width} {height + 5}", "width": width, "role": "img", "aria-label": title}
    return element("svg", label, *parts)
