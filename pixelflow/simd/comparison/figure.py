"""Machines side by side as a figure, drawn by matplotlib (extra ``plot``): picture, time, stages, instructions.

The colours are those of Okabe and Ito, which people who see colours differently can tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from textwrap import fill
from typing import IO, TYPE_CHECKING

from pixelflow.simd.comparison.grid import GridPoint
from pixelflow.simd.comparison.report import Beside, all_of, verdict
from pixelflow.simd.comparison.scorecard import FIGURES, standing_of
from pixelflow.simd.comparison.sizes import MEASURES, SizeDrawn, crossings
from pixelflow.simd.drawing import ALL_PARTS, Comparison, DrawnFrame, FigureStanding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["save_figure", "save_grid", "save_sizes"]

_MARKERS = ("o", "s", "^", "D", "v", "P")
_HATCHES = (None, "//", "..", "xx")
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999", "#333333")
_SHADES = {
    FigureStanding.GIVEN: 0.97, FigureStanding.EXECUTED: 0.94, FigureStanding.FITTED: 0.88,
    FigureStanding.PART: 0.82, FigureStanding.FORMULA: 0.76, FigureStanding.INVENTED: 0.68,
    FigureStanding.UNSAID: 0.6,
}  # fmt: skip
"""Of grey: the darker, the less a figure is founded."""


def save_figure(stream: IO[bytes], kind: str, found: Comparison, besides: Sequence[Beside]) -> None:
    """Draw a comparison as ``png`` or ``svg``."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # A fixed salt and no date: the same figures give the same bytes.
    with rc_context({"svg.hashsalt": "pixelflow", "font.size": 9, "axes.titlesize": 10}):
        figure = Figure(figsize=(12, 11), layout="constrained")
        (picture, times), (card, moved), (stages, mix) = figure.subplots(3, 2)
        same = f"the same pixels on {all_of(found.sides)}"
        picture.imshow(found.sides[0].picture.colours)
        picture.set(title=fill(f"{found.scene}: {same if found.identical else verdict(found)}", 60))
        picture.set_axis_off()
        _times(times, found, besides)
        _stacked(
            stages,
            f"share of cycles by stage\n{_whose(found.sides)}".rstrip(),
            [(side, side.stages) for side in found.sides],
        )
        _stacked(mix, "share of executed instructions, by family", [(side, side.mix) for side in found.sides])
        _stacked(moved, "share of bytes moved, by way", [(side, side.traffic) for side in found.sides])
        _card(card, found.sides)
        figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)


def _label(side: DrawnFrame) -> str:
    return f"{side.machine} x{side.parts}"


def _whose(sides: Sequence[DrawnFrame]) -> str:
    """Return whose cycles they are where they are not those of all parts."""
    others = [f"{side.machine}: {side.whose_stages}" for side in sides if side.whose_stages != ALL_PARTS]
    return fill("; ".join(others), 70)


def _times(axes: Axes, found: Comparison, besides: Sequence[Beside]) -> None:
    colours = {side.machine: _COLOURS[place % len(_COLOURS)] for place, side in enumerate(found.sides)}
    rows = [
        (side.machine, f"picture, {_label(side)}\n{side.clock_mhz:g} MHz", side.milliseconds) for side in found.sides
    ]
    rows += [row for each in besides for row in each.times]
    machines, names, values = zip(*reversed(rows), strict=True)
    bars = axes.barh(names, values, color=[colours[machine] for machine in machines])
    axes.bar_label(bars, fmt="%.3g", padding=3)
    axes.set(title="simulated time", xlabel="milliseconds")
    axes.margins(x=0.15)
    axes.spines[["top", "right"]].set_visible(False)


def _card(axes: Axes, sides: Sequence[DrawnFrame]) -> None:
    """Draw the scorecard: a field for each figure and machine, its standing as a word on a shade of grey."""
    for column, side in enumerate(sides):
        for row, key in enumerate(FIGURES):
            standing = standing_of(side, key)
            shade = "1.0" if standing is None else str(_SHADES[standing])
            axes.barh(row, 1, left=column, height=1, color=shade, edgecolor="white")
            axes.text(column + 0.5, row, standing or "-", ha="center", va="center", fontsize=7)
    axes.set_yticks(range(len(FIGURES)), list(FIGURES.values()), fontsize=7)
    axes.set_xticks([column + 0.5 for column in range(len(sides))], [side.machine for side in sides])
    axes.set(title="what the figures are to be taken for", xlim=(0, len(sides)), ylim=(len(FIGURES) - 0.5, -0.5))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _stacked(axes: Axes, title: str, rows: list[tuple[DrawnFrame, dict[str, int]]]) -> None:
    """Draw one bar a machine; what has less than a hundredth of it is drawn without a name."""
    for place, (side, values) in enumerate(rows):
        total, left = sum(values.values()), 0.0
        for index, (name, value) in enumerate(sorted(values.items(), key=lambda item: -item[1])):
            share = 100 * value / total if total else 0.0
            colour = _COLOURS[index % len(_COLOURS)]
            label = f"{side.machine}: {name} {share:.0f} %" if share >= 1 else None
            axes.barh(_label(side), share, left=left, color=colour, edgecolor="white", label=label, height=0.5,
                hatch=_HATCHES[place % len(_HATCHES)])  # fmt: skip
            left += share
    axes.invert_yaxis()
    axes.set(title=title, xlabel="per cent")
    axes.legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(-0.2, -0.14), ncols=2)
    axes.spines[["top", "right"]].set_visible(False)


def save_sizes(stream: IO[bytes], kind: str, rows: Sequence[SizeDrawn]) -> None:
    """Draw what a triangle takes by its size as ``png`` or ``svg``, one plot a measure (matplotlib, extra ``plot``)."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "pixelflow", "font.size": 9, "axes.titlesize": 10}):
        figure = Figure(figsize=(12, 4), layout="constrained")
        for axes, measure in zip(figure.subplots(1, len(MEASURES)), MEASURES, strict=True):
            _by_size(axes, measure, rows)
        figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)


def _by_size(axes: Axes, measure: str, rows: Sequence[SizeDrawn]) -> None:
    sizes = [row.pixels for row in rows]
    for name, side in rows[0].sides.items():
        axes.loglog(sizes, [row.cost(name, measure) for row in rows], marker="o", label=f"{name} x{side.parts}")
    for each in crossings(rows):
        if each.measure == measure:
            axes.axvspan(each.above, each.below, color="0.85")
    axes.set(title=f"{measure} for a triangle", xlabel="pixels of a triangle")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def save_grid(stream: IO[bytes], kind: str, points: Sequence[GridPoint], title: str, *, lines: bool) -> None:
    """Draw several pictures by several machines as ``png`` or ``svg``, one plot a measure.

    Pictures of rising sizes are ``lines`` over their pixels; scenes are rows of marks. Who refuses has none.
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
        figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)


def _side(name: str, point: GridPoint) -> DrawnFrame | None:
    return next((side for side in point.found.sides if side.machine == name), None)


def _named_axes(axes: Axes, measure: str, points: Sequence[GridPoint], *, lines: bool) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set(title=f"{measure} of a picture")
    figures = axes.yaxis if lines else axes.xaxis
    figures.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
    figures.set_major_formatter(lambda value, _: f"{value:.3g}")
    figures.set_minor_formatter(NullFormatter())
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
