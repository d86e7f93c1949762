"""Figures of a comparison: one row each, with its provenance; standings; and fairness between the machines.

A machine declares what the figures of its account rest on (`Ground`); what is made of several rests on all of them.
Standings follow from that and from the constants, and are stored nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

from pixelflow.simd.drawing import (
    ALL_PARTS,
    Bound,
    Comparison,
    DrawnFrame,
    FigureStanding,
    Ground,
    HowCounted,
    Origin,
    Work,
    ground_of,
)
from pixelflow.simd.report import Column, Json, Part, Table, counted, listed, number, percent, verbatim
from pixelflow.simd.units import Constant, Standing

# Rows of a comparison: a figure of each machine, of what figures of its account it is made, and how it is written.


Sides = Sequence[DrawnFrame]
_EXECUTES = (HowCounted.PROGRAM, HowCounted.UNITS)


class Quantity(NamedTuple):
    """One row of a comparison."""

    label: str
    key: str
    value: Callable[[DrawnFrame, Sides], float | None]
    """The figure of one of the machines that are compared; None where it has no such figure."""
    ground: Callable[[DrawnFrame], Ground]
    kind: Callable[..., str] = number
    first: bool = False
    """True if the first screen shows it."""
    single: bool = True
    """True if JSON has it as one number under the key; else the account has its parts there."""
    alone: bool = True
    """True if a machine has it without others next to it."""


def _of(*names: str) -> Callable[[DrawnFrame], Ground]:
    return lambda side: ground_of(side.grounds, names)


def _next(side: DrawnFrame) -> Ground:
    return ground_of(side.grounds, ("cycles",) if side.interval is None else ("interval",))


def shared_work(sides: Sides) -> list[Work]:
    """Return the work that all machines' cycles have wholly, by executing it."""
    return [work for work in Work if all(side.counted.get(work) in _EXECUTES for side in sides)]


def same_work(side: DrawnFrame, sides: Sides) -> int | None:
    """Return a machine's cycles of the stages whose work all machines execute.

    None without a common stage, or where a stage of the machine does several kinds of work at once.
    """
    shared = shared_work(sides)
    if not shared or not side.stages.keys() <= side.works.keys():
        return None
    return sum(cycles for stage, cycles in side.stages.items() if side.works[stage] in shared)


def _fed(side: DrawnFrame, sides: Sides) -> int | None:
    """Return the most of the bounds below which the way of instructions lets no picture fall."""
    return max((each.cycles or 0 for each in side.free if each.bound is Bound.FLOOR and Work.FEED in each.of),
               default=None)  # fmt: skip


def _ground_of_feed(side: DrawnFrame) -> Ground:
    found = (each.ground or Ground() for each in side.free if each.bound is Bound.FLOOR and Work.FEED in each.of)
    return reduce(Ground.__or__, found, Ground())


