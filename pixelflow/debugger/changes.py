"""What has changed in the PEs between two positions of a run, by the names that a program gives to things."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.isa import Program
from pixelflow.node import Node

__all__ = ["FLAGS", "REGISTERS", "Change", "StatePicture", "byte_name"]

REGISTERS = ("R", "S", "M")
FLAGS = ("C", "E", "L", "MR", "MW")


@dataclass(frozen=True)
class Change:
    """Something that differs: a register, a flag, a memory range, or bytes outside of all ranges."""

    name: str
    lanes: NDArray[np.int64]
    """The PEs in which it does."""


@dataclass(frozen=True)
class StatePicture:
    """All PE state at one position, as arrays by name."""

    values: dict[str, NDArray]
    """Registers uint8[PEs], flags bool[PEs]."""
    memory: NDArray[np.uint8]
    """uint8[bytes, PEs]."""
    texture: tuple[str, ...]
    """A hash of the texture memory of each module."""

    @classmethod
    def of(cls, node: Node) -> StatePicture:
        """Return the state of a node as it is now."""
        values = {name: node.register(name) for name in REGISTERS} | {name: node.flag(name) for name in FLAGS}
        return cls(values, node.memory, tuple(memory.digest() for memory in node.texture_memory))

    def changes(self, later: StatePicture, program: Program) -> list[Change]:
        """Return what differs in ``later``: registers and flags first, then memory by address."""
        found = [
            Change(name, np.flatnonzero(values != later.values[name]))
            for name, values in self.values.items()
            if not np.array_equal(values, later.values[name])
        ]
        rows = np.flatnonzero((self.memory != later.memory).any(axis=1))
        for name, bytes_of in _by_owner(program, rows.tolist()):
            differs = (self.memory[bytes_of] != later.memory[bytes_of]).any(axis=0)
            found.append(Change(name, np.flatnonzero(differs)))
        return found

    def changed_modules(self, later: StatePicture) -> list[int]:
        """Return the modules whose texture memory differs."""
        return [at for at, (old, new) in enumerate(zip(self.texture, later.texture, strict=True)) if old != new]


def byte_name(program: Program, address: int) -> str:
    """Return the name of a byte: ``NAME[i]`` by the smallest range that holds it, or its address in brackets."""
    holding = [each for each in program.ranges if each.start <= address < each.start + each.size]
    if not holding:
        return f"[{address}]"
    smallest = min(holding, key=lambda each: each.size)
    return f"{smallest.name}[{address - smallest.start}]" if smallest.size > 1 else smallest.name


def _by_owner(program: Program, addresses: list[int]) -> list[tuple[str, list[int]]]:
    """Group addresses by the range that holds them; neighbours without a range go together."""
    groups: list[tuple[str, list[int]]] = []
    for address in addresses:
        owner = byte_name(program, address).partition("[")[0]
        if groups and groups[-1][0] == owner and (owner or groups[-1][1][-1] == address - 1):
            groups[-1][1].append(address)
        else:
            groups.append((owner, [address]))
    return [(owner or _span(members), members) for owner, members in groups]


def _span(addresses: list[int]) -> str:
    first, last = addresses[0], addresses[-1]
    return f"[{first}]" if first == last else f"[{first}..{last}]"
