"""Scorecard of a comparison: what each figure of each machine is to be taken for, and on what it rests.

A machine declares what the figures of its account rest on (`Ground`); what is made of several rests on all of them.
Standings are worked out from that and from the constants, and stand nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from pixelflow.simd.comparison.quantities import QUANTITIES
from pixelflow.simd.drawing import DrawnFrame, FigureStanding, Ground, Origin, ground_of
from pixelflow.simd.report import Column, Json, Part, Table
from pixelflow.simd.units import Standing

__all__ = ["FIGURES", "formula_amount", "ground_of_figure", "scorecard_object", "scorecard_parts", "standing_of"]

FIGURES: Mapping[str, str] = {
    **{each.key: each.label for each in QUANTITIES},
    "milliseconds_at": "time at another's clock",
    "stages": "cycles by what they go on",
    "picture": "the picture",
    "left_out": "left out of the cycles",
}
"""Every figure that a comparison has of a machine: key and label."""

_UNCOUNTED = "-"
_LEGEND = {
    FigureStanding.EXECUTED: "counted over what was carried out, at rates that have a source",
    FigureStanding.FITTED: "the same, at rates chosen so that published figures come out",
    FigureStanding.INVENTED: "a rate or a size takes part that no source gives, or that somebody has set",
    FigureStanding.FORMULA: "worked out, not carried out",
    FigureStanding.PART: "in part worked out, the rest carried out",
    FigureStanding.GIVEN: "a size or a clock that has a source",
    FigureStanding.UNSAID: "the machine does not declare it",
}


def ground_of_figure(side: DrawnFrame, key: str) -> Ground | None:
    """Return what a figure rests on; None where the machine does not count it."""
    if key == "left_out":
        return Ground.formula("as the table of what is left out says it") if side.free else None
    if key == "milliseconds_at":
        return ground_of(side.grounds, ("cycles",))
    for each in QUANTITIES:
        if each.key == key:
            return None if each.value(side) is None else ground_of(side.grounds, each.of(side))
    return ground_of(side.grounds, (key,))


def standing_of(side: DrawnFrame, key: str) -> FigureStanding | None:
    """Return the one standing of a figure; None where the machine does not count it."""
    ground = ground_of_figure(side, key)
    return None if ground is None else ground.standing


def scorecard_parts(sides: Sequence[DrawnFrame]) -> Iterator[Part]:
    """Yield the table of standings, what its words mean, and what each machine's figures rest on."""
    found = {key: [standing_of(side, key) for side in sides] for key in FIGURES}
    rows = [(FIGURES[key], *(each or _UNCOUNTED for each in standings)) for key, standings in found.items()]
    columns = [Column("scorecard", fixed=True), *(Column(side.machine, fixed=True) for side in sides)]
    yield Table(columns, rows)
    seen = {each for standings in found.values() for each in standings}
    words = [f"{word}: {text}" for word, text in _LEGEND.items() if word in seen]
    yield "; ".join([*words, *([f"{_UNCOUNTED}: not counted"] if None in seen else [])]) + "."
    for side in sides:
        whole = _whole(side)
        for standing in (Standing.INVENTED, Standing.FITTED):
            if rests := whole.resting_on(standing):
                yield f"{side.machine}, {standing}: {', '.join(each.key for each in rests)}."
        if whole.formulas:
            yield f"{side.machine}, formula: {'; '.join([*whole.formulas, *_shares(side)])}."


def _whole(side: DrawnFrame) -> Ground:
    """Return what all figures of a machine rest on together."""
    return reduce(Ground.__or__, side.grounds.values(), Ground())


def _shares(side: DrawnFrame) -> Iterator[str]:
    """Yield how much of cycles and bytes is of formulas, where not all of them are."""
    for of, values, unit in (("stages", side.stages, "cycles"), ("traffic", side.traffic, "bytes")):
        total, some = sum(values.values()), formula_amount(side, of, values)
        if 0 < some < total:
            yield f"{some:,} of {total:,} {unit} {side.whose_stages if of == 'stages' else 'moved'}"


def formula_amount(side: DrawnFrame, of: str, values: Mapping[str, int]) -> int:
    """Return how much of cycles by stage (``stages``) or of bytes (``traffic``) nothing carried out."""
    return sum(value for name, value in values.items() if Origin.FORMULA in _ground_of_part(side, of, name).origins)


def _ground_of_part(side: DrawnFrame, of: str, name: str) -> Ground:
    return side.grounds.get(f"{of}: {name}", side.grounds.get(of, Ground()))


def scorecard_object(side: DrawnFrame) -> dict[str, Json]:
    """Return standings, and what they rest on, as JSON holds them; parts of bytes and of cycles have their own."""
    found: dict[str, Json] = {key: _object(ground_of_figure(side, key)) for key in FIGURES}
    parts: dict[str, Json] = {}
    for of, values in (("stages", side.stages), ("traffic", side.traffic)):
        for name in values:
            parts[f"{'bytes' if of == 'traffic' else of}: {name}"] = _object(_ground_of_part(side, of, name))
    constants: dict[str, Json] = {
        each.key: {
            "value": each.value,
            "unit": each.unit,
            "standing": each.standing.value,
            "source": each.source,
            "text": each.text,
        }
        for each in _whole(side).constants
    }
    return {"scorecard": found, "scorecard_of_parts": parts, "constants": constants}


def _object(ground: Ground | None) -> Json:
    if ground is None:
        return {"standing": "not counted"}
    return {
        "standing": ground.standing.value,
        "origins": sorted(each.value for each in ground.origins),
        "invented": [each.key for each in ground.resting_on(Standing.INVENTED)],
        "fitted": [each.key for each in ground.resting_on(Standing.FITTED)],
        "formulas": list(ground.formulas),
    }
