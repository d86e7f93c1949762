"""Fairness of a comparison: years, clocks, processes and areas of the machines, and which work is counted where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pixelflow.simd.drawing import Comparison, DrawnFrame, Ground, HowCounted, Work
from pixelflow.simd.report import Column, Json, Part, Table, counted, listed
from pixelflow.simd.units import Constant

__all__ = ["Unevenness", "fairness_object", "fairness_parts", "uneven"]

_BUILT = {"year": "year", "clock": "clock, MHz", "process": "process, nm", "area": "area of a chip, mm2"}
_UNKNOWN = "not known"
_UNSAID = "not said"
_LEGEND = {
    HowCounted.UNITS: "fixed functions whose time is simulated",
    HowCounted.FREE: "it takes no cycles here, or somebody else does it",
    HowCounted.NONE: "there is no such work on the machine",
}


@dataclass(frozen=True, slots=True)
class Unevenness:
    """Who has a piece of work in the cycles, wholly carried out, who in part or by a formula, and who has not."""

    counted: list[str]
    partly: list[str]
    free: list[str]

    @property
    def uneven(self) -> bool:
        """Whether machines differ in it; those that have no such work are not asked."""
        return sum(map(bool, (self.counted, self.partly, self.free))) > 1


def uneven(found: Comparison) -> dict[Work, Unevenness]:
    """Return the work that machines' cycles have unevenly."""
    rows = {work: Unevenness([], [], []) for work in Work if work in found.asked}
    for work, row in rows.items():
        for side in found.sides:
            match side.counted.get(work):
                case HowCounted.PROGRAM | HowCounted.UNITS:
                    row.counted.append(side.machine)
                case HowCounted.PART | HowCounted.FORMULA:
                    row.partly.append(side.machine)
                case HowCounted.FREE:
                    row.free.append(side.machine)
    return {work: row for work, row in rows.items() if row.uneven}


def _fair(found: Comparison) -> Iterator[str]:
    yield (
        f"Fair: all take the same {counted(found.triangles, 'triangle')}, on the screen and in integers, and "
        "every pixel of each picture is compared with that of 64-bit integers."
    )
    if len({side.clock_mhz for side in found.sides}) > 1:
        yield "Clocks can be exchanged (rows above); what a clock costs in area and power cannot."


def _unfair(found: Comparison) -> Iterator[str]:
    built = {side.machine: _about(found, side) for side in found.sides}
    years = [int(each["year"].value) for each in built.values() if "year" in each]
    if len(set(years)) > 1:
        yield f"Not fair: {max(years) - min(years)} years lie between the machines ({min(years)} to {max(years)})."
    clocks = [side.clock_mhz for side in found.sides]
    if len(set(clocks)) > 1:
        yield (
            f"Not fair: clocks lie between {min(clocks):,g} and {max(clocks):,g} MHz, and are no figures of one kind: "
            "what each one is stands above."
        )
    yield f"Not fair: nothing is by area: {'; '.join(_areas(built))}."
    parts = {(side.parts, side.lanes) for side in found.sides}
    if len(parts) > 1:
        text = ", ".join(f"{side.whole} of {side.lanes // side.parts:,} lanes" for side in found.sides)
        yield f"Not fair: parts are no unit that machines share ({text})."
    rows = uneven(found)
    if rows:
        yield (
            f"Not fair: in the cycles of some, and not or not wholly of others, are {listed([w.value for w in rows])}; "
            "how much it is, where that can be bounded, stands above (left out)."
        )


def _areas(built: dict[str, dict[str, Constant]]) -> Iterator[str]:
    """Yield what stands in the way of figures by area."""
    known = [name for name, each in built.items() if "area" in each and each["area"].unit]
    never = [name for name, each in built.items() if "area" in each and not each["area"].unit]
    unknown = [name for name, each in built.items() if "area" not in each]
    if known:
        yield f"that of {listed(known)} is of a whole chip, of which what is modelled is a part"
    if unknown:
        yield f"no source here gives that of {listed(unknown)}"
    if never:
        yield f"of {listed(never)} there is no chip"
    yield "cycles x lane bits counts the bits of ALUs alone, without memories, control and fixed units"


def fairness_parts(found: Comparison) -> Iterator[Part]:
    """Yield what the machines were, whose cycles have which work, and what follows for who compares."""
    names = [side.machine for side in found.sides]
    columns = [Column("modelled machine", fixed=True), *(Column(name, fixed=True) for name in names)]
    built = [_about(found, side) for side in found.sides]
    yield Table(columns, [(label, *(_shown(each.get(key)) for each in built)) for key, label in _BUILT.items()])
    for side, each in zip(found.sides, built, strict=True):
        for key, constant in each.items():
            about = f", {constant.text}" if constant.text else ""
            yield f"{side.machine}, {key} {constant.shown}{about}: {constant.source} ({constant.standing})."
    columns = [Column("work in the cycles", fixed=True), *(Column(name, fixed=True) for name in names)]
    work = [
        (each.value, *(side.counted.get(each, _UNSAID) for side in found.sides))
        for each in Work
        if each in found.asked
    ]  # fmt: skip
    yield from ("", Table(columns, work))
    seen = {side.counted.get(each) for side in found.sides for each in found.asked}
    yield "; ".join(f"{how}: {text}" for how, text in _LEGEND.items() if how in seen) + "."
    yield from _fair(found)
    yield from _unfair(found)


def _about(found: Comparison, side: DrawnFrame) -> dict[str, Constant]:
    """Return what is known of a modelled machine, its clock as the account has it among it."""
    known = {each.key: each for each in found.built.get(side.machine, ())}
    clock = side.grounds.get("clock_mhz", Ground()).constants
    if clock:
        known["clock"] = clock[0]
    return {key: known[key] for key in _BUILT if key in known}


def _shown(constant: Constant | None) -> str:
    if constant is None:
        return _UNKNOWN
    return str(constant.value) if constant.key == "year" or isinstance(constant.value, str) else f"{constant.value:,g}"


def fairness_object(found: Comparison) -> dict[str, Json]:
    """Return the same as JSON holds it."""
    return {
        "machines": {
            side.machine: {
                "built": {
                    key: {
                        "value": each.value,
                        "unit": each.unit,
                        "standing": each.standing.value,
                        "source": each.source,
                        "text": each.text,
                    }
                    for key, each in _about(found, side).items()
                },
                "work": {
                    each.value: side.counted[each].value for each in Work if each in found.asked & set(side.counted)
                },
            }
            for side in found.sides
        },
        "uneven": {
            work.value: {"counted": row.counted, "in_part": row.partly, "not": row.free}
            for work, row in uneven(found).items()
        },
        "fair": list(_fair(found)),
        "not_fair": list(_unfair(found)),
    }
