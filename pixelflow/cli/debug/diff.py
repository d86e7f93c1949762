"""What differs between two runs: statistics, saved runs, or PE state.

Statistics and other JSON reports are compared key by key. Saved runs (--record) are executed again side by side, to
the first cycle in which their PEs or texture memories differ; the programs, configurations and engines may differ too.
A difference that is gone again within 256 cycles may not be seen. Exit code 1 where something differs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fnmatch import fnmatchcase

from pixelflow.cli.debug.diff_files import SavedState, Values, read
from pixelflow.cli.shell.arguments import add_engine_option
from pixelflow.cli.shell.engines import engine_of
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.debugger import compare_arrays, compare_memory, first_divergence
from pixelflow.debugger.difference_report import (
    differences_object,
    differences_parts,
    divergence_object,
    divergence_parts,
    values_table,
)
from pixelflow.node import SavedRun
from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.report import Json, Part, Report, counted, number

EXAMPLES = (
    "pixelflow run triangle --stats a.json --record a.npz",
    "pixelflow run triangle --stats b.json --record b.npz",
    "pixelflow diff a.json b.json --ignore 'tool.*'",
    "pixelflow diff a.npz b.npz",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the two files and what is left out."""
    add = parser.add_argument
    add("first", metavar="A", help="statistics or another JSON report, a saved run (.npz), PE state (.npz, .json)")
    add("second", metavar="B", help="a file of the same kind")
    add("--ignore", action="append", default=[], metavar="KEY",
        help="leave out keys of reports: * is anything, the beginning may be missing (repeatable)")  # fmt: skip
    add_engine_option(parser)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Compare two files; fails where they differ."""
    first, second = read(args.first), read(args.second)
    if isinstance(first, Values) and isinstance(second, Values):
        return _values(args, first, second)
    if isinstance(first, SavedState) and isinstance(second, SavedState):
        return _states(args, first, second)
    if isinstance(first, SavedRun) and isinstance(second, SavedRun):
        return _runs(args, screen, first, second)
    raise InputError(Fault(f"is {_kind(second)}, but {args.first} is {_kind(first)}", Place(args.second)))


def _kind(file: SavedRun | SavedState | Values) -> str:
    return {SavedRun: "a saved run", SavedState: "PE state", Values: "a report"}[type(file)]


def _report(kind: str, parts: Sequence[Part], equal: str = "no difference", **data: Json) -> Report:
    """Return a comparison that found ``parts``; ``equal`` is said where there are none."""
    data = {"kind": kind, "equal": not parts, **data}
    same = () if parts else (equal,)
    return Report(parts=same, results=parts, schema="pixelflow.diff/1", data=data, failure="" if parts else None)


def _values(args: argparse.Namespace, first: Values, second: Values) -> Report:
    if first.schema != second.schema:
        raise InputError(Fault(f"is {second.schema}, but {args.first} is {first.schema}", Place(args.second)))
    keys = first.values.keys() | second.values.keys()
    ignored = [pattern for each in args.ignore for pattern in (each, f"*.{each}")]
    asked = [key for key in sorted(keys) if not any(fnmatchcase(key, pattern) for pattern in ignored)]
    table = values_table(asked, first.values, second.values)
    if not table.rows:
        return _report("report", [], compared=first.schema, differences=[])
    text = f"{counted(len(table.rows), 'key')} of {number(len(keys))} differ"
    return _report("report", [table, text], compared=first.schema)


def _states(args: argparse.Namespace, first: SavedState, second: SavedState) -> Report:
    if first.lanes != second.lanes or first.memory.shape != second.memory.shape:
        shapes = [
            f"{counted(len(each.lanes), 'PE')} of {counted(len(each.memory), 'byte')}" for each in (first, second)
        ]
        reason = f"has {shapes[1]}, {args.first} {shapes[0]}" if shapes[0] != shapes[1] else "is of other PEs"
        raise InputError(Fault(f"cannot be compared: it {reason}", Place(args.second)))
    found = compare_arrays(first.per_pe, second.per_pe) + compare_memory(first.memory, second.memory, None)
    parts = [*differences_parts(found, first.lanes)] if found else []
    return _report("state", parts, differences=differences_object(found, first.lanes))


def _runs(args: argparse.Namespace, screen: Screen, first: SavedRun, second: SavedRun) -> Report:
    """Execute two saved runs side by side, to the first difference."""
    engine = engine_of(args, screen)
    sides = (first.replay(engine), second.replay(engine))
    ends = [run.end.cycles for run in (first, second) if run.end is not None]
    with Progress(screen, min(ends, default=None)) as progress:
        progress.doing("cycles")
        found = first_divergence(*sides, progress.step)
    if found is None:
        same = f"no difference: both end at cycle {number(sides[0].position)} with the same data"
        return _report("run", [], same, parted=None, differences=[])
    parts = [*divergence_parts(screen.width, found, sides)]
    differences = differences_object(found.differences)
    return _report("run", parts, parted=divergence_object(found, sides), differences=differences)
