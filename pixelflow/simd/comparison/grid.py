"""Grids of comparisons: several pictures, each by several machines, as one table with a row for each of both.

The pictures are one scene in several sizes, or several scenes. A machine that refuses a picture has a row with its
reason; nothing lists who draws what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pixelflow.simd.comparison.comparison import comparison_object
from pixelflow.simd.comparison.scorecard import assumed_line, same_work
from pixelflow.simd.drawing import Comparison, DrawnFrame
from pixelflow.simd.report import Column, Curves, Illustration, Json, Part, Table, number, percent

WRONG = "a picture differs from the one drawn in 64-bit integers"
"""Of a comparison that has failed."""


class GridPoint(NamedTuple):
    """A picture and the machines that drew it."""

    name: str
    """The scene, or the size."""
    found: Comparison

    @property
    def pixels(self) -> int:
        """Of the picture."""
        return int(self.found.expected.depths.size)


_COLUMNS: Sequence[tuple[Column, Callable[[DrawnFrame, Sequence[DrawnFrame]], float | None]]] = (
    (Column("cycles", number), lambda side, _: side.cycles),
    (Column("ms", number), lambda side, _: side.milliseconds),
    (Column("same work", number), same_work),
    (Column("lanes", number, optional=True), lambda side, _: side.lanes),
    (Column("covered", percent), lambda side, _: side.covered_lanes),
    (Column("enabled", percent, optional=True), lambda side, _: side.enabled_lanes),
    (Column("instr.", number), lambda side, _: sum(side.mix.values())),
    (Column("bytes", number, optional=True), lambda side, _: sum(side.traffic.values())),
)


def grid_parts(points: Sequence[GridPoint], what: str) -> Iterator[Part]:
    """Yield the table, then refusals, pixels that differ, and assumptions; ``what`` heads the pictures' names."""
    columns = [Column(what, fixed=True), Column("machine", fixed=True), *(column for column, _ in _COLUMNS)]
    rows: list[list[Json]] = []
    for point in points:
        sides = point.found.sides
        rows += [[point.name, side.machine, *(value(side, sides) for _, value in _COLUMNS)] for side in sides]
        rows += [[point.name, machine, *[None] * len(_COLUMNS)] for machine, _ in point.found.refused]
    yield Table(columns, rows)
    yield (
        "same work: cycles of the stages whose work all machines of the picture execute; covered: of all lanes at work "
        "on a triangle, the share that it covers."
    )
    yield from (f"{machine} refuses {', '.join(names)}: {reason}." for (machine, reason), names in _refused(points))
    yield from _differing(points)
    yield f"{assumed_line(side for point in points for side in point.found.sides)}."


def _refused(points: Sequence[GridPoint]) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """Yield refusals, each with the pictures that it is about."""
    found: dict[tuple[str, str], list[str]] = {}
    for point in points:
        for each in point.found.refused:
            found.setdefault(each, []).append(point.name)
    yield from found.items()


def _differing(points: Sequence[GridPoint]) -> Iterator[str]:
    """Yield the pictures of which a machine has other pixels than 64-bit integers, how many, and why."""
    found: dict[tuple[str, str], list[str]] = {}
    for point in points:
        for side, apart in zip(point.found.sides, point.found.differences, strict=True):
            if apart.colours or apart.depths:
                amount = f"{point.name} ({apart.colours:,} colours, {apart.depths:,} depths)"
                found.setdefault((side.machine, apart.reason or "PIXELS DIFFER"), []).append(amount)
    for (machine, reason), pictures in found.items():
        yield f"{machine} has other pixels in {', '.join(pictures)}: {reason}."


def grid_object(points: Sequence[GridPoint], key: str) -> list[Json]:
    """Return each comparison's JSON object, with the name of its picture under ``key``."""
    return [{key: point.name, **comparison_object(point.found)} for point in points]


def grid_curves(points: Sequence[GridPoint]) -> Iterator[Illustration]:
    """Yield cycles and time of pictures of several sizes over their pixels, a line for each machine."""
    names = list(dict.fromkeys(side.machine for point in points for side in point.found.sides))
    for what, key in (("cycles", "cycles"), ("ms", "milliseconds")):
        lines = []
        for name in names:
            drawn = ((point, side) for point in points for side in point.found.sides if side.machine == name)
            lines.append((name, sorted((point.pixels, getattr(side, key)) for point, side in drawn)))
        yield Curves(f"{what} of a picture by its pixels", "pixels of the picture", what, lines)
