"""Figures that are in a report's page and notebook cell: stages in time, curves; drawn as SVG, without a library.

Each is data and the one drawing of it. Text takes the colour of what is around it, so that a figure is read on a light
and on a dark page; colours of spans and lines have about the same contrast on both. Nothing in it is loaded.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from pixelflow.simd.errors import printable
from pixelflow.simd.report.model import Illustration, number

_COLOURS = (
    "#4c8bc8", "#d98032", "#5aa469", "#c85c6a", "#9a7fd1", "#a8894f", "#3fa3a3", "#c77bb0", "#7d8ca3", "#b3a12f",
)  # fmt: skip
_WIDTH, _LEFT, _RIGHT = 960, 150, 40
_READABLE = 720
"""Points across below which letters would be too small: a narrower page moves a figure sideways."""
_LANE, _BAR, _TICKS, _LEGEND = 30, 22, 34, 18
_LEAST_WIDTH = 3
"""Width in points below which a stage is not visible."""
_CURVES_HEIGHT = 260
_LETTER = 6.6
"""About how wide a letter of a figure is."""
_STRIP = 3
_GREY = "#8a8f98"
_SHORT = "(short stages)"
_PATTERNS = (("", 0.0), ("2 4", 1.0), ("", 0.35), ("1 7", 1.0))
"""Patterns over colours where there are more names: dashes, and their share of a bar's height; the last
one over grey alone."""


class _Mark(NamedTuple):
    """How one kind of span looks: a colour, and which pattern is over it."""

    colour: str
    pattern: int = 0

    def drawn(self, left: float, top: float, width: float, height: float, told: str = "") -> str:
        """Return a box in this style; ``told`` is shown under the pointer."""
        dashes, share = _PATTERNS[self.pattern]
        box = _box(left, top, width, height, self.colour, told)
        if not share:
            return box
        place = f"M{_short(left)} {_short(top + height / 2)}h{_short(width)}"
        look = f'stroke="#000" stroke-opacity="0.5" stroke-width="{_short(height * share)}" pointer-events="none"'
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        return f'{box}<path d="{place}" {look}{dashed}/>'


_MARKS = tuple(_Mark(colour, pattern) for pattern in range(len(_PATTERNS) - 1) for colour in _COLOURS)


class TimeSpan(NamedTuple):
    """Something that lasts from ``start`` up to, but not including, ``end``."""

    name: str
    start: int
    end: int
    wait: int = 0
    """In how much of it it waited for others."""
    own: int = 0
    """Share of it spent waiting for its own requests."""


class Timeline(NamedTuple):
    """Activities side by side: lanes by name, each with its spans in the order of time."""

    title: str
    lanes: Sequence[tuple[str, Sequence[TimeSpan]]]
    unit: str = "cycles"
    own: str = "what it began itself"
    """Name of what a span waits for in its cycles of `TimeSpan.own`."""

    def html(self) -> str:
        """Return the lanes below each other on one scale; spans that are too short to be seen are drawn as one."""
        end = max((span.end for _, spans in self.lanes for span in spans), default=0)
        if not end:
            return ""
        scale = (_WIDTH - _LEFT - _RIGHT) / end
        lanes = [(name, list(_joined(spans, _LEAST_WIDTH / scale))) for name, spans in self.lanes]
        marks, keys = _marked([span for _, spans in lanes for span in spans])
        drawn = [_axis(end, scale, _LANE * len(lanes) + 4, self.unit)]
        for at, (name, spans) in enumerate(lanes):
            top = _LANE * at + 4
            drawn.append(_text(_LEFT - 8, top + 15, name, anchor="end"))
            drawn += (self._bar(span, top, scale, marks[span.name]) for span in spans)
        below = _LANE * len(lanes) + _TICKS
        every = [span for _, spans in lanes for span in spans]
        keys += [(f"waiting for {self.own}", _strip(0, -5, 0, 10))] if any(span.own for span in every) else []
        keys += [("waiting for others", _strip(0, -5, 10, 0))] if any(span.wait for span in every) else []
        legend, height = _legend(keys, below + 14)
        waits = any(span.wait or span.own for span in every)
        caption = f"{self.title}; the strip below a stage: which share of it is waiting" if waits else self.title
        return _figure(caption, below + height, [*drawn, *legend])

    def _bar(self, span: TimeSpan, top: float, scale: float, mark: _Mark) -> str:
        left, width = _LEFT + span.start * scale, max(0.5, (span.end - span.start) * scale)
        length = span.end - span.start
        waits = f", {number(span.wait + span.own)} of them waiting" if span.wait or span.own else ""
        waits += f", {number(span.own)} of these for {self.own}" if span.own else ""
        told = f"{span.name}: {number(length)} {self.unit}, from {number(span.start)}{waits}"
        inside = ""
        if len(span.name) * _LETTER + 6 < width:
            inside = _text(left + width / 2, top + 14, span.name, anchor="middle", fill="#ffffff")
        strip = _strip(left, top + _BAR - _STRIP, width * span.wait / length, width * span.own / length)
        return mark.drawn(left, top, width, _BAR - 4, told) + strip + inside


class Curves(NamedTuple):
    """Lines of points (x, y) by name, with what both axes are."""

    title: str
    x: str
    y: str
    lines: Sequence[tuple[str, Sequence[tuple[float, float]]]]
    rings: frozenset[str] = frozenset()
    """Names of lines of which each point is a ring, and no line is drawn, so that what is below them is seen."""

    def html(self) -> str:
        """Return the lines over one pair of axes, the one upwards from 0; nothing where there is no point."""
        points = [point for _, line in self.lines for point in line]
        if not points:
            return ""
        lowest, highest = min(x for x, _ in points), max(x for x, _ in points)
        ticks = _steps(0, max(max(y for _, y in points), 0) or 1)
        bottom, high = _CURVES_HEIGHT - 40, _CURVES_HEIGHT - 60
        across, up = (_WIDTH - _LEFT - _RIGHT) / ((highest - lowest) or 1), high / ticks[-1]

        def place(x: float, y: float) -> tuple[float, float]:
            return _LEFT + (x - lowest) * across, bottom - y * up

        drawn = [_line(_LEFT, bottom - tick * up, _WIDTH - _RIGHT, bottom - tick * up) for tick in ticks]
        drawn += (_text(_LEFT - 8, bottom - tick * up + 4, number(_whole(tick)), anchor="end") for tick in ticks)
        for x in sorted({x for x, _ in points}) if len({x for x, _ in points}) <= 12 else _steps(lowest, highest):
            drawn.append(_text(place(x, 0)[0], bottom + 16, number(_whole(x)), anchor="middle"))
        drawn.append(_text((_WIDTH + _LEFT - _RIGHT) / 2, bottom + 32, self.x, anchor="middle"))
        drawn.append(_text(_LEFT - 8, 12, self.y, anchor="end"))
        named: list[tuple[str, str]] = []
        for at, (name, line) in enumerate(self.lines):
            again, colour = at // len(_COLOURS), _COLOURS[at % len(_COLOURS)]
            # A repeated colour has dashes, each time longer ones.
            look = f'stroke="{colour}" stroke-width="2"' + (f' stroke-dasharray="{3 * again} 3"' if again else "")
            path = " ".join(f"{left:.1f},{top:.1f}" for left, top in (place(*point) for point in line))
            ring = name in self.rings
            dot = f'r="7" fill="none" {look}' if ring else f'r="3.5" fill="{colour}"'
            if not ring:
                drawn.append(f'<polyline points="{path}" fill="none" {look}/>')
            for x, y in line:
                left, top = place(x, y)
                text = f"{name + ': ' if name else ''}{self.x} {number(_whole(x))}, {self.y} {number(_whole(y))}"
                place_of = f'cx="{_short(left)}" cy="{_short(top)}" {dot}'
                drawn.append(f"<circle {place_of}><title>{_safe(text)}</title></circle>")
            sample = f'<circle cx="10" cy="-4" {dot}/>' if ring else f'<path d="M0 -4h20" {look}/>'
            named += [(name, sample)] if name else []
        keys, height = _legend(named, _CURVES_HEIGHT + 8)
        return _figure(self.title, _CURVES_HEIGHT + height, [*drawn, *keys])


class Made(NamedTuple):
    """A figure that is made when it is shown, as a picture that takes some time."""

    make: Callable[[], Illustration | None]

    def html(self) -> str:
        """Return what is made, as a piece of a page; nothing where there is nothing to see."""
        made = self.make()
        return "" if made is None else made.html()


def _joined(spans: Sequence[TimeSpan], least: float) -> Iterator[TimeSpan]:
    """Yield spans, those that follow each other and are shorter than ``least`` as one."""
    short: list[TimeSpan] = []

    def together() -> Iterator[TimeSpan]:
        if short:
            name = short[0].name if len(short) == 1 else _SHORT
            waits = (sum(span.wait for span in short), sum(span.own for span in short))
            yield TimeSpan(name, short[0].start, short[-1].end, *waits)
            short.clear()

    for span in spans:
        if short and (span.start != short[-1].end or short[-1].end - short[0].start >= least):
            yield from together()
        if span.end - span.start < least:
            short.append(span)
        else:
            yield from together()
            yield span
    yield from together()


def _steps(first: float, last: float) -> list[float]:
    """Return round numbers from at most ``first`` to at least ``last``, about five of them."""
    rough = (last - first or 1) / 5
    ten = 10 ** math.floor(math.log10(rough))
    step = next(step * ten for step in (1, 2, 5, 10) if step * ten >= rough)
    return [step * at for at in range(math.floor(first / step), math.ceil(last / step) + 1)]


def _whole(value: float) -> int | float:
    return int(value) if float(value).is_integer() else value


def _axis(end: int, scale: float, top: float, unit: str) -> str:
    ticks = [tick for tick in _steps(0, end) if tick <= end]
    marks = (_line(_LEFT + tick * scale, 0, _LEFT + tick * scale, top + 2) for tick in ticks)
    texts = (
        _text(
            _LEFT + tick * scale, top + 15, number(_whole(tick)) + (f" {unit}" if tick == ticks[-1] else ""), "middle"
        )
        for tick in ticks
    )
    return "".join((*marks, *texts))


def _marked(spans: Sequence[TimeSpan]) -> tuple[Mapping[str, _Mark], list[tuple[str, str]]]:
    """Return how the spans of each name look, and the legend: no two of its entries look alike.

    Where there are more names than looks, those that take the least time look like each other, in grey, as one entry.
    """
    lengths: Counter[str] = Counter()
    for span in spans:
        lengths[span.name] += span.end - span.start
    own = [name for name in lengths if name != _SHORT]
    if len(own) > len(_MARKS):
        kept = set(sorted(own, key=lambda name: -lengths[name])[: len(_MARKS)])
        own = [name for name in own if name in kept]
    found = dict(zip(own, _MARKS, strict=False))
    named = list(found.items())
    others = [name for name in lengths if name not in found and name != _SHORT]
    if _SHORT in lengths:
        named.append((_SHORT, _Mark(_GREY, 2)))
    if others:
        named.append((f"(others: {len(others)} kinds)", _Mark(_GREY, 3)))
    grey = {_SHORT: _Mark(_GREY, 2), **dict.fromkeys(others, _Mark(_GREY, 3))}
    return {**found, **grey}, [(name, mark.drawn(0, -9, 10, 10)) for name, mark in named]


def _legend(named: Sequence[tuple[str, str]], top: float) -> tuple[list[str], float]:
    """Return names with what stands for them, drawn at (0, 0), in lines, and how high these are."""
    drawn, left, line = [], float(_LEFT), 0
    for name, sample in named:
        width = 34 + _LETTER * len(name)
        if left > _LEFT and left + width > _WIDTH - 4:
            left, line = float(_LEFT), line + 1
        place = f"{_short(left)} {_short(top + line * _LEGEND)}"
        drawn.append(f'<g transform="translate({place})">{sample}{_text(24, 0, name)}</g>')
        left += width
    return drawn, (line + 1) * _LEGEND if named else 0


def _box(left: float, top: float, width: float, height: float, colour: str, told: str = "") -> str:
    place = f'x="{_short(left)}" y="{_short(top)}" width="{_short(width)}" height="{_short(height)}"'
    title = f"<title>{_safe(told)}</title>" if told else ""
    return f'<rect {place} fill="{colour}">{title}</rect>'


def _strip(left: float, top: float, wait: float, own: float) -> str:
    """Return what is below a span: a line as wide as it waited for others, then dashes for what it had begun."""
    drawn = _box(left, top, wait, _STRIP, _GREY) if wait else ""
    if own:
        place = f"M{_short(left + wait)} {_short(top + _STRIP / 2)}h{_short(own)}"
        drawn += f'<path d="{place}" stroke="{_GREY}" stroke-width="{_STRIP}" stroke-dasharray="4 3"/>'
    return drawn


def _line(left: float, top: float, right: float, bottom: float) -> str:
    place = f'x1="{_short(left)}" y1="{_short(top)}" x2="{_short(right)}" y2="{_short(bottom)}"'
    return f'<line {place} stroke="currentColor" stroke-opacity="0.25"/>'


def _text(left: float, top: float, text: str, anchor: str = "", fill: str = "") -> str:
    where = f' text-anchor="{anchor}"' if anchor else ""
    colour = f' fill="{fill}"' if fill else ""
    return f'<text x="{_short(left)}" y="{_short(top)}"{where}{colour}>{_safe(text)}</text>'


def _short(value: float) -> str:
    return f"{round(value, 1):g}"


def _figure(caption: str, height: float, drawn: Sequence[str]) -> str:
    view = f'viewBox="0 0 {_WIDTH} {_short(height)}" fill="currentColor" role="img" aria-label="{_safe(caption)}"'
    style = f"width: 100%; min-width: {_READABLE}px; max-width: {_WIDTH}px; height: auto; font: 11px sans-serif"
    image = f'<div style="overflow-x: auto"><svg {view} style="{style}">{"".join(drawn)}</svg></div>'
    return f'<figure style="margin: 1em 0">{image}<figcaption>{_safe(caption)}</figcaption></figure>'


def _safe(text: str) -> str:
    return escape(printable(text))
