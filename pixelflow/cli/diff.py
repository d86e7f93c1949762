"""Compare two runs: statistics, saved runs, or PE state.

Statistics and other JSON reports are compared key by key. Saved runs (--record) are executed again side by side, to
the first cycle in which their PEs or texture memories differ; the programs, configurations and engines may differ too.
A difference that is gone again within 256 cycles may not be seen. Exit code 1 where something differs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from pixelflow.cli.arguments import add_engine_option
from pixelflow.cli.machine_values import engine_of
from pixelflow.cli.screen import Progress, Screen
from pixelflow.debugger import compare_arrays, compare_memory, first_divergence
from pixelflow.debugger.divergence import (
    differences_object,
    differences_parts,
    divergence_object,
    divergence_parts,
    values_table,
)
from pixelflow.node import SavedRun
from pixelflow.node.pe_map import REGISTERS, PeValue
from pixelflow.node.pe_report import FLAGS
from pixelflow.observe.node_statistics import SCHEMA as STATISTICS_SCHEMA
from pixelflow.simd.arrays import parse_arrays
from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.files import ARRAYS, REPORT, read_bytes, too_large
from pixelflow.simd.report import Json, Part, Report, counted, number

# What a file that is compared holds: a saved run, PE state, or a JSON report of numbers.


_STATE_SCHEMA = "pixelflow.state/1"
_PREFIX = "pixelflow."


class Values(NamedTuple):
    """A JSON report: its schema, and its values by dotted key."""

    schema: str
    values: dict[str, Json]


class SavedState(NamedTuple):
    """Saved PE state: what it is about, its PEs, and arrays."""

    header: dict[str, Json]
    lanes: list[int]
    memory: NDArray[np.uint8]
    """uint8[bytes, PEs]."""
    per_pe: dict[str, NDArray[PeValue]]


class _StateFile(TypedDict):
    """Content of a file of ``run --output F.json``, without its schema."""

    header: dict[str, Json]
    lanes: list[int]
    memory: list[str]
    registers: dict[str, list[int]]
    flags: dict[str, list[bool]]


class _RunEntry(TypedDict):
    """A run in a file of statistics, as far as it is compared."""

    program: Json
    engine: Json
    reason: Json
    statistics: dict[str, Json]


def read(path: str) -> SavedRun | SavedState | Values:
    """Return what a file holds; raises InputError for one that no command of this version has written."""
    data = read_bytes(path, ARRAYS)
    try:
        if data[:2] == b"PK":
            return _archive(path, data)
        if len(data) > REPORT.limit:
            raise too_large(path, REPORT)
        content = json.loads(data)
        schema = content["schema"]
        if schema == _STATE_SCHEMA:
            return _state_of_json(path, content)
        if not schema.startswith(_PREFIX):
            raise KeyError(schema)
        if schema == STATISTICS_SCHEMA:
            content = _by_number(content, content["runs"])
        return Values(schema, dict(_flat(content, "")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        hint = "statistics (run --stats F.json), JSON reports (--json), saved runs (--record), PE state (run --output)"
        raise InputError(Fault("is nothing that can be compared", Place(path), hint)) from None


def _archive(path: str, data: bytes) -> SavedRun | SavedState:
    arrays = parse_arrays(data, lambda message: InputError(Fault(message, Place(path))))
    if "memory" not in arrays:
        return SavedRun.from_bytes(data, path)
    per_pe = {name: cast("NDArray[PeValue]", arrays[name]) for name in (*REGISTERS, *FLAGS)}
    header = json.loads(str(arrays["header"]))
    memory = cast("NDArray[np.uint8]", arrays["memory"])  # or else it is refused
    return _checked(path, SavedState(header, arrays["lanes"].tolist(), memory, per_pe))


def _state_of_json(path: str, content: _StateFile) -> SavedState:
    columns = [np.frombuffer(bytes.fromhex(each), np.uint8) for each in content["memory"]]
    per_pe = {name: np.array(values) for name, values in (content["registers"] | content["flags"]).items()}
    memory = np.stack(columns, axis=1) if columns else np.zeros((0, 0), np.uint8)
    return _checked(path, SavedState(content["header"], content["lanes"], memory, per_pe))


def _checked(path: str, state: SavedState) -> SavedState:
    """Return the state; raises InputError with all that no run of this version has written."""
    pes = len(state.lanes)
    faults = []
    if any(type(lane) is not int or lane < 0 for lane in state.lanes) or len(set(state.lanes)) != pes:
        faults.append(Fault("expected the number of each PE once", Place(f"{path}[lanes]")))
    if state.memory.dtype != np.uint8 or state.memory.ndim != 2 or state.memory.shape[1] != pes:
        faults.append(Fault(f"expected bytes of {number(pes)} PEs", Place(f"{path}[memory]")))
    known = (*REGISTERS, *FLAGS)
    for name in sorted(state.per_pe.keys() ^ set(known)):
        message = "is missing" if name in known else "is not a register or flag"
        faults.append(Fault(message, Place(f"{path}[{name}]"), f"known: {', '.join(known)}"))
    for name in (name for name in known if name in state.per_pe):
        values, flag = state.per_pe[name], name in FLAGS
        fits = (
            values.dtype.kind == "b"
            if flag
            else values.dtype.kind in "iu" and bool(np.all((values >= 0) & (values < 256)))
        )
        if values.shape != (pes,) or (pes and not fits):
            expected = "false or true" if flag else "a number from 0 to 255"
            faults.append(Fault(f"expected {expected} for each of {number(pes)} PEs", Place(f"{path}[{name}]")))
    if faults:
        raise InputError(faults)
    return state


def _by_number(content: dict[str, Json], runs: Sequence[_RunEntry]) -> dict[str, Json]:
    """Return statistics with the numbers of each run directly under the number of the run."""
    numbered: dict[str, Json] = {}
    for place, run in enumerate(runs, start=1):
        about = {"program": run["program"], "engine": run["engine"], "reason": run["reason"]}
        numbered[str(place)] = about | run["statistics"]
    return {key: value for key, value in content.items() if key != "runs"} | numbered


def _flat(value: Json, key: str) -> list[tuple[str, Json]]:
    """Return the values inside of lists and objects by dotted key; an empty one is a value itself."""
    if isinstance(value, dict) and value:
        inside: Iterable[tuple[str, Json]] = value.items()
    elif isinstance(value, list) and value:
        inside = ((str(at), each) for at, each in enumerate(value))
    else:
        return [(key, value)]
    return [pair for name, each in inside for pair in _flat(each, f"{key}.{name}" if key else name)]


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
    """Return a comparison with the differences ``parts``; without any, its text is ``equal``."""
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
