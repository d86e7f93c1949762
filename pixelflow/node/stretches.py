"""Stretches of straight code: what a timing-only run passes over as a whole.

A stretch holds instructions of the PEs only: no control, nothing that watches the depth of a stack, nothing that the
texture side sees for certain. Whether an address that is relative to a parameter meets a port is asked each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pixelflow.isa import Instruction, Unit
from pixelflow.node.ports import meets_ports, sharing

__all__ = ["Stretch", "Stretches"]


@dataclass(slots=True)
class Stretch:
    """Instructions ``first`` to ``end - 1``, executed one after the other."""

    first: int
    end: int
    cycles: int
    relative: tuple[tuple[int, int, int], ...]
    """For each parameter that addresses are relative to: (parameter, first byte, byte behind the last)."""
    passes: int = 0

    def unseen(self, parameters: Sequence[int]) -> bool:
        """Return whether no address falls into a port or lacks its parameter."""
        for base, low, high in self.relative:
            if base >= len(parameters) or meets_ports(parameters[base] + low, high - low):
                return False
        return True


class Stretches:
    """The stretch from each instruction of a program on, made when it is first asked for."""

    def __init__(self, instructions: Sequence[Instruction], cycles: Sequence[int], watched: Sequence[object]) -> None:
        self._instructions = instructions
        self._cycles = cycles
        self._watched = watched
        self._found: dict[int, Stretch | None] = {}

    def at(self, first: int) -> Stretch | None:
        """Return the longest stretch that begins with an instruction, None where it is shorter than two."""
        if first not in self._found:
            self._found[first] = self._make(first)
        return self._found[first]

    def _make(self, first: int) -> Stretch | None:
        end = first
        reach: dict[int, tuple[int, int]] = {}
        while end < len(self._instructions) and self._is_plain(end):
            for memory, size in self._instructions[end].touches:
                if memory.base is not None:
                    low, high = reach.get(memory.base, (memory.offset, memory.offset))
                    reach[memory.base] = (min(low, memory.offset), max(high, memory.offset + size))
            end += 1
        if end - first < 2:
            return None
        return Stretch(first, end, sum(self._cycles[first:end]), tuple((b, *ends) for b, ends in reach.items()))

    def _is_plain(self, index: int) -> bool:
        instruction = self._instructions[index]
        plain = instruction.declaration.unit is Unit.PE and not self._watched[index]
        return plain and sharing(instruction) is not True

    def settle(self, executed: list[int]) -> None:
        """Add to ``executed`` how often the instructions of the stretches were executed, and forget it."""
        for stretch in self._found.values():
            if stretch is not None and stretch.passes:
                for index in range(stretch.first, stretch.end):
                    executed[index] += stretch.passes
                stretch.passes = 0
