"""What differs between two runs: statistics, saved runs, or PE state.

Statistics and other JSON reports are compared key by key. Saved runs (--record) are executed again side by side, to
the first cycle in which their PEs or texture memories differ; the programs, configurations and engines may differ too.
A difference that is gone again within 256 cycles may not be seen. Exit code 1 where something differs.
"""

from __future__ import annotations

import argparse
import math
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from pixelflow.cli.arguments import add_engine_option
from pixelflow.cli.screen import Column, Screen, counted
from pixelflow.simd.errors import Fault, InputError, Place

if TYPE_CHECKING:
    from pixelflow.cli.diff_files import Report, State
    from pixelflow.debugger import Difference

EXAMPLES = (
    "pixelflow run microcode/examples/triangle.mc --stats a.json --record a.npz",
    "pixelflow run microcode/examples/triangle.mc --stats b.json --record b.npz",
    "pixelflow diff a.json b.json --ignore 'tool.*'",
    "pixelflow diff a.npz b.npz",
)

_SCHEMA = "pixelflow.diff/1"
_ROWS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the two files and what is left out."""
    add = parser.add_argument
    add("first", metavar="A", help="statistics or another JSON report, a saved run (.npz), PE state (.npz, .json)")
    add("second", metavar="B", help="a file of the same kind")
    add("--ignore", action="append", default=[], metavar="KEY",
        help="leave out keys of reports: * is anything, the beginning may be missing (repeatable)")  # fmt: skip
    add_engine_option(parser)


def run(args: argparse.Namespace) -> int:
    """Compare two files; returns 1 where they differ, 0 where they do not."""
    from pixelflow.cli.diff_files import Kind, read

    screen = Screen.of(args)
    (kind, first), (other, second) = read(args.first), read(args.second)
    if kind is not other:
        raise InputError(Fault(f"is {other.value}, but {args.first} is {kind.value}", Place(args.second)))
    match kind:
        case Kind.REPORT:
            return _reports(screen, args, first, second)
        case Kind.STATE:
            return _states(screen, args, first, second)
        case Kind.RUN:
            from pixelflow.cli.diff_runs import compare_runs

            return compare_runs(screen, args, first, second)


def _reports(screen: Screen, args: argparse.Namespace, first: Report, second: Report) -> int:
    if first.schema != second.schema:
        raise InputError(Fault(f"is {second.schema}, but {args.first} is {first.schema}", Place(args.second)))
    differing = [
        (key, first.values.get(key, _MISSING), second.values.get(key, _MISSING))
        for key in sorted(first.values.keys() | second.values.keys())
        if not any(fnmatchcase(key, each) or fnmatchcase(key, f"*.{each}") for each in args.ignore)
    ]
    differing = [each for each in differing if each[1] != each[2]]
    if screen.json:
        objects = [
            {"key": key, "first": _json(old), "second": _json(new), "delta": _json(_delta(old, new))}
            for key, old, new in differing
        ]
        screen.object(_SCHEMA, kind="report", compared=first.schema, equal=not differing, differences=objects)
    elif differing:
        columns = [Column("key"), Column("A", numbers=True), Column("B", numbers=True), Column("B - A", numbers=True)]
        rows = [[key, _shown(old), _shown(new), _shown_delta(_delta(old, new))] for key, old, new in differing]
        screen.table(columns, rows)
        screen.text(f"{counted(len(differing), 'key')} of {len(first.values.keys() | second.values.keys()):,} differ")
    elif not screen.quiet:
        screen.text("no difference")
    return int(bool(differing))


_MISSING = object()
"""Stands for the value of a key that one side lacks."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _delta(old: Any, new: Any) -> int | float | None:
    return new - old if _is_number(old) and _is_number(new) else None


def _json(value: Any) -> Any:
    from pixelflow.cli.pe_tables import json_value

    return None if value is _MISSING else json_value(value)


def _shown(value: Any) -> str:
    if value is _MISSING:
        return "missing"
    if value is None:
        return "null"
    if isinstance(value, str) and len(value) > 20:
        return value[:17] + "..."
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _shown_delta(delta: int | float | None) -> str:
    if delta is None or (isinstance(delta, float) and math.isnan(delta)):
        return "-"
    return f"{delta:+,}" if isinstance(delta, int) else f"{delta:+.6g}"


def _states(screen: Screen, args: argparse.Namespace, first: State, second: State) -> int:
    from pixelflow.debugger import compare_arrays, compare_memory

    if first.lanes != second.lanes or first.memory.shape != second.memory.shape:
        shapes = [f"{len(each.lanes)} PEs of {len(each.memory)} bytes" for each in (first, second)]
        reason = f"has {shapes[1]}, {args.first} {shapes[0]}" if shapes[0] != shapes[1] else "is of other PEs"
        raise InputError(Fault(f"cannot be compared: it {reason}", Place(args.second)))
    found = compare_arrays(first.per_pe, second.per_pe) + compare_memory(first.memory, second.memory, None)
    if screen.json:
        objects = [difference_object(each, first.lanes) for each in found]
        screen.object(_SCHEMA, kind="state", equal=not found, differences=objects)
    elif found:
        show_differences(screen, found, first.lanes)
    elif not screen.quiet:
        screen.text("no difference")
    return int(bool(found))


def difference_object(difference: Difference, lanes: list[int] | None = None) -> dict[str, Any]:
    """Return a difference as JSON: its name, in how many PEs, and the first of them."""
    at = int(difference.lanes[0])
    pe = at if lanes is None else lanes[at]
    first, second = (int(values[0]) for values in difference.values)
    return {"name": difference.name, "pes": len(difference.lanes), "pe": pe, "first": first, "second": second}


def show_differences(screen: Screen, found: list[Difference], lanes: list[int] | None = None) -> None:
    """Print what differs, one register, flag or byte a row, with the first PE and its two values."""
    columns = [Column("what", fixed=True), Column("PEs", numbers=True), Column("first PE", numbers=True)]
    columns += [Column("A", numbers=True), Column("B", numbers=True)]
    rows = []
    for each in found[:_ROWS]:
        values = difference_object(each, lanes)
        form = "d" if each.values[0].dtype == bool else "02x"
        rows.append([each.name, f"{values['pes']:,}", str(values["pe"])] + [f"{values[k]:{form}}" for k in _SIDES])
    screen.table(columns, rows)
    if len(found) > _ROWS:
        screen.text(f"and {len(found) - _ROWS:,} more registers, flags or bytes")


_SIDES = ("first", "second")
