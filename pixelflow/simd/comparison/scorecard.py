"""Scorecard of a comparison: what each figure of each machine is to be taken for, and on what it rests.

A machine declares what the figures of its account rest on (`Ground`); what is made of several rests on all of them.
Standings are worked out from that and from the constants, and stand nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from pixelflow.simd.comparison.quantities import QUANTITIES
from pixelflow.simd.drawing import DrawnFrame, FigureStanding, Ground, Origin, ground_of
from pixelflow.simd.report import Column, Json, Part, Table
from pixelflow.simd.units import Standing

__all__ = [
    "FIGURES",
    "MARKS",
    "formula_amount",
    "ground_of_figure",
    "marked",
    "marks_line",
    "scorecard_object",
    "scorecard_parts",
    "standing_lines",
    "standing_of",
    "standings_of",
]

FIGURES: Mapping[str, str] = {
    **{each.key: each.label for each in QUANTITIES},
    "milliseconds_at": "time at another's clock",
    "stages": "cycles by what they go on",
    "picture": "the picture",
    "left_out": "left out of the cycles",
}
"""Every figure that a comparison has of a machine: key and label."""

_UNCOUNTED, _NOT_COUNTED = "-", "not counted"
MARKS = {
    FigureStanding.EXECUTED: "e", FigureStanding.FITTED: "f", FigureStanding.INVENTED: "i", FigureStanding.FORMULA: "w",
    FigureStanding.PART: "p", FigureStanding.GIVEN: "g", FigureStanding.UNSAID: "?",
}  # fmt: skip
"""A letter for each standing, to stand after a figure: *w* for what is worked out, by a formula."""
_MARKED = {FigureStanding.FORMULA: "worked out by a formula", FigureStanding.PART: "in part by a formula"}
_LEGEND = {
    FigureStanding.EXECUTED: "counted over what was carried out, at rates that have a source",
    FigureStanding.FITTED: "the same, at rates chosen so that published figures come out",
    FigureStanding.INVENTED: "a rate or a size takes part that no source gives, or that somebody has set",
    FigureStanding.FORMULA: "worked out, not carried out",
    FigureStanding.PART: "in part worked out, the rest carried out",
    FigureStanding.GIVEN: "a size or a clock that has a source",
    FigureStanding.UNSAID: "the machine does not declare it",
}


def ground_of_figure(side: DrawnFrame, key: str, sides: Sequence[DrawnFrame] = ()) -> Ground | None:
    """Return what a figure rests on; None where the machine does not count it.

    The time at another's clock rests on the clocks of all ``sides`` that stand beside each other.
    """
    if key == "left_out":
        known = [each.ground for each in side.free if each.ground is not None]
        return reduce(Ground.__or__, known) if known else None
    if key == "milliseconds_at":
        return _at_clocks(side, sides)
    for each in QUANTITIES:
        if each.key == key:
            return None if each.value(side) is None else ground_of(side.grounds, each.of(side))
    return ground_of(side.grounds, (key,))


def _at_clocks(side: DrawnFrame, sides: Sequence[DrawnFrame]) -> Ground | None:
    """Return what a machine's cycles at every machine's clock rest on; None where all have the same one."""
    if len({each.clock_mhz for each in sides}) < 2:
        return None
    found = {"cycles": ground_of(side.grounds, ("cycles",))}
    for each in sides:
        clock = ground_of(each.grounds, ("clock_mhz",))
        constants = tuple(replace(constant, key=f"{each.machine}: {constant.key}") for constant in clock.constants)
        found[each.machine] = replace(clock, constants=constants)
    return reduce(Ground.__or__, found.values()) if all(each.origins for each in found.values()) else Ground()


def standing_of(side: DrawnFrame, key: str, sides: Sequence[DrawnFrame] = ()) -> FigureStanding | None:
    """Return the one standing of a figure, the weakest of all that it is made of; None where it is not counted."""
    ground = ground_of_figure(side, key, sides)
    return None if ground is None else ground.standing


def marked(text: str, side: DrawnFrame, key: str, sides: Sequence[DrawnFrame] = ()) -> str:
    """Return a figure with the letter of its standing, the weakest of all that it is made of."""
    standing = standing_of(side, key, sides)
    return f"{text}  " if standing is None else f"{text} {MARKS[standing]}"


def marks_line(sides: Sequence[DrawnFrame]) -> str:
    """Return what the letters after the figures of the first table mean, of standings that it has."""
    keys = [*(each.key for each in QUANTITIES), "milliseconds_at"]
    seen = {standing_of(side, key, sides) for side in sides for key in keys}
    words = [f"{mark} {_MARKED.get(standing, standing.value)}" for standing, mark in MARKS.items() if standing in seen]
    return (
        f"After a figure stands what it is to be taken for, the weakest of all that it is made of: {', '.join(words)}."
    )


def standings_of(
    drawn: Iterable[tuple[str, DrawnFrame]], figures: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, str]]:
    """Return the standings of a table's figures, by machine and heading; each is made of some of `FIGURES`.

    A machine that comes several times, for several pictures, has every standing that its figure has in one of them.
    """
    found: dict[str, dict[str, dict[str, None]]] = {}
    for name, side in drawn:
        for label, keys in figures.items():
            grounds = [ground_of_figure(side, key) for key in keys]
            known = [each for each in grounds if each is not None]
            said = all(each.origins for each in known)
            whole = reduce(Ground.__or__, known if said else [Ground()]) if len(known) == len(grounds) else None
            standing = _NOT_COUNTED if whole is None else whole.standing.value
            found.setdefault(name, {}).setdefault(label, {})[standing] = None
    return {
        name: {label: " or ".join(sorted(standings)) for label, standings in each.items()}
        for name, each in found.items()
    }


def standing_lines(standings: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield a line for each machine that says what a table's figures are to be taken for."""
    for name, figures in standings.items():
        groups: dict[str, list[str]] = {}
        for label, standing in figures.items():
            groups.setdefault(standing, []).append(label)
        yield f"{name}: " + "; ".join(f"{standing}: {', '.join(labels)}" for standing, labels in groups.items())


