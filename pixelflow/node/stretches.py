"""Stretches of straight code: what a run passes over as a whole.

A stretch holds instructions of the PEs only: no control, nothing that watches the depth of a stack. A plain one holds
nothing that the texture side sees for certain; whether an address that is relative to a parameter meets a port is asked
each time. One of settings writes registers of the LEE. A shared one, for runs in which only time passes, begins
and ends with an instruction that uses a port: whoever watches the ports must look at what lies between when a transfer
comes. It sets no mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pixelflow.isa import Family, Instruction, Unit
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
    shared: bool = False
    settings: bool = False
    passes: int = 0

    def unused(self) -> Stretch:
        """Return the same stretch, passed over by nobody."""
        return Stretch(self.first, self.end, self.cycles, self.relative, self.shared, self.settings)

    def unseen(self, parameters: Sequence[int]) -> bool:
        """Return whether no address falls into a port or lacks its parameter."""
        for base, low, high in self.relative:
            if base >= len(parameters) or meets_ports(parameters[base] + low, high - low):
                return False
        return True


class Stretches:
    """The stretch from each instruction of a program on, for one run of it; shared ones only where it is ``timed``.

    ``known`` keeps them, as they are before a run, for other runs of the program.
    """

    def __init__(
        self,
        instructions: Sequence[Instruction],
        cycles: Sequence[int],
        watched: Sequence[object],
        *,
        known: dict[int, Stretch | None] | None = None,
        timed: bool = False,
    ) -> None:
        self._instructions = instructions
        self._cycles = cycles
        self._watched = watched
        self._known = {} if known is None else known
        self._timed = timed
        self._found: dict[int, Stretch | None] = {}

    def at(self, first: int) -> Stretch | None:
        """Return the longest stretch that begins with an instruction, None where it is shorter than two."""
        if first not in self._found:
            if first not in self._known:
                self._known[first] = self._make(first)
            found = self._known[first]
            there = found is not None and (self._timed or not found.shared)
            self._found[first] = found.unused() if there else None
        return self._found[first]

    def _make(self, first: int) -> Stretch | None:
        end = first
        if first < len(self._instructions):
            if self._sharing(first) is True:
                return self._make_shared(first)
            while end < len(self._instructions) and self._instructions[end].declaration.unit is Unit.LEE:
                end += 1
            if end > first:
                return self._stretch(first, end, settings=True)
        while end < len(self._instructions) and self._is_plain(end):
            end += 1
        return self._stretch(first, end)

    def _make_shared(self, first: int) -> Stretch | None:
        end = index = first
        while index < len(self._instructions) and self._is_straight(index) and not self._sets_mark(index):
            index += 1
            if self._sharing(index - 1) is True:
                end = index
        return self._stretch(first, end, shared=True)

    def _sets_mark(self, index: int) -> bool:
        return self._instructions[index].declaration.family is Family.PORT

    def _stretch(self, first: int, end: int, *, shared: bool = False, settings: bool = False) -> Stretch | None:
        if end - first < 2:
            return None
        reach: dict[int, tuple[int, int]] = {}
        for instruction in self._instructions[first:end]:
            if sharing(instruction) is None:
                for memory, size in instruction.touches:
                    if memory.base is not None:
                        low, high = reach.get(memory.base, (memory.offset, memory.offset))
                        reach[memory.base] = (min(low, memory.offset), max(high, memory.offset + size))
        relative = tuple((base, *ends) for base, ends in reach.items())
        return Stretch(first, end, sum(self._cycles[first:end]), relative, shared, settings)

    def _is_straight(self, index: int) -> bool:
        return self._instructions[index].declaration.unit is Unit.PE and not self._watched[index]

    def _is_plain(self, index: int) -> bool:
        return self._is_straight(index) and self._sharing(index) is not True

    def _sharing(self, index: int) -> bool | None:
        return sharing(self._instructions[index])

    def settle(self, executed: list[int]) -> None:
        """Add to ``executed`` how often the instructions of the stretches were executed, and forget it."""
        for stretch in self._found.values():
            if stretch is not None and stretch.passes:
                for index in range(stretch.first, stretch.end):
                    executed[index] += stretch.passes
                stretch.passes = 0
