"""Machines side by side as a report: what each took, stages, instructions, bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pixelflow.simd.drawing import Comparison, DrawnFrame
from pixelflow.simd.report import Column, Json, Part, Table, counted, number, percent, shares, verbatim

__all__ = [
    "Beside",
    "all_of",
    "comparison_object",
    "comparison_parts",
    "side_object",
    "side_tables",
    "verdict",
]

_FIGURES: tuple[tuple[str, str, Callable[..., str], Callable[[DrawnFrame], float | None]], ...] = (
    ("clock, MHz", "clock_mhz", number, lambda side: side.clock_mhz),
    ("lanes", "lanes", number, lambda side: side.lanes),
    ("cycles for the picture (latency)", "cycles", number, lambda side: side.cycles),
    ("time for the picture, ms", "milliseconds", number, lambda side: side.milliseconds),
    ("busy cycles of all parts", "busy_cycles", number, lambda side: side.work),
    ("cycles lost to imbalance", "idle", percent, lambda side: side.idle),
    ("cycles to the next one (overlapped)", "next_after", number, lambda side: side.next_after),
    ("cycles x lanes, millions", "", number, lambda side: side.lane_cycles / 1e6),
    ("bits of a lane", "lane_bits", number, lambda side: side.lane_bits),
    ("cycles x lane bits, millions", "", number, lambda side: side.lane_cycles * side.lane_bits / 1e6),
    ("lanes of a block covered", "covered_lanes", percent, lambda side: side.covered_lanes),
    ("lanes enabled, all cycles", "enabled_lanes", percent, lambda side: side.enabled_lanes),
    ("instructions", "", number, lambda side: sum(side.mix.values())),
    ("bytes moved", "", number, lambda side: sum(side.traffic.values())),
)
"""What stands beside each other: label, key in JSON, how it is written, and where it is from."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What machines did besides the picture, to stand in its comparison."""

    parts: Sequence[Part]
    data: dict[str, Json]
    times: Sequence[tuple[str, str, float]]
    """For the figure: the machine, what it did, milliseconds."""


def all_of(sides: Sequence[DrawnFrame]) -> str:
    """Return how prose speaks of all of them."""
    return {1: "it", 2: "both"}.get(len(sides), "all")


def verdict(found: Comparison) -> str:
    """Return how the pictures stand to the one of 64-bit integers."""
    if found.wrong:
        return "PICTURES DIFFER"
    exact = [side for side, apart in zip(found.sides, found.differences, strict=True) if not apart.reason]
    if len(exact) == len(found.sides):
        return f"every pixel of {all_of(exact)} is the one of 64-bit integers"
    names = " and ".join(side.machine for side in exact)
    return (
        f"every pixel of {names} is the one of 64-bit integers" if exact else "pictures by an arithmetic of their own"
    )


def comparison_parts(found: Comparison) -> Iterator[Part]:
    """Yield what holds for all, then stages, instructions and bytes of each."""
    yield f"{counted(found.triangles, 'triangle')}, {found.dropped:,} without an area; {verdict(found)}"
    for side, apart in zip(found.sides, found.differences, strict=True):
        if not found.wrong and (apart.colours or apart.depths):
            yield f"{side.machine}: {apart.text}"
    rows = [(label, *(kind(of(side)) for side in found.sides)) for label, _, kind, of in _FIGURES]
    for clock in _clocks(found.sides):
        rows.append((f"at {clock:g} MHz each, ms", *(number(side.milliseconds_at(clock)) for side in found.sides)))
    titles = (f"{side.machine} x{side.parts}" for side in found.sides)
    yield from ("", Table([Column("", fixed=True), *(Column(title, verbatim) for title in titles)], rows))
    for tables in zip(*map(side_tables, found.sides), strict=True):
        for table in tables:
            yield from ("", table)
    for side in found.sides:
        if side.free:
            yield from ("", _left_out(side))
    yield from ("", *(f"{side.machine}, {name}: {text}." for side in found.sides for name, text in side.facts))


def _clocks(sides: Sequence[DrawnFrame]) -> list[float]:
    """Return the clocks that all machines are given in turn; none where they have the same."""
    clocks = sorted({side.clock_mhz for side in sides})
    return clocks if len(clocks) > 1 else []


def side_tables(side: DrawnFrame) -> Iterator[Table]:
    """Yield stages, instructions and bytes of one machine with their shares."""
    for title, values, unit in (
        (f"cycles {side.whose_stages}", side.stages, "cycles"),
        ("instructions", side.mix, "executed"),
        ("bytes moved", side.traffic, "bytes"),
    ):
        yield shares(values, unit, "what", foot="= all", title=f"{side.machine}: {title}")


def _left_out(side: DrawnFrame) -> Table:
    """Return what a machine's account leaves out, with cycles by formula where there are some."""
    columns = (
        Column("what", key="what", fixed=True), Column("bound", key="bound", fixed=True),
        Column("cycles", lambda count: "-" if count is None else number(count), "cycles"),
        Column("why", key="why"),
    )  # fmt: skip
    rows = [(each.what, each.bound.value, each.cycles, each.why) for each in side.free]
    return Table(columns, rows, f"{side.machine}: left out of its cycles (formulas, not executed)")


def comparison_object(found: Comparison) -> dict[str, Json]:
    """Return a comparison as JSON holds it."""
    return {
        "triangles": found.triangles,
        "without_area": found.dropped,
        "identical": found.identical,
        "machines": [
            {
                **side_object(side),
                "milliseconds_at": {f"{clock:g}": side.milliseconds_at(clock) for clock in _clocks(found.sides)},
                "pixels_different": apart.colours,
                "largest_difference": apart.largest,
            }
            for side, apart in zip(found.sides, found.differences, strict=True)
        ],
    }


def side_object(side: DrawnFrame) -> dict[str, Json]:
    """Return one machine's account as JSON holds it."""
    return {
        **{key: of(side) for _, key, _, of in _FIGURES if key},
        "machine": side.machine,
        "parts": side.parts,
        "stages": side.stages,
        "stages_are": side.whose_stages,
        "instructions": side.mix,
        "bytes": side.traffic,
        "facts": [{"name": name, "text": text} for name, text in side.facts],
        "left_out": [
            {"what": each.what, "bound": each.bound.value, "cycles": each.cycles, "why": each.why} for each in side.free
        ],
    }
