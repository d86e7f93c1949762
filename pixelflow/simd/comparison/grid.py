"""Grids of comparisons: several pictures, each by several machines, as one table with a row for each of both.

The pictures are one scene in several sizes, or several scenes. A machine that refuses a picture has a row with its
reason; nothing lists who draws what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pixelflow.simd.comparison.comparison import comparison_object
from pixelflow.simd.comparison.scorecard import standing_lines, standings_of
from pixelflow.simd.drawing import Comparison, DrawnFrame, PictureDifference
from pixelflow.simd.report import Column, Json, Part, Table, number, percent

WRONG = "a picture differs from the one drawn in 64-bit integers"
"""Of a comparison that has failed."""


@dataclass(frozen=True, slots=True, eq=False)
class GridPoint:
    """A picture and who drew it."""

    name: str
    """The scene, or the size."""
    found: Comparison

    @property
    def pixels(self) -> int:
        """Of the picture."""
        return int(self.found.expected.depths.size)


@dataclass(frozen=True, slots=True)
class _Cell:
    """A figure of a row: its key in the scorecard, heading, value, and how that is written."""

    key: str
    label: str
    value: Callable[[DrawnFrame], float | None]
    kind: Callable[..., str] = number
    optional: bool = False


_CELLS = (
    _Cell("cycles", "cycles", lambda side: side.cycles),
    _Cell("milliseconds", "ms", lambda side: side.milliseconds),
    _Cell("lanes", "lanes", lambda side: side.lanes, optional=True),
    _Cell("covered_lanes", "covered", lambda side: side.covered_lanes, percent),
    _Cell("enabled_lanes", "enabled", lambda side: side.enabled_lanes, percent, optional=True),
    _Cell("instructions", "instr.", lambda side: sum(side.mix.values())),
    _Cell("bytes", "bytes", lambda side: sum(side.traffic.values())),
)


def grid_parts(points: Sequence[GridPoint], what: str) -> Iterator[Part]:
    """Yield the table, then who refused what and whose pixels differ, and why; ``what`` heads the pictures' names."""
    columns = [Column(what, fixed=True), Column("machine", fixed=True)]
    columns += [Column(each.label, each.kind, optional=each.optional) for each in _CELLS]
    columns += [Column("differ", number), Column("depths differ", number, optional=True)]
    rows: list[list[Json]] = []
    for point in points:
        for side, apart in zip(point.found.sides, point.found.differences, strict=True):
            cells = [each.value(side) for each in _CELLS]
            rows.append([point.name, side.machine, *cells, apart.colours, apart.depths])
        rows += [[point.name, machine, *[None] * (len(_CELLS) + 2)] for machine, _ in point.found.refused]
    yield Table(columns, rows)
    notes = [
        "covered: of all lanes at work on a triangle, the share that it covers",
        "differ: pixels that have another colour than 64-bit integers give them, depths aside",
    ]
    refused = _refused(points)
    yield "; ".join([*notes, *(["rows without figures: the machine refuses the picture"] if refused else [])]) + "."
    yield from (f"{machine} refuses {', '.join(names)}: {reason}." for (machine, reason), names in refused.items())
    yield from (f"{machine}, why pixels differ: {reason}." for machine, reason in _reasons(points).items())
    yield from _standings(points)


def _different(apart: PictureDifference) -> int:
    return max(apart.colours, apart.depths)


def _refused(points: Sequence[GridPoint]) -> dict[tuple[str, str], list[str]]:
    """Return refusals, each with the pictures that it is about."""
    found: dict[tuple[str, str], list[str]] = {}
    for point in points:
        for each in point.found.refused:
            found.setdefault(each, []).append(point.name)
    return found


def _reasons(points: Sequence[GridPoint]) -> dict[str, str]:
    """Return why pixels differ, for machines of which some do."""
    return {
        side.machine: apart.reason or "PIXELS DIFFER"
        for point in points
        for side, apart in zip(point.found.sides, point.found.differences, strict=True)
        if _different(apart)
    }


def _standings(points: Sequence[GridPoint]) -> Iterator[str]:
    """Yield what the figures of the table are to be taken for, machine by machine; it may differ by picture."""
    drawn = [(side.machine, side) for point in points for side in point.found.sides]
    shown = [each for each in _CELLS if not each.optional or any(each.value(side) is not None for _, side in drawn)]
    yield from standing_lines(standings_of(drawn, {each.label: (each.key,) for each in shown}))


def grid_object(points: Sequence[GridPoint], key: str) -> list[Json]:
    """Return each comparison as one of its own has it in JSON, with the name of its picture under ``key``."""
    return [{key: point.name, **comparison_object(point.found)} for point in points]
