"""Calls of routines of straight code, skipped as a whole: from CALL to after RET.

Such a routine takes the same cycles whenever it is called, waits for nothing and is seen by nobody, where its operands
lie outside the ports. Its cycles are the sum of its instructions' own; that sum is found once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pixelflow.isa import Mem, Unit
from pixelflow.isa.control import RET, START
from pixelflow.isa.registers import ENABLE_STACK, LATCH_STACK
from pixelflow.node.run.streams.ports import meets_ports, sharing
from pixelflow.node.run.streams.sequencer import Sequencer
from pixelflow.node.run.streams.straight_code import CallFrame, RoutineBody, StraightCode

__all__ = ["WholeCall", "WholeCalls"]


@dataclass(slots=True)
class WholeCall(StraightCode):
    """A call, the routine's instructions and its return. `relative` is empty: addresses are looked up by call."""

    arguments: tuple = ()
    sequencer: Sequencer = None  # type: ignore[assignment]
    parameters: tuple[int, ...] = ()
    """Those of the pass that is being made."""
    _unseen: dict[tuple[int, ...], bool] = field(default_factory=dict)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        return ((self.first, self.end), (self.body.first, self.body.end + 1))

    @property
    def length(self) -> int:
        return self.body.end - self.body.first

    def fits(self, frames: Sequence[CallFrame]) -> bool:
        """Return whether the call can be made unseen: no instruction faults, none of them meets a port.

        ``parameters`` are then those of this pass.
        """
        if not self._has_room(frames):
            return False
        parameters = self._evaluated(frames[-1].parameters)
        if parameters is None or not self._is_unseen(parameters):
            return False
        self.parameters = parameters
        return True

    def _has_room(self, frames: Sequence[CallFrame]) -> bool:
        """Return whether the stacks of calls, latches and enables have room; where not, the fault comes of itself."""
        if len(frames) > self.sequencer.config.call_depth:
            return False
        body = self.body
        if body.started and sum(frame.started for frame in frames) >= len(LATCH_STACK):
            return False
        return not body.saves or sum(frame.saved_enables for frame in frames) + body.saves <= len(ENABLE_STACK)

    def _evaluated(self, callers: Sequence[int]) -> tuple[int, ...] | None:
        """Return the parameters of the call; None where one of the caller's is missing."""
        found = []
        for value, base in self.arguments:
            if base is not None:
                if base >= len(callers):
                    return None
                value += callers[base]
            found.append(value)
        return tuple(found)

    def _is_unseen(self, parameters: tuple[int, ...]) -> bool:
        known = self._unseen.get(parameters)
        if known is None:
            known = self._unseen[parameters] = all(
                base < len(parameters) and not meets_ports(parameters[base] + low, high - low)
                for base, low, high in self.body.reach
            )
        return known


class WholeCalls:
    """The calls of a program that can be skipped."""

    def __init__(self, sequencer: Sequencer) -> None:
        self._sequencer = sequencer
        self._bodies: dict[int, RoutineBody | None] = {}

    def at(self, index: int) -> WholeCall | None:
        """Return the call at an instruction that is one; None where the routine is no straight code."""
        sequencer = self._sequencer
        target, arguments = sequencer.program.by_kind[index].operands
        if target not in self._bodies:
            self._bodies[target] = self._look(target)
        body = self._bodies[target]
        if body is None:
            return None
        cycles = sequencer.cycles[index] + body.cycles
        values = tuple((each.offset if isinstance(each, Mem) else each.value, each.base) for each in arguments)
        return WholeCall(index, index + 1, cycles, (), body=body, arguments=values, sequencer=sequencer)

    def _look(self, target: int) -> RoutineBody | None:
        """Return the routine at a word address, None where it is no straight code or is seen for certain."""
        sequencer = self._sequencer
        instructions = sequencer.program.by_kind
        first = instructions.position(target)
        if first is None:
            return None
        end, depth, saves = first, 0, 0
        reach: dict[int, tuple[int, int]] = {}
        while end < len(instructions) and instructions[end].declaration is not RET:
            instruction = instructions[end]
            declaration = instruction.declaration
            if declaration.unit is not Unit.PE or sharing(instruction) is True:
                return None
            if declaration is START and end > first:
                return None
            depth += declaration.pushes
            saves = max(saves, depth)
            if depth < 0:
                return None
            for memory, size in instruction.touches:
                if memory.base is not None:
                    low, high = reach.get(memory.base, (memory.offset, memory.offset))
                    reach[memory.base] = (min(low, memory.offset), max(high, memory.offset + size))
            end += 1
        if end == len(instructions) or depth or end == first:
            return None
        return RoutineBody(
            first,
            end,
            target,
            sequencer.routine_name(target),
            sum(sequencer.cycles[first : end + 1]),
            instructions[first].declaration is START,
            saves,
            tuple((base, *ends) for base, ends in reach.items()),
        )