QUANTITIES = (
    Quantity("clock, MHz", "clock_mhz", lambda side, _: side.clock_mhz, _of("clock_mhz")),
    Quantity("lanes", "lanes", lambda side, _: side.lanes, _of("lanes")),
    Quantity("bits of a lane", "lane_bits", lambda side, _: side.lane_bits, _of("lane_bits")),
    Quantity("cycles for the picture", "cycles", lambda side, _: side.cycles, _of("cycles"), first=True),
    Quantity("time for the picture, ms", "milliseconds", lambda side, _: side.milliseconds, _of("cycles", "clock_mhz"),
        first=True),
    Quantity("cycles to the next picture", "next_after", lambda side, _: side.next_after, _next, first=True),
    Quantity("at least, by instruction feed", "instruction_feed", _fed, _ground_of_feed, first=True, alone=False),
    Quantity("the same work only, cycles", "same_work", same_work, _of("stages"), first=True, alone=False),
    Quantity("busy cycles of all parts", "busy_cycles", lambda side, _: side.work, _of("work")),
    Quantity("lost to imbalance", "imbalance", lambda side, _: side.imbalance, _of("cycles"), percent),
    Quantity("waiting otherwise", "waiting", lambda side, _: side.waiting, _of("work", "cycles"), percent),
    Quantity("cycles x lanes, millions", "lane_cycles", lambda side, _: side.lane_cycles / 1e6, _of("work", "lanes"),
        single=False),
    Quantity("cycles x lane bits, millions", "lane_bit_cycles",
        lambda side, _: side.lane_cycles * side.lane_bits / 1e6, _of("work", "lanes", "lane_bits"), single=False),
    Quantity("lanes of a block covered", "covered_lanes", lambda side, _: side.covered_lanes, _of("covered_lanes"),
        percent),
    Quantity("lanes enabled, all cycles", "enabled_lanes", lambda side, _: side.enabled_lanes, _of("enabled_lanes"),
        percent),
    Quantity("instructions", "instructions", lambda side, _: sum(side.mix.values()), _of("mix"), first=True,
        single=False),
    Quantity("bytes moved", "bytes", lambda side, _: sum(side.traffic.values()), _of("traffic"), first=True,
        single=False),
)  # fmt: skip


FIGURES: Mapping[str, str] = {
    **{each.key: each.label for each in QUANTITIES},
    "milliseconds_at": "time at another's clock",
    "stages": "cycles by stage",
    "picture": "the picture",
    "left_out": "left out of the cycles",
}
"""Every figure that a comparison has of a machine: key and label."""

_UNCOUNTED, _NOT_COUNTED = "-", "not counted"
_MARKS = {
    FigureStanding.EXECUTED: ("e", "executed"), FigureStanding.FITTED: ("f", "executed at fitted rates"),
    FigureStanding.INVENTED: ("i", "rests on assumed parameters"), FigureStanding.FORMULA: ("w", "by a formula"),
    FigureStanding.PART: ("p", "partly by a formula"), FigureStanding.GIVEN: ("g", "given"),
    FigureStanding.UNSAID: ("?", "not declared"),
}  # fmt: skip
"""A letter for each standing, to be put after a figure, and its meaning."""
_LEGEND = {
    FigureStanding.EXECUTED: "counted over what was executed, at rates that have a source",
    FigureStanding.FITTED: "the same, at rates chosen so that published figures come out",
    FigureStanding.INVENTED: "an assumed rate or size takes part: no source gives it, or an option has set it",
    FigureStanding.FORMULA: "computed, not executed",
    FigureStanding.PART: "in part computed, the rest executed",
    FigureStanding.GIVEN: "a size or a clock that has a source",
    FigureStanding.UNSAID: "the machine does not declare it",
}


def ground_of_figure(side: DrawnFrame, key: str, sides: Sides = ()) -> Ground | None:
    """Return what a figure rests on; None where the machine does not count it.

    The time at another's clock rests on the clocks of all ``sides`` that are compared.
    """
    if key == "left_out":
        known = [each.ground for each in side.free if each.ground is not None]
        return reduce(Ground.__or__, known) if known else None
    if key == "milliseconds_at":
        return _at_clocks(side, sides)
    for each in QUANTITIES:
        if each.key == key:
            return None if each.value(side, sides or (side,)) is None else each.ground(side)
    return ground_of(side.grounds, (key,))


def _at_clocks(side: DrawnFrame, sides: Sides) -> Ground | None:
    """Return what a machine's cycles at every machine's clock rest on; None where all have the same one."""
    if len({each.clock_mhz for each in sides}) < 2:
        return None
    found = {"cycles": ground_of(side.grounds, ("cycles",))}
    for each in sides:
        clock = ground_of(each.grounds, ("clock_mhz",))
        constants = tuple(constant._replace(key=f"{each.machine}: {constant.key}") for constant in clock.constants)
        found[each.machine] = replace(clock, constants=constants)
    return reduce(Ground.__or__, found.values()) if all(each.origins for each in found.values()) else Ground()


