"""Pokes as people write them: what is to change, and the values that it gets, from an expression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pixelflow.debugger.values.arithmetic import Quantity
from pixelflow.debugger.values.expression import FLAGS, REGISTERS, PeExpression
from pixelflow.isa import MemoryRange, Program, RangeForm
from pixelflow.node import Node, Poke
from pixelflow.node.named_ranges import bytes_of, find_range
from pixelflow.node.pe_map import MAP_FLAGS
from pixelflow.simd.errors import Fault, InputError

__all__ = ["bytes_named", "poke_of"]

_RECORDED = "what is recorded: R, S, M, C, E, L, MR, MW, ranges, bytes NAME[2] or 200-203"
_NOT_RECORDED = ("cycle", "pe", "sem", "semaphores", "stack", "stages", "texture", "x", "y")
"""Words for things that no poke changes: streams and time follow from the program, places from the LEE."""
_MEMORY = "memory"


def bytes_named(text: str, program: Program, limit: int) -> tuple[MemoryRange, RangeForm]:
    """Return the bytes of a range in a form, of ``NAME[2]``, ``200`` or ``200-203``; raises InputError."""
    first, dash, last = text.partition("-")
    if first.isascii() and first.isdigit():
        start, end = int(first[:9]), int(last[:9]) if last.isascii() and last.isdigit() else int(first[:9])
        if (dash and not last.isdigit()) or not start <= end < limit:
            raise InputError(Fault(f"{text}: no such bytes", hint=f"allowed: 0 to {limit - 1}"))
        return MemoryRange(text, start, end - start + 1), RangeForm.BYTES
    if not text.endswith("]"):
        return find_range(text, program)
    name, _, index = text[:-1].partition("[")
    found, _ = find_range(name, program)
    if not (index.isascii() and index.isdigit()) or int(index[:9]) >= found.size:
        raise InputError(Fault(f"{text}: no such byte", hint=f"allowed: {name}[0] to {name}[{found.size - 1}]"))
    return MemoryRange(text, found.start + int(index[:9]), 1), RangeForm.BYTES


def poke_of(node: Node, program: Program, cycle: int, target: str, text: str, lanes: Sequence[int] | None) -> Poke:
    """Return the change that gives a target the value of an expression at this position, in some PEs (None: all).

    Raises InputError for a target that cannot be recorded, and for values that it cannot hold.
    """
    chosen = np.arange(node.lanes) if lanes is None else np.array(lanes, np.int64)
    names = {each.name for each in program.ranges}
    part = MAP_FLAGS.get(target, target)
    of_pes = part in REGISTERS or part in FLAGS
    if not of_pes and target.lower() in _NOT_RECORDED and target not in names:
        raise InputError(Fault(f"{target} cannot be changed, so that going back stays true", hint=_RECORDED))
    found = None if of_pes else bytes_named(target, program, node.config.array.memory_bytes)
    value = PeExpression.read(text, program).value(node, cycle)
    written = f"{target} = {text}"
    if found is None:
        return Poke(cycle, written, part, chosen, _narrow(part, value, node.lanes)[None, chosen])
    rows = bytes_of(_whole_as_whole(value, target), *found, node.lanes)
    return Poke(cycle, written, _MEMORY, chosen, rows[:, chosen], found[0].start)


def _narrow(part: str, value: Quantity, lanes: int) -> NDArray[np.uint8]:
    """Return values of a register or flag: uint8[lanes]; raises InputError for what it cannot hold."""
    found = np.broadcast_to(np.asarray(value), (lanes,))
    low, high = (-128, 255) if part in REGISTERS else (0, 1)
    if found.dtype.kind == "f" or not (low <= int(found.min()) and int(found.max()) <= high):
        raise InputError(f"{part} holds whole numbers from {low} to {high}")
    return (found.astype(np.int64) & 0xFF).astype(np.uint8)


def _whole_as_whole(value: Quantity, target: str) -> NDArray[np.generic]:
    """Return values as numbers of a machine type; raises InputError for those that no type holds."""
    found = np.asarray(value)
    if found.dtype != object:
        return found
    try:
        return found.astype(np.uint64 if int(found.min()) >= 0 else np.int64)
    except OverflowError:
        raise InputError(f"{target} cannot hold numbers of more than 64 bits") from None
