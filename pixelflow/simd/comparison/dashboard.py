"""Machines side by side as a dashboard: bars that can be read at a glance, at 80 columns and wide."""

from __future__ import annotations

from collections.abc import Iterator

from rich.panel import Panel as Bordered
from rich.table import Table
from rich.text import Text

from pixelflow.simd.comparison.report import different, refusals, verdict
from pixelflow.simd.comparison.scorecard import marked, marks_line
from pixelflow.simd.drawing import Comparison, DrawnFrame
from pixelflow.simd.report import Fact, Part, counted, drawn, number, percent

__all__ = ["dashboard_parts"]

_NARROWEST = 50
"""Columns of a machine from which they stand beside each other."""
_FULL, _PARTS = "█", " ▏▎▍▌▋▊▉"
_STYLES = ("cyan", "yellow", "green", "magenta", "blue", "red")


def dashboard_parts(found: Comparison, width: int, *, color: bool) -> Iterator[Part]:
    """Yield a box for each machine, beside each other where there is room."""
    beside = width >= _NARROWEST * len(found.sides)
    each = width // len(found.sides) if beside else width
    slowest = max(side.milliseconds for side in found.sides)
    boxes = [_one(side, each, slowest) for side in found.sides]
    grid = Table.grid(expand=False)
    for _ in boxes if beside else boxes[:1]:
        grid.add_column(width=each)
    for row in [boxes] if beside else [[box] for box in boxes]:
        grid.add_row(*row)
    plain = "\n".join(drawn(grid, width, color=False))
    yield Fact(plain, wrap=False, in_colour="\n".join(drawn(grid, width, color=True)) if color else "")
    yield marks_line(found.sides)
    yield from (f" {side.machine}, {name}: {fact}." for side in found.sides for name, fact in side.facts)
    yield from (f" {text}" for text in refusals(found.refused))
    yield from (f" {text}." for text in different(found))
    yield f" {found.scene} · {counted(found.triangles, 'triangle')} · {verdict(found)}"


def _one(side: DrawnFrame, width: int, slowest: float) -> Bordered:
    inner = width - 4
    text = Text(no_wrap=True, overflow="ellipsis")
    _bar(
        text,
        inner,
        "time",
        side.milliseconds / slowest,
        marked(f"{number(side.milliseconds)} ms", side, "milliseconds"),
        "bold",
    )
    covered = marked(percent(side.covered_lanes), side, "covered_lanes")
    _bar(text, inner, "lanes of a block covered", side.covered_lanes, covered, "green")
    if side.enabled_lanes is not None:
        enabled = marked(percent(side.enabled_lanes), side, "enabled_lanes")
        _bar(text, inner, "lanes enabled, all cycles", side.enabled_lanes, enabled, "green")
    cycles = f"cycles {side.whose_stages}"
    for heading, key, values in (
        (cycles, "stages", side.stages), ("instructions", "instructions", side.mix), ("bytes", "bytes", side.traffic),
    ):  # fmt: skip
        total = sum(values.values())
        text.append(f"{marked(f'{heading} {total:,}', side, key).rstrip()}\n", "bold")
        for place, (name, value) in enumerate(sorted(values.items(), key=lambda item: -item[1])):
            share = value / total if total else 0.0
            _bar(text, inner, f" {name}", share, f"{100 * share:.1f} %", _STYLES[place % len(_STYLES)])
    text.rstrip()
    title = f"{side.whole} · {side.lanes // side.parts:,} lanes each · {side.clock_mhz:g} MHz"
    return Bordered(text, title=Text(title), width=width)


def _bar(text: Text, width: int, name: str, share: float, shown: str, style: str) -> None:
    """Append a line: name, a bar as long as its share of the room, the figure."""
    label, figure = min(28, width // 2), 14
    room = max(4, width - label - figure - 1)
    eighths = round(min(share, 1.0) * room * 8)
    bar = (_FULL * (eighths // 8) + _PARTS[eighths % 8].strip()).ljust(room)
    text.append(f"{name[: label - 1]:<{label}}")
    text.append(bar, style)
    text.append(f" {shown:>{figure}}\n")
