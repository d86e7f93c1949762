"""The report of differences: values of two reports, PE state, and the place where two runs part."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from pixelflow.debugger.divergence import Divergence, RunDifference
from pixelflow.node import Replay
from pixelflow.node.pe_report import json_value
from pixelflow.simd.isa.places import place, source_text
from pixelflow.simd.report import Column, Fact, Json, Part, Table, cut, number, verbatim

__all__ = ["differences_object", "differences_parts", "divergence_object", "divergence_parts", "values_table"]

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
        delta = _delta(*sides)
        shown = [_shown(value) if there else "missing" for value, there in zip(sides, known, strict=True)]
        rows.append([key, *shown, _shown_delta(delta), *map(json_value, sides), json_value(delta)])
    return Table(columns, rows, key="differences")


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _delta(old: Json, new: Json) -> int | float | None:
    return new - old if _is_number(old) and _is_number(new) else None


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
    objects = []
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
