"""The first cycle in which two runs differ, and what differs there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.debugger.changes import byte_name
from pixelflow.isa import Program
from pixelflow.node import Replay
from pixelflow.observe import Executed
from pixelflow.simd.errors import InputError
from pixelflow.simd.report import counted

__all__ = ["Divergence", "RunDifference", "compare_arrays", "compare_memory", "first_divergence"]

_GRID = 256
"""Cycles between two comparisons, until one finds a difference: a difference that is gone again before is not seen."""


@dataclass(frozen=True)
class RunDifference:
    """A register, flag or byte of memory that is not the same on both sides."""

    name: str
    lanes: NDArray[np.int64]
    """The PEs in which it differs."""
    values: tuple[NDArray, NDArray]
    """What it is in these PEs, on either side."""


@dataclass(frozen=True)
class Divergence:
    """Two runs are equal at position ``cycle``, and not after it; at -1 where they begin differently."""

    cycle: int
    executed: tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]
    """What begins in that cycle, on either side: (stream, position of the instruction)."""
    differences: tuple[RunDifference, ...]
    modules: tuple[int, ...]
    """Modules whose texture memory differs."""
    ends: tuple[int | None, int | None]
    """Where either run ends, as far as known; at that position already, where this is why they differ."""


def first_divergence(
    first: Replay, second: Replay, progress: Callable[[int], None] = lambda cycles: None
) -> Divergence | None:
    """Take two runs forwards side by side until their data differ, or one ends before the other.

    Returns None where they end in the same cycle with the same data. Both stand after the difference then.
    ``progress`` is told how many cycles more have been compared.
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
        _both_to(sides, equal + _GRID)
        progress(_GRID)
        if not _equal(sides):
            break
        if first.ended and second.ended:
            return None
        equal += _GRID
    return _search(sides, equal)


def _search(sides: tuple[Replay, Replay], equal: int) -> Divergence:
    """Find the first difference after a position at which there is none."""
    _both_to(sides, equal)
    began: tuple[list[Executed], list[Executed]] = ([], [])
    with sides[0].hearing(began[0].append, Executed), sides[1].hearing(began[1].append, Executed):
        while True:
            for side, seen in zip(sides, began, strict=True):
                seen.clear()
                side.advance(equal + 1)
            if not _equal(sides):
                break
            equal += 1
    executed = tuple(_issued(side, seen) for side, seen in zip(sides, began, strict=True))
    return _divergence(sides, equal, executed)


def _both_to(sides: tuple[Replay, Replay], cycle: int) -> None:
    for side in sides:
        side.goto(cycle)


def _equal(sides: tuple[Replay, Replay]) -> bool:
    """Whether both sides hold the same data, and have ended in the same way where one of them has."""
    first, second = ((_texture(side), side.node.digest(), _ending(side)) for side in sides)
    return first == second


def _ending(side: Replay) -> tuple[int, str] | None:
    return (side.position, side.account.reason) if side.ended else None


def _texture(side: Replay) -> list[str]:
    return [memory.digest() for memory in side.node.texture_memory]


def _issued(side: Replay, seen: list[Executed]) -> tuple[tuple[str, int], ...]:
    """Return (stream, position) of the instructions among these that are not control."""
    control = next(iter(side.streams.values())).sequencer.control
    return tuple((event.stream, event.index) for event in seen if control[event.index] is None)


def _divergence(sides: tuple[Replay, Replay], cycle: int, executed: tuple) -> Divergence:
    first, second = (side.node.array.snapshot() for side in sides)
    textures = [_texture(side) for side in sides]
    modules = tuple(at for at, (a, b) in enumerate(zip(*textures, strict=True)) if a != b)
    memory = compare_memory(first.pop("rows"), second.pop("rows"), sides[0].program)
    per_pe = {name: values for name, values in first.items() if values.shape == (sides[0].node.lanes,)}
    differences = (*compare_arrays(per_pe, {name: second[name] for name in per_pe}), *memory)
    ends = tuple(side.position if side.ended else None for side in sides)
    return Divergence(cycle, executed, differences, modules, ends)


def compare_arrays(first: dict[str, NDArray], second: dict[str, NDArray]) -> list[RunDifference]:
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
