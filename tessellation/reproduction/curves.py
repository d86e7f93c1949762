"""The curves of the thesis and of this machine, drawn by matplotlib (extra ``plot``).

Markers are published figures, lines executed ones. The colours are those of Okabe and Ito, distinguishable with colour
vision deficiencies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import nan
from typing import IO, TYPE_CHECKING

from pixelflow.evidence import Number, Row
from pixelflow.node import StageSpan, timeline
from tessellation.plan.schedule import Stage
from tessellation.reproduction.bench import ThesisBench, texture_stream
from tessellation.reproduction.whole_passes import SCHEDULES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure


_BLUE, _ORANGE, _GREEN, _RED, _SKY, _PINK, _YELLOW = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442",
)  # fmt: skip
_GREY, _DARK = "#BBBBBB", "#333333"

_WORK = {
    "loads": (_YELLOW, (Stage.LEE, Stage.ADDRESSES, Stage.MARKS, Stage.BERNSTEIN)),
    "copies, distribution, exchange": (_GREEN, (Stage.COPY, Stage.DISTRIBUTION, Stage.EXCHANGE)),
    "points": (_BLUE, (Stage.POINTS,)),
    "derivatives": (_SKY, (Stage.DERIVATIVES,)),
    "normals": (_PINK, (Stage.NORMALS,)),
    "waits": (_GREY, (Stage.FIRST_STALL, Stage.STALL, Stage.PORTS)),
}
_READS = ("reads of texture memory", _ORANGE)


def draw_curves(stream: IO[bytes], kind: str, rows: Mapping[str, Sequence[Row]], bench: ThesisBench) -> None:
    """Draw the tables that have curves, one below the other, as ``png`` or ``svg``; ``rows`` are by name of the table.

    At least one of them must be in `CURVES`.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    panels = [(height, draw) for names, height, draw in _PANELS if names & rows.keys()]
    # A fixed salt and no date: the same figures give the same bytes.
    with rc_context({"svg.hashsalt": "pixelflow", "font.size": 9, "axes.titlesize": 10}):
        figure = Figure(figsize=(8, sum(height for height, _ in panels)), layout="constrained")
        parts = figure.subfigures(len(panels), 1, height_ratios=[height for height, _ in panels], squeeze=False)
        for (_, draw), (part,) in zip(panels, parts, strict=True):
            draw(part, rows, bench)
        figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)


def _net_sizes(part: SubFigure, rows: Mapping[str, Sequence[Row]], bench: ThesisBench) -> None:
    """Cycles against the size of the control net (tables 7 and 12)."""
    axes = part.subplots()
    for name, label, color, marker in (
        ("table 12", "whole pass", _BLUE, "o"),
        ("table 7", "arithmetic alone", _RED, "s"),
    ):
        shown = [row for row in rows.get(name, ()) if row.unit == "cycles"]
        if shown:
            sides = range(4, 4 + len(shown))
            axes.plot(sides, _heights((row.measured for row in shown), 1000), color=color, label=f"{label}, executed")
            axes.plot(
                sides, _heights((row.published for row in shown), 1000), marker, color=color, markerfacecolor="none",
                label=f"{label}, {name} of the thesis",
            )  # fmt: skip
    axes.set(
        title="Tessellation of n x n control nets, 4x4 samples, library plain",
        xlabel="points a side of the control net, n",
        ylabel="thousand cycles",
    )
    axes.set_ylim(bottom=0)
    _finish(axes)


def _sends(part: SubFigure, rows: Mapping[str, Sequence[Row]], bench: ThesisBench) -> None:
    """TASIC and EMC cycles against sends per block (table 6)."""
    axes = part.subplots()
    shown = rows["table 6"]
    for kind, color, marker in (("TASIC", _ORANGE, "o"), ("EMC", _BLUE, "s")):
        of_kind = [row for row in shown if row.item.endswith(kind)]
        sends = [int(row.item.split()[0]) for row in of_kind]
        axes.plot(sends, _heights(row.measured for row in of_kind), color=color, label=f"{kind}, executed")
        axes.plot(sends, _heights(row.published for row in of_kind), marker, color=color, markerfacecolor="none",
            label=f"{kind}, table 6 of the thesis")  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_xticks(sends, [str(number) for number in sends])
    axes.set(title="One transfer of 32 bytes to every block", xlabel="sends per block (logarithmic)", ylabel="cycles")
    _finish(axes)


def _heights(figures: Iterable[Number | None], unit: int = 1) -> list[float]:
    """Return figures of rows in a unit, NaN for missing ones."""
    return [nan if each is None else each / unit for each in figures]


def _finish(axes: Axes) -> None:
    axes.grid(color=_GREY, linewidth=0.4)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.yaxis.set_major_formatter("{x:,.0f}")


def _stages(part: SubFigure, rows: Mapping[str, Sequence[Row]], bench: ThesisBench) -> None:
    """Both streams of a bicubic pass in time, in both schedules on one scale (figure 13)."""
    from matplotlib.patches import Patch

    axes = part.subplots()
    names: list[str] = []
    ends: list[int] = []
    for schedule, library in SCHEDULES.items():
        run = bench.tessellation(4, schedule=schedule, library=library)
        for stream, kind in ((run.stream, "EMCs"), (texture_stream(run).stream, "TASICs")):
            height = -len(names)
            spans = [span for span in timeline(run) if span.stream == stream]
            for color, pieces in _pieces(spans).items():
                axes.broken_barh(pieces, (height - 0.4, 0.8), facecolors=color)
            names.append(f"{schedule}: {kind}")
            ends.append(spans[-1].end)
    most = max(ends)
    for index, end in enumerate(ends):
        axes.text((end + 0.01 * most) / 1000, -index, f"{end:,}", va="center", fontsize=8, color=_DARK)
    axes.set_xlim(0, 1.1 * most / 1000)
    axes.set_yticks([-index for index in range(len(names))], names)
    axes.set(title="Stages of a pass of 512 bicubic patches, LEE set-up included (figure 13)", xlabel="thousand cycles")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    keys = [Patch(facecolor=color, label=name) for name, (color, _) in _WORK.items()]
    keys.append(Patch(facecolor=_READS[1], label=_READS[0]))
    part.legend(handles=keys, loc="outside lower center", ncols=4, frameon=False, fontsize=8)


def _pieces(spans: Sequence[StageSpan]) -> dict[str, list[tuple[float, float]]]:
    """Return the pieces of a bar by colour: (start, length) in thousand cycles."""
    pieces: dict[str, list[tuple[float, float]]] = {}
    for span in spans:
        color = next((color for color, stages in _WORK.values() if span.name in stages), _READS[1])
        pieces.setdefault(color, []).append((span.start / 1000, span.cycles / 1000))
    return pieces


_Draw = Callable[["SubFigure", Mapping[str, Sequence[Row]], ThesisBench], None]
_PANELS: tuple[tuple[frozenset[str], float, _Draw], ...] = (
    (frozenset({"table 7", "table 12"}), 4, _net_sizes),
    (frozenset({"table 6"}), 3.6, _sends),
    (frozenset({"figure 13"}), 3, _stages),
)
"""Tables, any of which a panel can show, its height in inches, and its function."""

CURVES = frozenset(name for names, _, _ in _PANELS for name in names)
"""Tables and figures that have curves."""
