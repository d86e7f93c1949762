"""Fairness of a comparison: years, processes and areas of the machines, and which work is counted on which side."""

from __future__ import annotations

from collections.abc import Iterator

from pixelflow.simd.drawing import Comparison, DrawnFrame, HowCounted, Work
from pixelflow.simd.report import Column, Json, Part, Table
from pixelflow.simd.units import Constant

__all__ = ["fairness_object", "fairness_parts", "uneven"]

_BUILT = {"year": "year", "process": "process, nm", "area": "area of a chip, mm2"}
_UNKNOWN = "not known"
_UNSAID = "not said"
_LEGEND = {
    HowCounted.UNITS: "fixed functions whose time is simulated",
    HowCounted.FREE: "it takes no cycles here, or somebody else does it",
    HowCounted.NONE: "there is no such work on the machine",
}


def uneven(found: Comparison) -> dict[Work, tuple[list[str], list[str]]]:
    """Return the work that some machines' cycles have, wholly, and others' do not: who has it, and who has not."""
    rows = {}
    for work in Work:
        if work in found.asked:
            has, lacks = [], []
            for side in found.sides:
                how = side.counted.get(work)
                if how in (HowCounted.PROGRAM, HowCounted.UNITS):
                    has.append(side.machine)
                elif how in (HowCounted.FREE, HowCounted.PART, HowCounted.FORMULA):
                    lacks.append(side.machine)
            if has and lacks:
                rows[work] = (has, lacks)
    return rows


def _fair(found: Comparison) -> Iterator[str]:
    yield (
        f"Fair: all take the same {found.triangles:,} triangles, on the screen and in integers, and every pixel of "
        "each picture is compared with that of 64-bit integers."
    )
    yield "Clocks can be exchanged (rows above); what a clock costs in area and power cannot."


def _unfair(found: Comparison) -> Iterator[str]:
    built = {side.machine: {each.key: each for each in found.built.get(side.machine, ())} for side in found.sides}
    years = [int(each["year"].value) for each in built.values() if "year" in each]
    if len(set(years)) > 1:
        yield f"Not fair: {max(years) - min(years)} years lie between the machines ({min(years)} to {max(years)})."
    without = [name for name, each in built.items() if "area" not in each]
    if without:
        yield (
            f"Not fair: no source here gives the area of {_list(without)}, so nothing is by area; cycles x lane bits "
            "counts the bits of ALUs alone, without memories, control and fixed units."
        )
    parts = {(side.parts, side.lanes) for side in found.sides}
    if len(parts) > 1:
        text = ", ".join(f"{side.machine} {side.parts} of {side.lanes // side.parts:,} lanes" for side in found.sides)
        yield f"Not fair: parts are no unit that machines share ({text})."
    rows = uneven(found)
    if rows:
        yield f"Not fair: in the cycles of some, and not or not wholly of others, are {_list([w.value for w in rows])}."


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def fairness_parts(found: Comparison) -> Iterator[Part]:
    """Yield what the machines were, whose cycles have which work, and what follows for who compares."""
    names = [side.machine for side in found.sides]
    columns = [Column("modelled machine", fixed=True), *(Column(name, fixed=True) for name in names)]
    rows = [(label, *(_shown(_built(found, side, key)) for side in found.sides)) for key, label in _BUILT.items()]
    yield Table(columns, rows)
    for side in found.sides:
        for each in found.built.get(side.machine, ()):
            about = f" {each.text}" if each.text else ""
            yield f"{side.machine}, {each.key} {each.shown}{about}: {each.source} ({each.standing})."
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


def _built(found: Comparison, side: DrawnFrame, key: str) -> Constant | None:
    return next((each for each in found.built.get(side.machine, ()) if each.key == key), None)


def _shown(constant: Constant | None) -> str:
    if constant is None:
        return _UNKNOWN
    return str(constant.value)


def fairness_object(found: Comparison) -> dict[str, Json]:
    """Return the same as JSON holds it."""
    return {
        "machines": {
            side.machine: {
                "built": {
                    each.key: {
                        "value": each.value,
                        "unit": each.unit,
                        "standing": each.standing.value,
                        "source": each.source,
                        "text": each.text,
                    }
                    for each in found.built.get(side.machine, ())
                },
                "work": {
                    each.value: side.counted[each].value for each in Work if each in found.asked & set(side.counted)
                },
            }
            for side in found.sides
        },
        "uneven": {work.value: {"counted": has, "not": lacks} for work, (has, lacks) in uneven(found).items()},
        "fair": list(_fair(found)),
        "not_fair": list(_unfair(found)),
    }