def standing_of(side: DrawnFrame, key: str, sides: Sides = ()) -> FigureStanding | None:
    """Return the one standing of a figure, the weakest of all that it is made of; None where it is not counted."""
    ground = ground_of_figure(side, key, sides)
    return None if ground is None else ground.standing


def figures_table(sides: Sides, keys: Iterable[Quantity] = QUANTITIES) -> tuple[Table, str]:
    """Return the figures of all machines, a row each, and what the letters mean that some have.

    Figures of a row have letters where their standings differ; a row without any figure is left out.
    """
    rows: list[list[Json]] = []
    seen: dict[FigureStanding, None] = {}
    for each in keys:
        values = [each.value(side, sides) for side in sides]
        if values.count(None) == len(values):
            continue
        standings = [standing_of(side, each.key, sides) for side in sides]
        differ = len({standing for standing in standings if standing is not None}) > 1
        seen |= dict.fromkeys(standing for standing in standings if standing is not None and differ)
        letters = [_MARKS[standing][0] if standing is not None and differ else "" for standing in standings]
        cells = zip(map(each.kind, values), letters, strict=True)
        rows.append([each.label, *(f"{text} {letter}".rstrip() + "  " * (not letter) for text, letter in cells)])
    if not seen:
        rows = [[str(cell).rstrip() for cell in row] for row in rows]
    columns = [Column("", fixed=True), *(Column(side.machine + "  " * bool(seen), verbatim) for side in sides)]
    return Table(columns, rows), "; ".join(f"{letter}: {text}" for letter, text in (_MARKS[each] for each in seen))


def same_work_line(found: Comparison) -> str:
    """Return which work the row of the same work is about, and of what its cycles are; empty without such a row."""
    if all(same_work(side, found.sides) is None for side in found.sides):
        return ""
    names = ", ".join(_SHORT[work] for work in shared_work(found.sides) if work in found.asked)
    others = [
        f"{side.machine}: {side.whose_stages}"
        for side in found.sides
        if side.whose_stages != ALL_PARTS and same_work(side, found.sides) is not None
    ]
    return f"same work: {names}" + (f" ({'; '.join(others)})" if others else "")


def assumed_line(sides: Iterable[DrawnFrame]) -> str:
    """Return on how many assumed parameters the cycles of each machine rest, in all its pictures together."""
    found: dict[str, dict[str, None]] = {}
    for side in sides:
        found.setdefault(side.machine, {}).update(dict.fromkeys(_assumed(side)))
    (first, keys), *others = found.items()
    more = "".join(f", {len(each)} of {machine}" for machine, each in others)
    return f"cycles rest on {counted(len(keys), 'assumed parameter')} of {first}{more}"


def _assumed(side: DrawnFrame) -> list[str]:
    ground = ground_of_figure(side, "cycles") or Ground()
    return [each.key for each in ground.resting_on(Standing.INVENTED)]


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


def sources_parts(sides: Sides) -> Iterator[Part]:
    """Yield the table of standings, the meaning of its words, and what each machine's figures rest on."""
    found = {key: [standing_of(side, key, sides) for side in sides] for key in FIGURES}
    rows = [
        (FIGURES[key], *(each or _UNCOUNTED for each in standings))
        for key, standings in found.items()
        if any(standings)
    ]
    yield Table([Column("figure", fixed=True), *(Column(side.machine, fixed=True) for side in sides)], rows)
    seen = {each for standings in found.values() for each in standings}
    yield "; ".join(f"{word}: {text}" for word, text in _LEGEND.items() if word in seen) + "."
    for side in sides:
        whole, cycles = _whole(side), _assumed(side)
        others = [each.key for each in whole.resting_on(Standing.INVENTED) if each.key not in cycles]
        fitted = [each.key for each in whole.resting_on(Standing.FITTED)]
        for names, what in (
            (cycles, "assumed parameters of the cycles"),
            (others, "assumed parameters of other figures"),
            (fitted, "fitted parameters"),
        ):
            if names:
                yield f"{side.machine}, {what}, {len(names)}: {', '.join(names)}."
        if whole.formulas:
            yield f"{side.machine}, by formula: {'; '.join([*whole.formulas, *_shares(side)])}."


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
    """Return how much of cycles by stage (``stages``) or of bytes (``traffic``) nothing executed."""
    return sum(value for name, value in values.items() if Origin.FORMULA in _ground_of_part(side, of, name).origins)