def scorecard_parts(sides: Sequence[DrawnFrame]) -> Iterator[Part]:
    """Yield the table of standings, what its words mean, and what each machine's figures rest on."""
    found = {key: [standing_of(side, key, sides) for side in sides] for key in FIGURES}
    if not any(found["milliseconds_at"]):
        del found["milliseconds_at"]  # all have the same clock: there is no such figure
    rows = [(FIGURES[key], *(each or _UNCOUNTED for each in standings)) for key, standings in found.items()]
    columns = [Column("scorecard", fixed=True), *(Column(side.machine, fixed=True) for side in sides)]
    yield Table(columns, rows)
    seen = {each for standings in found.values() for each in standings}
    words = [f"{word}: {text}" for word, text in _LEGEND.items() if word in seen]
    yield "; ".join([*words, *([f"{_UNCOUNTED}: {_NOT_COUNTED}"] if None in seen else [])]) + "."
    for side in sides:
        whole = _whole(side)
        for standing in (Standing.INVENTED, Standing.FITTED):
            if rests := whole.resting_on(standing):
                yield f"{side.machine}, {standing}: {', '.join(each.key for each in rests)}."
        if whole.formulas:
            yield f"{side.machine}, formula: {'; '.join([*whole.formulas, *_shares(side)])}."


def _whole(side: DrawnFrame) -> Ground:
    """Return what all figures of a machine rest on together, what is left out of its cycles excepted."""
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


def scorecard_object(side: DrawnFrame, sides: Sequence[DrawnFrame] = ()) -> dict[str, Json]:
    """Return standings, and what they rest on, as JSON holds them; parts of bytes and of cycles have their own."""
    found: dict[str, Json] = {key: _object(ground_of_figure(side, key, sides)) for key in FIGURES}
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
        for each in (_whole(side) | (ground_of_figure(side, "left_out") or Ground())).constants
    }
    return {"scorecard": found, "scorecard_of_parts": parts, "constants": constants}


def _object(ground: Ground | None) -> Json:
    if ground is None:
        return {"standing": _NOT_COUNTED}
    return {
        "standing": ground.standing.value,
        "origins": sorted(each.value for each in ground.origins),
        "invented": [each.key for each in ground.resting_on(Standing.INVENTED)],
        "fitted": [each.key for each in ground.resting_on(Standing.FITTED)],
        "formulas": list(ground.formulas),
    }
