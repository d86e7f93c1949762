"""What a file that is compared holds: a saved run, PE state, or a JSON report of numbers."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.node import SavedRun
from pixelflow.node.pe_map import REGISTERS
from pixelflow.node.pe_report import FLAGS
from pixelflow.observe.stats import SCHEMA as STATISTICS_SCHEMA
from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.files import ARRAYS, REPORT, read_bytes, too_large
from pixelflow.simd.files.arrays import parse_arrays
from pixelflow.simd.report import Json, number

__all__ = ["SavedState", "Values", "read"]

_STATE_SCHEMA = "pixelflow.state/1"
_PREFIX = "pixelflow."


@dataclass(frozen=True, slots=True)
class Values:
    """A JSON report: its schema, and its values by dotted key."""

    schema: str
    values: dict[str, Json]


@dataclass(frozen=True)
class SavedState:
    """Saved PE state: what it is about, its PEs, and arrays."""

    header: dict[str, Json]
    lanes: list[int]
    memory: NDArray[np.uint8]
    """uint8[bytes, PEs]."""
    per_pe: dict[str, NDArray]


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
            content = _by_number(content)
        return Values(schema, dict(_flat(content, "")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        hint = "statistics (run --stats F.json), JSON reports (--json), saved runs (--record), PE state (run --output)"
        raise InputError(Fault("is nothing that can be compared", Place(path), hint)) from None


def _archive(path: str, data: bytes) -> SavedRun | SavedState:
    arrays = parse_arrays(data, lambda message: InputError(Fault(message, Place(path))))
    if "memory" not in arrays:
        return SavedRun.from_bytes(data, path)
    per_pe = {name: arrays[name] for name in (*REGISTERS, *FLAGS)}
    header = json.loads(str(arrays["header"]))
    return _checked(path, SavedState(header, arrays["lanes"].tolist(), arrays["memory"], per_pe))


def _state_of_json(path: str, content: dict[str, Json]) -> SavedState:
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
        message = "is missing" if name in known else "is no register or flag"
        faults.append(Fault(message, Place(f"{path}[{name}]"), f"known: {', '.join(known)}"))
    for name in (name for name in known if name in state.per_pe):
        values, flag = state.per_pe[name], name in FLAGS
        if values.shape != (pes,) or (pes and not (_are_flags if flag else _are_bytes)(values)):
            expected = "false or true" if flag else "a number from 0 to 255"
            faults.append(Fault(f"expected {expected} for each of {number(pes)} PEs", Place(f"{path}[{name}]")))
    if faults:
        raise InputError(faults)
    return state


def _are_flags(values: NDArray) -> bool:
    return values.dtype.kind == "b"


def _are_bytes(values: NDArray) -> bool:
    return values.dtype.kind in "iu" and bool(((values >= 0) & (values < 256)).all())


def _by_number(content: dict[str, Json]) -> dict[str, Json]:
    """Return statistics with the numbers of each run directly under the number of the run."""
    runs = {}
    for place, run in enumerate(content["runs"], start=1):
        about = {key: run[key] for key in ("program", "engine", "reason")}
        runs[str(place)] = about | run["statistics"]
    return {key: value for key, value in content.items() if key != "runs"} | runs


def _flat(value: Json, key: str) -> list[tuple[str, Json]]:
    """Return the values inside of lists and objects by dotted key; an empty one is a value itself."""
    if isinstance(value, dict) and value:
        inside = value.items()
    elif isinstance(value, list) and value:
        inside = ((str(at), each) for at, each in enumerate(value))
    else:
        return [(key, value)]
    return [pair for name, each in inside for pair in _flat(each, f"{key}.{name}" if key else name)]