def _ground_of_part(side: DrawnFrame, of: str, name: str) -> Ground:
    return side.grounds.get(f"{of}: {name}", side.grounds.get(of, Ground()))


def scorecard_object(side: DrawnFrame, sides: Sides = ()) -> dict[str, Json]:
    """Return standings, and what they rest on, as JSON holds them; parts of bytes and of cycles have their own."""
    found: dict[str, Json] = {key: _object(ground_of_figure(side, key, sides)) for key in FIGURES}
    parts: dict[str, Json] = {}
    for of, values in (("stages", side.stages), ("traffic", side.traffic)):
        for name in values:
            parts[f"{'bytes' if of == 'traffic' else of}: {name}"] = _object(_ground_of_part(side, of, name))
    constants = (_whole(side) | (ground_of_figure(side, "left_out") or Ground())).constants
    known: dict[str, Json] = {each.key: _constant_object(each) for each in constants}
    return {"scorecard": found, "scorecard_of_parts": parts, "constants": known}


def _constant_object(constant: Constant) -> dict[str, Json]:
    return {key: value for key, value in constant._asdict().items() if key != "key"}


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


# Work that cycles leave out, and fairness: years, clocks, processes and areas of the machines.


_SHORT = {
    Work.VERTICES: "vertices", Work.SETUP: "edges and planes", Work.BINNING: "regions or tiles",
    Work.COVERAGE: "coverage", Work.TESTS: "depth and stencil", Work.COLOURS: "colours", Work.TEXELS: "texels",
    Work.BLENDING: "blending", Work.MEMORY: "memory", Work.FEED: "instruction feed", Work.OUTPUT: "picture's way out",
    Work.COMMANDS: "commands and state",
}  # fmt: skip
"""Work in a word or two, for the first screen."""
_BOUNDED = {Bound.FLOOR: "at least {:,} in all", Bound.AT_MOST: "up to {:,} more", Bound.ABOUT: "about {:,} more"}
_OPEN = "open"


def uncounted_table(found: Comparison) -> Table:
    """Return the work that the cycles of some machine leave out: a row each, with its bounds by machine.

    The bound by the instruction feed is a row of the figures. Work of equal cells shares a row.
    """
    rows: dict[tuple[str, ...], list[str]] = {}
    for work in Work:
        bounds = {each.bound for side in found.sides for each in side.free if work in each.of}
        if bounds and (work is not Work.FEED or bounds != {Bound.FLOOR}):
            rows.setdefault(tuple(_uncounted(side, work) for side in found.sides), []).append(_SHORT[work])
    columns = [Column(f"not counted, cycles ({_OPEN}: no bound)", least=20)]
    columns += [Column(side.machine) for side in found.sides]
    return Table(columns, [(", ".join(names), *cells) for cells, names in rows.items()])


def _uncounted(side: DrawnFrame, work: Work) -> str:
    """Return how the work that a machine leaves out is bounded: of several floors the highest, else sums."""
    cycles: dict[Bound, list[int]] = {}
    for each in side.free:
        if work in each.of:
            cycles.setdefault(each.bound, []).append(each.cycles or 0)
    if not cycles:
        return _UNCOUNTED if side.counted.get(work) is HowCounted.NONE else "counted"
    texts = [
        _BOUNDED[bound].format((max if bound is Bound.FLOOR else sum)(cycles[bound]))
        for bound in _BOUNDED
        if bound in cycles
    ]
    return ", ".join([*texts, *([_OPEN] if Bound.OPEN in cycles else [])])


