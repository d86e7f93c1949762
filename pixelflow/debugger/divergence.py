"""The first cycle in which two runs differ, and what differs there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from pixelflow.debugger.views import byte_name
from pixelflow.isa import Program
from pixelflow.node import Replay
from pixelflow.node.pe_map import PeValue
from pixelflow.node.pe_report import json_value
from pixelflow.observe import Executed
from pixelflow.simd.errors import InputError
from pixelflow.simd.isa.program import place, source_text
from pixelflow.simd.report import Column, Fact, Json, Part, Table, counted, cut, number, verbatim

_GRID = 256
"""Cycles between two comparisons, until one finds a difference: a difference that is gone again before is not seen."""


class RunDifference(NamedTuple):
    """A register, flag or byte of memory that is not the same on both sides."""

    name: str
    lanes: NDArray[np.int64]
    """The PEs in which it differs."""
    values: tuple[NDArray[PeValue], NDArray[PeValue]]
    """Its values in these PEs, on either side."""


Executions = tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]
"""(stream, position) of the instructions that either side executed."""


class Divergence(NamedTuple):
    """Two runs are equal at position ``cycle``, and not after it; at -1 where they begin differently."""

    cycle: int
    executed: Executions
    """Instructions that begin in that cycle, on either side: (stream, position of the instruction)."""
    differences: tuple[RunDifference, ...]
    modules: tuple[int, ...]
    """Modules whose texture memory differs."""
    ends: tuple[int | None, int | None]
    """Where either run ends, as far as known; at that position already, where this is why they differ."""


def first_divergence(
    first: Replay, second: Replay, progress: Callable[[int], None] = lambda cycles: None
) -> Divergence | None:
    """Take two runs forwards side by side until their data differ, or one ends before the other.

    Returns None where they end in the same cycle with the same data. Both are left after the difference.
    ``progress`` receives the number of further cycles compared.
    Raises InputError for machines with another number of PEs, or PEs of another size.
    """
    sides = (first, second)
    shapes = [(side.node.lanes, side.node.config.array.memory_bytes, len(side.node.texture_memory)) for side in sides]
    if shapes[0] != shapes[1]:
        texts = [
            f"{counted(lanes, 'PE')} of {counted(size, 'byte')} in {counted(modules, 'module')}"
            for lanes, size, modules in shapes
        ]
        raise InputError(f"the machines are not alike: {texts[0]}, and {texts[1]}")
    if not _equal(sides):
        return _divergence(sides, -1, ((), ()))
    equal = 0
    while True:
        for side in sides:
            side.goto(equal + _GRID)
        progress(_GRID)
        if not _equal(sides):
            break
        if first.ended and second.ended:
            return None
        equal += _GRID
    return _search(sides, equal)


def _search(sides: tuple[Replay, Replay], equal: int) -> Divergence:
    """Find the first difference after a position at which both sides are equal."""
    for side in sides:
        side.goto(equal)
    began: tuple[list[Executed], list[Executed]] = ([], [])
    with sides[0].hearing(began[0].append, Executed), sides[1].hearing(began[1].append, Executed):
        while True:
            for side, seen in zip(sides, began, strict=True):
                seen.clear()
                side.advance(equal + 1)
            if not _equal(sides):
                break
            equal += 1
    executed = _issued(sides[0], began[0]), _issued(sides[1], began[1])
    return _divergence(sides, equal, executed)


def _equal(sides: tuple[Replay, Replay]) -> bool:
    """Return whether both sides hold the same data, and have ended in the same way where one of them has."""
    ends = [(side.position, side.account.reason) if side.ended and side.account is not None else None for side in sides]
    first, second = ((_texture(side), side.node.digest(), end) for side, end in zip(sides, ends, strict=True))
    return first == second


def _texture(side: Replay) -> list[str]:
    return [memory.digest() for memory in side.node.texture_memory]


def _issued(side: Replay, seen: list[Executed]) -> tuple[tuple[str, int], ...]:
    """Return (stream, position) of the instructions among these that are not control."""
    control = next(iter(side.streams.values())).sequencer.control
    return tuple((event.stream, event.index) for event in seen if control[event.index] is None)


def _divergence(sides: tuple[Replay, Replay], cycle: int, executed: Executions) -> Divergence:
    first, second = (side.node.array.snapshot() for side in sides)
    textures = [_texture(side) for side in sides]
    modules = tuple(at for at, (a, b) in enumerate(zip(*textures, strict=True)) if a != b)
    memory = compare_memory(first.pop("rows"), second.pop("rows"), sides[0].program)
    per_pe = {name: values for name, values in first.items() if values.shape == (sides[0].node.lanes,)}
    differences = (*compare_arrays(per_pe, {name: second[name] for name in per_pe}), *memory)
    first_end, second_end = (side.position if side.ended else None for side in sides)
    return Divergence(cycle, executed, differences, modules, (first_end, second_end))


def compare_arrays(
    first: Mapping[str, NDArray[PeValue]], second: Mapping[str, NDArray[PeValue]]
) -> list[RunDifference]:
    """Return what differs between arrays of one value for each PE, by name.

    Both sides have the same names, and arrays of the same length; raises InputError where they have not.
    """
    if first.keys() != second.keys():
        raise InputError(f"only one side has {', '.join(sorted(first.keys() ^ second.keys()))}")
    found = []
    for name, values in first.items():
        if values.shape != second[name].shape:
            raise InputError(f"{name} has {len(values)} values on one side, {len(second[name])} on the other")
        lanes = np.flatnonzero(values != second[name])
        if len(lanes):
            found.append(RunDifference(name, lanes, (values[lanes], second[name][lanes])))
    return found


def compare_memory(first: NDArray[np.uint8], second: NDArray[np.uint8], program: Program | None) -> list[RunDifference]:
    """Return the bytes that differ between two memories, uint8[bytes, PEs] each, by the names of a program."""
    found = []
    for address in np.flatnonzero((first != second).any(axis=1)).tolist():
        lanes = np.flatnonzero(first[address] != second[address])
        name = f"[{address}]" if program is None else byte_name(program, address)
        found.append(RunDifference(name, lanes, (first[address, lanes], second[address, lanes])))
    return found


# The report of differences: values of two reports, PE state, and the place where two runs part.


_ROWS = 20


def values_table(keys: Sequence[str], first: Mapping[str, Json], second: Mapping[str, Json]) -> Table:
    """Return those of the keys whose values differ, with both values and their difference."""
    columns = (
        Column("key", key="key"),
        Column("A", verbatim),
        Column("B", verbatim),
        Column("B - A", verbatim),
        Column(None, key="first"),
        Column(None, key="second"),
        Column(None, key="delta"),
    )
    rows: list[list[Json]] = []
    for key in keys:
        sides = [values.get(key) for values in (first, second)]
        known = [key in values for values in (first, second)]
        if sides[0] == sides[1] and known[0] == known[1]:
            continue
        old, new = sides
        delta = new - old if _is_number(old) and _is_number(new) else None
        shown = [_shown(value) if there else "missing" for value, there in zip(sides, known, strict=True)]
        rows.append([key, *shown, _shown_delta(delta), *map(json_value, sides), json_value(delta)])
    return Table(columns, rows, key="differences")


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, str) and len(value) > 20:
        return value[:17] + "..."
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _shown_delta(delta: int | float | None) -> str:
    if delta is None or (isinstance(delta, float) and math.isnan(delta)):
        return "-"
    return f"{delta:+,}" if isinstance(delta, int) else f"{delta:+.6g}"


def differences_object(found: Sequence[RunDifference], lanes: Sequence[int] | None = None) -> list[dict[str, Json]]:
    """Return each difference for JSON: its name, in how many PEs, and the first of them with both values."""
    objects: list[dict[str, Json]] = []
    for each in found:
        at = int(each.lanes[0])
        first, second = (int(values[0]) for values in each.values)
        pe = at if lanes is None else lanes[at]
        objects.append({"name": each.name, "pes": len(each.lanes), "pe": pe, "first": first, "second": second})
    return objects


def differences_parts(found: Sequence[RunDifference], lanes: Sequence[int] | None = None) -> Iterator[Part]:
    """Yield what differs, one register, flag or byte a row, with the first PE and its two values."""
    columns = [Column("what", fixed=True), Column("PEs", number), Column("first PE", verbatim)]
    columns += [Column("A", verbatim), Column("B", verbatim)]
    rows = []
    for each, values in zip(found[:_ROWS], differences_object(found[:_ROWS], lanes), strict=True):
        form = "d" if each.values[0].dtype == bool else "02x"
        sides = (f"{values[side]:{form}}" for side in ("first", "second"))
        rows.append((each.name, values["pes"], str(values["pe"]), *sides))
    yield Table(columns, rows)
    if len(found) > _ROWS:
        yield f"and {len(found) - _ROWS:,} more registers, flags or bytes"


def divergence_object(found: Divergence, sides: tuple[Replay, Replay]) -> dict[str, Json]:
    """Return for JSON where two runs part, and what each began there."""
    executed = [
        [
            {"stream": stream, "where": side.program.where(index), "text": side.program.instructions[index].text()}
            for stream, index in began
        ]
        for side, began in zip(sides, found.executed, strict=True)
    ]
    return {
        "cycle": found.cycle,
        "executed": executed,
        "texture_modules": list(found.modules),
        "ends": list(found.ends),
    }


def divergence_parts(width: int, found: Divergence, sides: tuple[Replay, Replay]) -> Iterator[Part]:
    """Yield where two runs part, what each began there, and what differs then."""
    if found.cycle < 0:
        yield "the runs begin with different data"
    else:
        yield f"the runs are equal up to cycle {found.cycle:,} and part in it"
    for name, side, began, end in zip("AB", sides, found.executed, found.ends, strict=True):
        for stream, index in began:
            where = f"{place(side.program, index):<22} {source_text(side.program, index)}"
            yield Fact(cut(f"  {name}  {stream.upper()}  {where}", width), wrap=False)
        if end is not None:
            reason = "halt" if side.account is None else side.account.reason
            yield Fact(f"  {name}  ends at cycle {end:,}: {reason}", wrap=False)
        elif not began and found.cycle >= 0:
            yield f"  {name}  begins no instruction in this cycle"
    if found.differences:
        yield from ("", *differences_parts(found.differences))
    if found.modules:
        yield f"texture memory differs in module {', '.join(str(module) for module in found.modules)}"
