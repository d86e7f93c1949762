"""PE state in files: ``.npz`` in and out, ``.json`` out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.output import output_file
from pixelflow.isa import MemoryRange, Program
from pixelflow.node import Node
from pixelflow.node.pe_map import REGISTERS
from pixelflow.node.pe_report import FLAGS
from pixelflow.simd.errors import Fault, InputError, Place, nearest
from pixelflow.simd.files import ARRAYS, read_bytes
from pixelflow.simd.files.arrays import parse_arrays

__all__ = ["check_state_name", "read_memory_file", "write_state"]

_WRITTEN_BESIDE_MEMORY = {*REGISTERS, *FLAGS, "header", "lanes"}


def read_memory_file(path: str, node: Node, program: Program) -> None:
    """Write the arrays of an ``.npz`` archive into PE memory.

    ``memory`` is uint8[bytes, lanes] from address 0 on. Any other key names a range of the program: uint8[size, lanes],
    or one number per PE (integer or float32 of the range's size), low byte first. Raises InputError with all faults.
    """
    faults = []
    arrays = _arrays(path)
    for key, values in arrays.items():
        if key in _WRITTEN_BESIDE_MEMORY and "memory" in arrays:
            continue
        place = Place(f"{path}[{key}]")
        found = _range(key, node, program)
        if found is None:
            names = ["memory", *(each.name for each in program.ranges)]
            close = nearest(key, names)
            hint = f"did you mean {close}?" if close else f"known: {', '.join(names[:20])}"
            faults.append(Fault("the program has no memory range of this name", place, hint))
            continue
        rows = _rows(values, found.size, node.lanes, whole=key == "memory")
        if rows is None:
            faults.append(Fault(f"found {values.dtype}{list(values.shape)}", place, _expected(found, node.lanes)))
        else:
            node.write_memory(found.start, rows)
    if faults:
        raise InputError(faults)


def _range(key: str, node: Node, program: Program) -> MemoryRange | None:
    if key == "memory":
        return MemoryRange(key, 0, node.config.array.memory_bytes)
    return next((each for each in program.ranges if each.name == key), None)


def _expected(found: MemoryRange, lanes: int) -> str:
    number = f", or {found.size}-byte numbers [{lanes}]" if found.size in (1, 2, 4, 8) else ""
    return f"expected uint8[{found.size}, {lanes}]{number}"


def _arrays(path: str) -> dict[str, NDArray]:
    return parse_arrays(read_bytes(path, ARRAYS), lambda message: InputError(Fault(message, Place(path))))


def _rows(values: NDArray, size: int, lanes: int, *, whole: bool) -> NDArray[np.uint8] | None:
    """Return values as uint8[bytes, lanes], or None where they are of another kind."""
    if values.ndim == 2 and values.dtype == np.uint8 and values.shape[1] == lanes:
        fits = values.shape[0] <= size if whole else values.shape[0] == size
        return values if fits else None
    number = values.ndim == 1 and values.dtype.kind in "iuf" and values.dtype.itemsize == size
    if whole or not number or len(values) != lanes:
        return None
    low_first = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<")))
    return np.ascontiguousarray(low_first.view(np.uint8).reshape(lanes, size).T)


def check_state_name(path: str) -> None:
    """Raise UsageError where the suffix of a state file names no known form."""
    if Path(path).suffix not in (".npz", ".json"):
        raise UsageError(f"--output {path}", "the name must end in .npz or .json")


def write_state(path: str, node: Node, lanes: list[int], header: Mapping[str, str | int]) -> None:
    """Write memory, registers and flags of the chosen lanes."""
    check_state_name(path)
    memory = node.memory[:, lanes]
    registers = {name: node.register(name)[lanes] for name in REGISTERS}
    flags = {name: node.flag(name)[lanes] for name in FLAGS}
    if Path(path).suffix == ".npz":
        text = np.array(json.dumps(header, sort_keys=True))
        with output_file(path, binary=True) as stream:
            np.savez_compressed(stream, memory=memory, lanes=np.array(lanes), header=text, **registers, **flags)
        return
    body = {
        "schema": "pixelflow.state/1",
        "header": header,
        "lanes": lanes,
        "memory": [bytes(memory[:, index]).hex() for index in range(len(lanes))],
        "registers": {name: values.tolist() for name, values in registers.items()},
        "flags": {name: values.tolist() for name, values in flags.items()},
    }
    with output_file(path) as stream:
        json.dump(body, stream, sort_keys=True, indent=1)
        stream.write("\n")
