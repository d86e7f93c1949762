"""A comparison as a figure by matplotlib (extra ``plot``), and as pictures of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from textwrap import fill
from typing import IO, TYPE_CHECKING

import numpy as np

from pixelflow.simd.comparison.comparison import Beside, different, refusals, verdict
from pixelflow.simd.comparison.grid import GridPoint
from pixelflow.simd.comparison.triangle_sizes import MEASURES, SizeDrawn, crossings
from pixelflow.simd.drawing import Comparison, DrawnFrame
from pixelflow.simd.report import (
    Curves,
    Illustration,
    RasterImage,
    Timeline,
    TimeSpan,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Machines side by side as a figure, drawn by matplotlib (extra ``plot``): picture, time, stages.
#
# The colours are those of Okabe and Ito, which colour-blind readers can distinguish.


_MARKERS = ("o", "s", "^", "D", "v", "P")
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999", "#333333")
_WIDTH = 12.0
"""Inches of a figure."""
_LINE = 0.3
"""Inches for a bar with its name above it."""
_MOST = 9
"""Bars of a machine; what has less is drawn as one."""
_NEAR = 150
"""How many times as large the end of a logarithmic axis is from which only powers of ten are written."""
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_LETTERS = 140
"""Of a line over the whole width, in the size of titles."""


def save_figure(stream: IO[bytes], kind: str, found: Comparison, besides: Sequence[Beside]) -> None:
    """Draw a comparison as ``png`` or ``svg``."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    sides = found.sides
    shares = [
        [(f"cycles {side.whose_stages}", _largest(side.stages)) for side in sides],
        [("executed instructions", _largest(side.mix)) for side in sides],
        [("bytes moved", _largest(side.traffic)) for side in sides],
    ]
    most = [max(len(bars) for _, bars in each) for each in shares]
    times = [row for each in besides for row in each.times]
    heights = [3.2 + 0.3 * len(times), *(0.7 + _LINE * each for each in most)]
    # A fixed salt and no date: the same figures give the same bytes.
    with rc_context({"svg.hashsalt": "pixelflow", "font.size": 9, "axes.titlesize": 9}):
        figure = Figure(figsize=(_WIDTH, sum(heights)), layout="constrained")
        above, *rows = figure.subfigures(1 + len(shares), 1, squeeze=False, height_ratios=heights)[:, 0]
        lines = [f"{found.scene}: {verdict(found)}", *different(found), *refusals(found.refused)]
        above.suptitle("\n".join(fill(each, _LETTERS) for each in lines), x=0.01, ha="left", fontsize=9)
        picture, drawn = above.subplots(1, 2)
        picture.imshow(sides[0].picture.colours)
        picture.set_axis_off()
        _times(drawn, found, times)
        for row, each, lines_of_row in zip(rows, shares, most, strict=True):
            every = zip(row.subplots(1, len(sides), squeeze=False)[0], sides, each, _COLOURS, strict=False)
            for axes, side, (what, bars), colour in every:
                _bars(axes, f"{side.machine}: share of {what}", bars, lines_of_row, colour)
        _save(figure, stream, kind)


