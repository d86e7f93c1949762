"""Run one library routine on many operands at once, through the assembler and a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from microcode import assemble
from microcode.catalogue import FLOATS, INTEGERS, ORDERS, Entry
from pixelflow.config import THESIS, NodeConfig
from pixelflow.isa import Program
from pixelflow.node import Node

OPERANDS = (0, 32, 64)
"""Addresses of the result and the two operands, 32 bytes apart."""

Rows = NDArray[np.uint8]
"""Operands or results: ``[byte, lane]``, low byte first."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Results of a routine and the cycles that every one of its calls took."""

    result: Rows
    cycles: int


@cache
def calling(include: str, shift: Entry | None, addresses: tuple[int, ...]) -> Program:
    """Return a program with one entry for each routine of a library file, that calls it once and halts.

    Shifts are not listed by file; the one that is wanted is given.
    """
    lines = [include]
    listed = (*FLOATS, *ORDERS, *INTEGERS) if shift is None else (shift,)
    named = [e for e in listed if e.include == include and len(e.parameters) <= len(addresses)]
    for entry in named:
        places = ", ".join(f"[{address}]" for address in addresses[: len(entry.parameters)])
        lines += [f"{entry.name}_call: CALL {entry.name}, {places}", "HALT"]
    program = assemble("\n".join(lines))
    return replace(program, entries={entry.name: program.labels[f"{entry.name}_call"] for entry in named})


@cache
def node(config: NodeConfig, engine: str) -> Node:
    """Return a node to be reused: a routine leaves nothing behind that the next one may rely on."""
    return Node(config, engine)


def run(
    entry: Entry,
    operands: Sequence[Rows],
    *,
    addresses: Sequence[int] = OPERANDS,
    config: NodeConfig = THESIS,
    engine: str = "rows",
) -> Outcome:
    """Run a routine on operand columns of any number, in passes over the lanes of the configuration.

    ``addresses`` are those of the call: result first. An operand that is the result's address is overwritten.
    """
    program = calling(entry.include, None if entry.count is None else entry, tuple(addresses))
    machine = node(config, engine)
    count = operands[0].shape[1]
    result = np.empty((entry.result_bytes, count), np.uint8)
    cycles = set()
    for first in range(0, count, machine.lanes):
        last = min(first + machine.lanes, count)
        for address, operand in zip(addresses[1:], operands, strict=False):
            lanes = np.zeros((operand.shape[0], machine.lanes), np.uint8)
            lanes[:, : last - first] = operand[:, first:last]
            machine.write_memory(address, lanes)
        cycles.add(machine.run(program, entry=entry.name).cycles)
        result[:, first:last] = machine.read_memory(addresses[0], entry.result_bytes)[:, : last - first]
    assert len(cycles) == 1, f"{entry.name} took {sorted(cycles)} cycles: they depend on the data"
    return Outcome(result, cycles.pop())


def columns(values: NDArray[np.unsignedinteger], size: int) -> Rows:
    """Return integers as little-endian byte rows."""
    wide = np.ascontiguousarray(values.astype("<u8"))
    return np.ascontiguousarray(wide.view(np.uint8).reshape(-1, 8)[:, :size].T)


def integers(rows: Rows) -> NDArray[np.uint64]:
    """Return byte rows as unsigned integers of at most eight bytes."""
    wide = np.zeros((rows.shape[1], 8), np.uint8)
    wide[:, : rows.shape[0]] = rows.T
    return wide.view("<u8").reshape(-1)