_BUILT = {"year": "year", "clock": "clock, MHz", "process": "process, nm", "area": "area of a chip, mm2"}
_UNKNOWN = "not known"
_UNSAID = "not said"
_FAIRNESS = {
    HowCounted.UNITS: "fixed functions whose time is simulated",
    HowCounted.FREE: "it takes no cycles here, or another part of the system does it",
    HowCounted.NONE: "there is no such work on the machine",
}


def uneven(found: Comparison) -> dict[Work, dict[str, list[str]]]:
    """Return the work that machines' cycles have unevenly: the machines that count it, in part, or not.

    Machines that have no such work are in none of the three.
    """
    rows: dict[Work, dict[str, list[str]]] = {}
    for work in (work for work in Work if work in found.asked):
        rows[work] = {"counted": [], "in_part": [], "not": []}
        for side in found.sides:
            match side.counted.get(work):
                case HowCounted.PROGRAM | HowCounted.UNITS:
                    rows[work]["counted"].append(side.machine)
                case HowCounted.PART | HowCounted.FORMULA:
                    rows[work]["in_part"].append(side.machine)
                case HowCounted.FREE:
                    rows[work]["not"].append(side.machine)
    return {work: row for work, row in rows.items() if sum(map(bool, row.values())) > 1}


def _fair(found: Comparison) -> Iterator[str]:
    yield (
        f"All machines draw the same {counted(found.triangles, 'triangle')}, on the screen and in integers, and every "
        "pixel of each picture is compared with that of 64-bit integers."
    )
    if len({side.clock_mhz for side in found.sides}) > 1:
        yield "Clocks can be exchanged (`--explain cycles`); the area and power that a clock costs cannot."


def _unfair(found: Comparison) -> Iterator[str]:
    built = {side.machine: _about(found, side) for side in found.sides}
    years = [int(each["year"].value) for each in built.values() if "year" in each]
    if len(set(years)) > 1:
        yield f"The machines are {max(years) - min(years)} years apart ({min(years)} to {max(years)})."
    clocks = [side.clock_mhz for side in found.sides]
    if len(set(clocks)) > 1:
        yield f"The clocks, {min(clocks):,g} to {max(clocks):,g} MHz, are not figures of one kind (see their sources)."
    yield "No figure is by area: cycles x lane bits counts the bits of ALUs, without memories, control and fixed units."
    areas = {name: each["area"].unit if "area" in each else None for name, each in built.items()}
    if known := [name for name, unit in areas.items() if unit]:
        yield f"The area of {listed(known)} is of a whole chip, of which a part is modelled."
    if unknown := [name for name, unit in areas.items() if unit is None]:
        yield f"No source here gives the area of {listed(unknown)}."
    if never := [name for name, unit in areas.items() if unit == ""]:
        yield f"No chip of {listed(never)} was made."
    if len({(side.parts, side.lanes) for side in found.sides}) > 1:
        text = ", ".join(f"{side.whole} of {side.lanes // side.parts:,} lanes each" for side in found.sides)
        yield f"Parts are not a unit that machines share: {text}."
    if rows := uneven(found):
        yield f"Some machines count and others leave out: {', '.join(_SHORT[work] for work in rows)}."


def fairness_parts(found: Comparison) -> Iterator[Part]:
    """Yield data of the modelled machines, the work in the cycles of each, and what follows for a comparison."""
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
    yield from (f"Fair: {text}" for text in _fair(found))
    yield from (f"Not fair: {text}" for text in _unfair(found))


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
                "built": {key: _constant_object(each) for key, each in _about(found, side).items()},
                "work": {
                    each.value: side.counted[each].value for each in Work if each in found.asked & set(side.counted)
                },
            }
            for side in found.sides
        },
        "uneven": {work.value: row for work, row in uneven(found).items()},
        "fair": list(_fair(found)),
        "not_fair": list(_unfair(found)),
    }