def _save(figure: Figure, stream: IO[bytes], kind: str) -> None:
    """Lay a figure out and write it; places are rounded, as the last bits of those that the solver finds may differ."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for part in figure.subfigs:
        (left, bottom), (right, top) = part.bbox_relative.p0, part.bbox_relative.p1
        part.bbox_relative.p0 = (round(left, 6), round(bottom, 6))
        part.bbox_relative.p1 = (round(right, 6), round(top, 6))
    for axes in figure.get_axes():
        left, bottom, width, height = (round(each, 6) for each in axes.get_position(original=True).bounds)
        axes.set_position((left, bottom, width, height))
    figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)


def _largest(values: Mapping[str, int]) -> list[tuple[str, float]]:
    """Return names with their shares in per cent, the largest first, the smallest of many together."""
    total = sum(values.values())
    found = [(name, 100 * value / total) for name, value in sorted(values.items(), key=lambda item: -item[1]) if value]
    if len(found) > _MOST:
        rest = found[_MOST - 1 :]
        found[_MOST - 1 :] = [(f"{len(rest)} others", sum(share for _, share in rest))]
    return found


def _bars(axes: Axes, title: str, bars: Sequence[tuple[str, float]], most: int, colour: str) -> None:
    """Draw a bar for each name, which is above it with its share; the room is that of the ``most`` bars."""
    for row, (name, share) in enumerate(bars):
        axes.barh(row, share, height=0.36, color=colour)
        axes.text(0, row - 0.24, f"{name}, {share:.1f} %", va="bottom", fontsize=7.5)
    axes.set(xlim=(0, 100), ylim=(most - 0.5, -0.9))
    axes.set_axis_off()
    axes.set_title(fill(title, 44), loc="left")


def _times(axes: Axes, found: Comparison, besides: Sequence[tuple[str, str, float]]) -> None:
    """Draw times as places on a logarithmic scale, as they span several decades."""
    colours = {side.machine: _COLOURS[place % len(_COLOURS)] for place, side in enumerate(found.sides)}
    rows = [(side.machine, f"picture, {side.whole}\n{side.clock_mhz:g} MHz", side.milliseconds) for side in found.sides]
    rows += [(machine, name.replace(", ", f", {machine}\n", 1), value) for machine, name, value in besides]
    for row, (machine, _, value) in enumerate(rows):
        axes.semilogx([value], [row], marker="o", markersize=9, color=colours[machine])
        axes.annotate(f"{value:.3g}", (value, row), (9, 0), textcoords="offset points", va="center")
    axes.set_yticks(range(len(rows)), [name for _, name, _ in rows])
    axes.set(title="simulated time", xlabel="milliseconds, logarithmic", ylim=(len(rows) - 0.5, -0.5))
    axes.margins(x=0.25)
    _round_steps(axes.xaxis)
    axes.grid(axis="both", color="0.9")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _round_steps(axis: Axis) -> None:
    """Let a logarithmic axis on which all is drawn have so few round numbers that none touches the next one."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < _NEAR * low else (1,), numticks=8))
    axis.set_major_formatter(lambda value, _: _short(value))
    axis.set_minor_formatter(NullFormatter())


def _short(value: float) -> str:
    """Return a round number with few letters: ``0.02``, ``500``, ``20k``, ``1M``."""
    unit, letter = next(((unit, letter) for unit, letter in _UNITS if value >= unit), (1, ""))
    return f"{value / unit:.3g}{letter}"


def save_sizes(stream: IO[bytes], kind: str, rows: Sequence[SizeDrawn]) -> None:
    """Draw what a triangle takes by its size as ``png`` or ``svg``, one plot a measure (matplotlib, extra ``plot``)."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "pixelflow", "font.size": 9, "axes.titlesize": 10}):
        figure = Figure(figsize=(_WIDTH, 4), layout="constrained")
        every = figure.subplots(1, len(MEASURES))
        for axes, measure in zip(every, MEASURES, strict=True):
            _by_size(axes, measure, rows)
        handles, labels = every[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=len(labels), frameon=False)
        crossed = "grey: where two machines cross" if crossings(rows) else ""
        figure.suptitle(crossed, x=0.01, ha="left", fontsize=9)
        _save(figure, stream, kind)


def _by_size(axes: Axes, measure: str, rows: Sequence[SizeDrawn]) -> None:
    sizes = [row.pixels for row in rows]
    for (name, side), colour, marker in zip(rows[0].sides.items(), _COLOURS, _MARKERS, strict=False):
        look = {"label": side.whole, "color": colour, "marker": marker}
        axes.loglog(sizes, [row.cost(name, measure) for row in rows], **look)
    for each in crossings(rows):
        if each.measure == measure:
            axes.axvspan(each.above, each.below, color="0.85")
    axes.set(title=f"{measure} for a triangle", xlabel="pixels of a triangle")
    _round_steps(axes.xaxis)
    axes.spines[["top", "right"]].set_visible(False)


def save_grid(stream: IO[bytes], kind: str, points: Sequence[GridPoint], title: str, *, lines: bool) -> None:
    """Draw several pictures by several machines as ``png`` or ``svg``, one plot a measure.

    Pictures of rising sizes are ``lines`` over their pixels; scenes are rows of marks. A refused picture has none.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    ordered = sorted(points, key=lambda point: -len(point.found.sides))
    names = list(dict.fromkeys(side.machine for point in ordered for side in point.found.sides))
    with rc_context({"svg.hashsalt": "pixelflow", "font.size": 9, "axes.titlesize": 10}):
        figure = Figure(figsize=(12, 4 if lines else 1.8 + 0.45 * len(points)), layout="constrained")
        every = figure.subplots(1, len(MEASURES), sharey=not lines)
        for axes, measure in zip(every, MEASURES, strict=True):
            for place, name in enumerate(names):
                look = {"label": name, "color": _COLOURS[place], "marker": _MARKERS[place % len(_MARKERS)]}
                found = [(at, side) for at, side in enumerate(map(partial(_side, name), points)) if side is not None]
                values = [MEASURES[measure](side) for _, side in found]
                if lines:
                    axes.loglog([points[at].pixels for at, _ in found], values, **look)
                else:
                    axes.semilogx(values, [at for at, _ in found], linestyle="none", **look)
            _named_axes(axes, measure, points, lines=lines)
        figure.suptitle(title, x=0.01, ha="left")
        handles, labels = every[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=len(names), frameon=False)
        _save(figure, stream, kind)


