"""Machines side by side as a figure, drawn by matplotlib (extra ``plot``): picture, time, stages, instructions.

The colours are those of Okabe and Ito, which people who see colours differently can tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, TYPE_CHECKING

from pixelflow.simd.comparison.report import Beside, all_of, verdict
from pixelflow.simd.comparison.sizes import MEASURES, SizeDrawn, crossings
from pixelflow.simd.drawing import ALL_PARTS, Comparison, DrawnFrame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["save_figure", "save_sizes"]

_HATCHES = (None, "//", "..", "xx")
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999", "#333333")


def save_figure(stream: IO[bytes], kind: str, found: Comparison, besides: Sequence[Beside]) -> None:
    """Draw a comparison as ``png`` or ``svg``."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # A fixed salt and no date: the same figures give the same bytes.
    with rc_context({"svg.hashsalt": "pixelflow", "font.size": 9, "axes.titlesize": 10}):
        figure = Figure(figsize=(10, 7.5), layout="constrained")
        (picture, times), (stages, mix) = figure.subplots(2, 2)
        same = f"the same pixels on {all_of(found.sides)}"
        picture.imshow(found.sides[0].picture.colours)
        picture.set(title=f"{found.scene}: {same if found.identical else verdict(found)}")
        picture.set_axis_off()
        _times(times, found, besides)
        _stacked(
            stages,
            f"share of cycles by stage{_whose(found.sides)}",
            [(side, side.stages) for side in found.sides],
        )
        _stacked(mix, "share of executed instructions, by family", [(side, side.mix) for side in found.sides])
        figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)


def _label(side: DrawnFrame) -> str:
    return f"{side.machine} x{side.parts}"


def _whose(sides: Sequence[DrawnFrame]) -> str:
    """Return whose cycles they are where they are not those of all parts."""
    others = [f"{side.machine}: {side.whose_stages}" for side in sides if side.whose_stages != ALL_PARTS]
    return f" ({'; '.join(others)})" if others else ""


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
