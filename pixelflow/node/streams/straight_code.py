"""Stretches of straight code: what a run passes over as a whole.

A stretch holds instructions of the PEs only: no control, nothing that watches the depth of a stack. A plain one holds
nothing that the texture side sees for certain; whether an address that is relative to a parameter meets a port is asked
each time. One of settings writes registers of the LEE. A shared one, for runs in which only time passes, begins
and ends with an instruction that uses a port: whoever watches the ports must look at what lies between when a transfer
comes. It sets no mark. The call of a routine of straight code is one as well (`calls.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pixelflow.isa import Family, Instruction, Unit
from pixelflow.isa.control import CALL
from pixelflow.node.streams.ports import PortUse, meets_ports

if TYPE_CHECKING:
    from pixelflow.node.streams.stream import Stream

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

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Which instructions are executed: (first, behind the last) each."""
        return ((self.first, self.end),)

    @property
    def length(self) -> int:
        """Instructions that are executed."""
        return self.end - self.first

    def pass_over(self, stream: Stream, limit: float) -> bool:
        """Let a stream pass over all of it, where nobody outside could see a part; return whether it did."""
        if stream.cycle + self.cycles > limit or not self.unseen(stream.parameters):
            return False
        if stream.takes is not None and not stream.takes(self):
            return False
        stream.cycle += self.cycles
        stream.index = self.end
        stream.stretches.note(self)
        if self.shared:
            stream.passing = self
        elif stream.passed is not None:
            stream.passed(self)
        return True

    def unseen(self, parameters: Sequence[int]) -> bool:
        """Return whether no address falls into a port or lacks its parameter."""
        for base, low, high in self.relative:
            if base >= len(parameters) or meets_ports(parameters[base] + low, high - low):
                return False
        return True


class Stretches:
    """The stretch from each instruction of a program on, for one run of it; shared ones only where it is ``timed``.

    ``known`` keeps them, as they are before a run, for other runs of the program. ``call`` makes those of calls.
    """

    def __init__(
        self,
        instructions: Sequence[Instruction],
        cycles: Sequence[int],
        watched: Sequence[object],
        ports: PortUse,
        *,
        known: dict[int, Stretch | None] | None = None,
        timed: bool = False,
        call: Callable[[int], Stretch | None] | None = None,
    ) -> None:
        self._instructions = instructions
        self._cycles = cycles
        self._watched = watched
        self._ports = ports
        self._known = {} if known is None else known
        self._timed = timed
        self._call = call
        self._found: dict[int, Stretch | None] = {}
        self._passes: dict[int, int] = {}
        """How often this run has passed over the stretch that begins with an instruction."""

    def at(self, first: int) -> Stretch | None:
        """Return the longest stretch that begins with an instruction, None where it is shorter than two or no call."""
        if first not in self._found and not self._timed and self._begins_shared(first):
            self._found[first] = None  # looking for its end would be in vain
        if first not in self._found:
            if first not in self._known:
                self._known[first] = self._make(first)
            found = self._known[first]
            there = found is not None and (self._timed or not found.shared)
            self._found[first] = found if there else None
        return self._found[first]

    def _make(self, first: int) -> Stretch | None:
        end = first
        if first < len(self._instructions):
            if self._instructions[first].declaration is CALL:
                return self._call(first) if self._call is not None else None
            if self._sharing(first) is True:
                return self._make_shared(first)
            while end < len(self._instructions) and self._instructions[end].declaration.unit is Unit.LEE:
                end += 1
            if end > first:
                return self._stretch(first, end, settings=True)
        while end < len(self._instructions) and self._is_plain(end):
            end += 1
        return self._stretch(first, end)

    def _begins_shared(self, first: int) -> bool:
        return first < len(self._instructions) and self._sharing(first) is True

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
        for index in range(first, end):
            for base, offset, size in self._ports.relative(index):
                low, high = reach.get(base, (offset, offset))
                reach[base] = (min(low, offset), max(high, offset + size))
        relative = tuple((base, *ends) for base, ends in reach.items())
        return Stretch(first, end, sum(self._cycles[first:end]), relative, shared, settings)

    def _is_straight(self, index: int) -> bool:
        return self._instructions[index].declaration.unit is Unit.PE and not self._watched[index]

    def _is_plain(self, index: int) -> bool:
        return self._is_straight(index) and self._sharing(index) is not True

    def _sharing(self, index: int) -> bool | None:
        return self._ports.certain(index)

    def note(self, stretch: Stretch) -> None:
        """Note that the run has passed over a stretch."""
        self._passes[stretch.first] = self._passes.get(stretch.first, 0) + 1

    def settle(self, executed: list[int]) -> None:
        """Add to ``executed`` how often the instructions of the stretches were executed, and forget it."""
        totals: dict[tuple[int, int], int] = {}
        for first, passes in self._passes.items():
            for span in self._found[first].spans:
                totals[span] = totals.get(span, 0) + passes
        self._passes.clear()
        for span, passes in totals.items():
            for index in range(*span):
                executed[index] += passes