def _side(name: str, point: GridPoint) -> DrawnFrame | None:
    return next((side for side in point.found.sides if side.machine == name), None)


def _named_axes(axes: Axes, measure: str, points: Sequence[GridPoint], *, lines: bool) -> None:
    axes.set(title=f"{measure} of a picture")
    _round_steps(axes.yaxis if lines else axes.xaxis)
    if lines:
        axes.set(xlabel="pixels of the picture")
        axes.set_xticks([point.pixels for point in points], [point.name for point in points], rotation=30)
        axes.xaxis.minorticks_off()
    else:
        axes.set_yticks(range(len(points)), [_with_refusals(point) for point in points])
        axes.set_ylim(len(points) - 0.5, -0.5)
        axes.grid(axis="y", color="0.9")
        axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _with_refusals(point: GridPoint) -> str:
    refused = ", ".join(machine for machine, _ in point.found.refused)
    return f"{point.name}\n(not: {refused})" if refused else point.name


# Illustrations of a comparison for a page or a notebook: picture, where others differ, timelines, curves by size.


_COLOUR_OFF, _DEPTH_OFF = 255, 110
_WIDE = 480
"""Points of a page that small pictures are as wide as."""
_MOST_PARTS = 4
"""Of a machine, in the figure of all."""
_LONGEST = 22
"""Letters of a lane's name that a figure has room for."""


def pictures_of(found: Comparison) -> Iterator[Illustration]:
    """Yield the picture of 64-bit integers, and a map of what differs for each machine that has drawn another one.

    White has another colour, grey another depth alone.
    """
    height, width = found.expected.depths.shape
    caption = f"{found.scene}, {width} x {height}, as 64-bit integers draw it"
    scale = max(1, _WIDE // width)
    yield RasterImage(width, height, 3, found.expected.colours.tobytes(), caption, scale)
    for side, apart in zip(found.sides, found.differences, strict=True):
        if apart.colours or apart.depths:
            colours = (side.picture.colours != found.expected.colours).any(axis=2)
            depths = side.picture.depths != found.expected.depths
            shades = np.where(colours, _COLOUR_OFF, np.where(depths, _DEPTH_OFF, 0)).astype(np.uint8)
            caption = f"{side.machine}, white: another colour, grey: another depth alone; {apart.text}"
            yield RasterImage(width, height, 1, shades.tobytes(), caption, scale)


def timelines_of(found: Comparison) -> Iterator[Illustration]:
    """Yield what went on when on all machines, on one scale of time at their clocks, then of each by its cycles.

    A machine of many parts has its first ones in the common figure.
    """
    lanes = []
    for side in found.sides:
        for part, spans in side.timeline[:_MOST_PARTS]:
            lanes.append((f"{side.machine}, {part}"[:_LONGEST], [_at(span, 1e3 / side.clock_mhz) for span in spans]))
    if lanes:
        yield Timeline("activity over time, at each machine's clock", lanes, "ns")
    for side in found.sides:
        if side.timeline:
            yield Timeline(f"{side.machine}: activity over time", side.timeline)


def _at(span: TimeSpan, scale: float) -> TimeSpan:
    return TimeSpan(span.name, round(span.start * scale), round(span.end * scale))


def grid_curves(points: Sequence[GridPoint]) -> Iterator[Illustration]:
    """Yield cycles and time of pictures of several sizes over their pixels, a line for each machine."""
    names = list(dict.fromkeys(side.machine for point in points for side in point.found.sides))
    for what, key in (("cycles", "cycles"), ("ms", "milliseconds")):
        lines = []
        for name in names:
            drawn = ((point, side) for point in points for side in point.found.sides if side.machine == name)
            lines.append((name, sorted((point.pixels, getattr(side, key)) for point, side in drawn)))
        yield Curves(f"{what} of a picture by its pixels", "pixels of the picture", what, lines)
