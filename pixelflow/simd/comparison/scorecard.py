"""Scorecard of a comparison: what each figure of each machine is to be taken for, and on what it rests.

A machine declares what the figures of its account rest on (`Ground`); what is made of several rests on all of them.
Standings are worked out from that and from the constants, and stand nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from pixelflow.simd.drawing import Comparison, DrawnFrame, FigureStanding, Ground, HowCounted, Origin, Work, ground_of
from pixelflow.simd.report import Column, Json, Part, Table, counted, listed, number, percent
from pixelflow.simd.units import Constant, Standing

# Quantities that stand beside each other: how each is written, where it is from, and of what figures it is made.


Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One row of a comparison."""

    label: str
    key: str
    value: Callable[[DrawnFrame], float | None]
    of: Callable[[DrawnFrame], Names]
    """The figures of an account that it is made of."""
    kind: Callable[..., str] = number
    single: bool = True
    """Whether JSON has it as one number under the key; else the account has its parts there."""


def _of(*names: str) -> Callable[[DrawnFrame], Names]:
    return lambda side: names


def _next(side: DrawnFrame) -> Names:
    return ("cycles",) if side.interval is None else ("interval",)


QUANTITIES = (
    Quantity("clock, MHz", "clock_mhz", lambda side: side.clock_mhz, _of("clock_mhz")),
    Quantity("lanes", "lanes", lambda side: side.lanes, _of("lanes")),
    Quantity("bits of a lane", "lane_bits", lambda side: side.lane_bits, _of("lane_bits")),
    Quantity("cycles for the picture", "cycles", lambda side: side.cycles, _of("cycles")),
    Quantity("time for the picture, ms", "milliseconds", lambda side: side.milliseconds, _of("cycles", "clock_mhz")),
    Quantity("cycles to the next picture", "next_after", lambda side: side.next_after, _next),
    Quantity("busy cycles of all parts", "busy_cycles", lambda side: side.work, _of("work")),
    Quantity("lost to imbalance", "imbalance", lambda side: side.imbalance, _of("cycles"), percent),
    Quantity("waiting besides", "waiting", lambda side: side.waiting, _of("work", "cycles"), percent),
    Quantity("cycles x lanes, millions", "lane_cycles", lambda side: side.lane_cycles / 1e6, _of("work", "lanes"),
        single=False),
    Quantity("cycles x lane bits, millions", "lane_bit_cycles",
        lambda side: side.lane_cycles * side.lane_bits / 1e6, _of("work", "lanes", "lane_bits"), single=False),
    Quantity("lanes of a block covered", "covered_lanes", lambda side: side.covered_lanes, _of("covered_lanes"),
        percent),
    Quantity("lanes enabled, all cycles", "enabled_lanes", lambda side: side.enabled_lanes, _of("enabled_lanes"),
        percent),
    Quantity("instructions", "instructions", lambda side: sum(side.mix.values()), _of("mix"), single=False),
    Quantity("bytes moved", "bytes", lambda side: sum(side.traffic.values()), _of("traffic"), single=False),
)  # fmt: skip


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


# Fairness of a comparison: years, clocks, processes and areas of the machines, and which work is counted where.


_BUILT = {"year": "year", "clock": "clock, MHz", "process": "process, nm", "area": "area of a chip, mm2"}
_UNKNOWN = "not known"
_UNSAID = "not said"
_FAIRNESS = {
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
    yield "; ".join(f"{how}: {text}" for how, text in _FAIRNESS.items() if how in seen) + "."
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
