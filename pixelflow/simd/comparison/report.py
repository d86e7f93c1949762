"""Machines side by side as a report: what each took, stages, instructions, bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pixelflow.simd.comparison.fairness import fairness_object, fairness_parts
from pixelflow.simd.comparison.quantities import QUANTITIES
from pixelflow.simd.comparison.scorecard import marked, marks_line, scorecard_object, scorecard_parts
from pixelflow.simd.drawing import EQUAL, Comparison, DrawnFrame, free_object, free_standing
from pixelflow.simd.report import Column, Heading, Json, Part, Table, counted, listed, number, shares, verbatim

__all__ = [
    "Beside",
    "beside_parts",
    "comparison_object",
    "comparison_parts",
    "different",
    "refusals",
    "side_object",
    "side_tables",
    "verdict",
]


_LABEL = 16
"""Columns that labels of figures take at least."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What machines did besides the picture, to stand in its comparison."""

    title: str
    """Of its section."""
    parts: Sequence[Part]
    data: dict[str, Json]
    times: Sequence[tuple[str, str, float]]
    """For the figure: the machine, what it did, milliseconds."""


def verdict(found: Comparison) -> str:
    """Return how the pictures stand to the one of 64-bit integers; who is left out has pixels that differ."""
    if found.wrong:
        return "PIXELS DIFFER"
    equal = [side.machine for side in found.sides if side.picture.equals(found.expected)]
    return f"{EQUAL} to that of 64-bit integers on {listed(equal)}" if equal else "no picture has every pixel equal"


def different(found: Comparison) -> Iterator[str]:
    """Yield of each machine whose picture is another one how many pixels differ, and why they may."""
    for side, apart in zip(found.sides, found.differences, strict=True):
        if apart.colours or apart.depths:
            yield f"{side.machine}: {apart.text}"


def comparison_parts(found: Comparison) -> Iterator[Part]:
    """Yield what holds for all, then stages, instructions and bytes of each, section by section."""
    yield Heading("What the picture took")
    drawers = listed([side.whole for side in found.sides])
    yield f"drawn by {drawers}; a part, below, is one of these {_kinds(found.sides)}"
    yield f"{counted(found.triangles, 'triangle')}, {found.dropped:,} without an area; {verdict(found)}"
    yield from different(found)
    yield from refusals(found.refused)
    yield from ("", _table(found.sides), marks_line(found.sides))
    yield from _section("What the figures are to be taken for", scorecard_parts(found.sides))
    tables = [table for each in zip(*map(side_tables, found.sides), strict=True) for table in each]
    yield from _section("Where the cycles went", [*tables[:1], *(part for each in tables[1:] for part in ("", each))])
    yield from _section("Left out of the cycles", [line for side in found.sides for line in _left_out(side)])
    facts = [f"{side.machine}, {name}: {text}." for side in found.sides for name, text in side.facts]
    yield from _section("Facts", facts)
    if len(found.sides) > 1:
        yield from _section("What is fair and what is not", fairness_parts(found))


def beside_parts(besides: Iterable[Beside | None]) -> Iterator[Part]:
    """Yield what stands beside a comparison, a section each."""
    for each in besides:
        if each is not None:
            yield from _section(each.title, each.parts)


def _section(title: str, parts: Iterable[Part]) -> Iterator[Part]:
    """Yield parts under a heading; nothing where there are none."""
    found = list(parts)
    if found:
        yield from ("", Heading(title))
        yield from found


def _kinds(sides: Sequence[DrawnFrame]) -> str:
    return listed([f"{kind}s" for kind in dict.fromkeys(side.part for side in sides)], "or")


def _table(sides: Sequence[DrawnFrame]) -> Table:
    """Return the figures of all machines beside each other, after each a letter for its standing."""
    rows: list[list[Json]] = []
    for each in QUANTITIES:
        cells = [marked(each.kind(each.value(side)), side, each.key, sides) for side in sides]
        rows.append([each.label, *cells])
    for clock in _clocks(sides):
        times = [marked(number(side.milliseconds_at(clock)), side, "milliseconds_at", sides) for side in sides]
        rows.append([f"at {clock:g} MHz each, ms", *times])
    return Table([Column("", least=_LABEL), *(Column(side.machine, verbatim) for side in sides)], rows)


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


def _left_out(side: DrawnFrame) -> Iterator[str]:
    """Yield what a machine's account leaves out, with cycles and their standing where a formula bounds them."""
    if side.free:
        yield f"{side.machine}: left out of its cycles (not executed)"
    for each in side.free:
        size = "" if each.cycles is None else f" {each.cycles:,} cycles ({free_standing(each)})"
        yield f"  {each.what}: {each.bound.value}{size}; {each.why}."


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
                **scorecard_object(side, found.sides),
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
        "left_out": [free_object(each) for each in side.free],
    }
