"""Machines side by side as a report: what each took, stages, instructions, bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pixelflow.simd.comparison.fairness import fairness_object, fairness_parts
from pixelflow.simd.comparison.quantities import QUANTITIES
from pixelflow.simd.comparison.scorecard import scorecard_object, scorecard_parts
from pixelflow.simd.drawing import Comparison, DrawnFrame
from pixelflow.simd.report import Column, Json, Part, Table, counted, number, shares, verbatim

__all__ = [
    "Beside",
    "all_of",
    "comparison_object",
    "comparison_parts",
    "refusals",
    "side_object",
    "side_tables",
    "verdict",
]


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
    yield from refusals(found.refused)
    rows = [(each.label, *(each.kind(each.value(side)) for side in found.sides)) for each in QUANTITIES]
    for clock in _clocks(found.sides):
        rows.append((f"at {clock:g} MHz each, ms", *(number(side.milliseconds_at(clock)) for side in found.sides)))
    titles = (f"{side.machine} x{side.parts}" for side in found.sides)
    yield from ("", Table([Column("", fixed=True), *(Column(title, verbatim) for title in titles)], rows))
    yield from ("", *scorecard_parts(found.sides))
    for tables in zip(*map(side_tables, found.sides), strict=True):
        for table in tables:
            yield from ("", table)
    for side in found.sides:
        if side.free:
            yield from ("", _left_out(side))
    yield from ("", *(f"{side.machine}, {name}: {text}." for side in found.sides for name, text in side.facts))
    if len(found.sides) > 1:
        yield from ("", *fairness_parts(found))


def refusals(refused: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield who does not draw the scene, and why."""
    yield from (f"{machine} does not draw it: {reason}" for machine, reason in refused)


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
                "depths_different": apart.depths,
                "largest_difference": apart.largest,
                "why_different": apart.reason or None,
                **scorecard_object(side),
            }
            for side, apart in zip(found.sides, found.differences, strict=True)
        ],
        "refused": [{"machine": machine, "reason": reason} for machine, reason in found.refused],
        "fairness": fairness_object(found),
    }


def side_object(side: DrawnFrame) -> dict[str, Json]:
    """Return one machine's account as JSON holds it."""
    return {
        **{each.key: each.value(side) for each in QUANTITIES if each.single},
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
