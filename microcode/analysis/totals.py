"""Cycles of a routine from the program alone: loops multiplied, calls included.

The machine has no data-dependent control flow, so these totals equal what a run executes; nothing here looks at a
run. Straight code and loops are added up directly. Code with jumps is followed step by step, up to a limit.
"""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.simd.isa.declare import Flow
from pixelflow.simd.isa.program import AssembledProgram

__all__ = ["Total", "Totals"]

STEPS = 200_000
"""Instructions followed through a routine with jumps before its total is given up as unknown."""
CALLS = 100
"""Calls inside calls that are followed."""


@dataclass(frozen=True, slots=True)
class Total:
    """Cycles of one execution: ``own`` without, ``total`` with the routines that it calls."""

    own: int
    total: int


class Totals:
    """The totals of the routines and streams of a program, worked out on demand."""

    def __init__(self, program: AssembledProgram) -> None:
        self.program = program
        self._depth = 0
        self._known: dict[int, Total | None] = {}
        self._halting: set[int] = set()
        """Entries from which the stream halts instead of returning."""

    def at(self, entry: int) -> Total | None:
        """Return the cycles from a word address to RET or HALT; None where they are not known.

        Unknown are endless programs, recursion, calls nested deeper than `CALLS`, and code that jumps about for more
        than `STEPS` instructions.
        """
        if entry not in self._known:
            if self._depth == CALLS:
                return None
            self._depth += 1
            self._known[entry] = None  # a routine that calls itself has no total
            self._known[entry] = self._follow(entry)
            self._depth -= 1
        return self._known[entry]

    def _follow(self, entry: int) -> Total | None:
        """Add up from an entry on; loops without jumps inside are multiplied, everything else is walked."""
        program = self.program
        index: int | None = program.index_of.get(entry)
        own = total = steps = 0
        # For each open loop: first instruction of its body, turns left, and own and total cycles at its start.
        loops: list[tuple[int, int, int, int]] = []
        jumped = False
        while index is not None and index < len(program.instructions):
            steps += 1
            if steps > STEPS:
                return None
            instruction = program.instructions[index]
            follow: int | None = index + 1
            declaration = instruction.declaration
            if declaration.flow is Flow.HALT:
                self._halting.add(entry)
            if declaration.flow in (Flow.RETURN, Flow.HALT):
                return Total(own, total)
            if declaration.flow is Flow.LOOP:
                if instruction.operands[0] == 0:
                    follow = self._after_loop(index)
                else:
                    loops.append((index + 1, instruction.operands[0], own, total))
            elif declaration.flow is Flow.END_LOOP:
                if not loops:
                    return None
                start, turns, own_before, total_before = loops.pop()
                if not jumped:
                    own += (own - own_before) * (turns - 1)
                    total += (total - total_before) * (turns - 1)
                elif turns > 1:
                    loops.append((start, turns - 1, own, total))
                    follow = start
            elif declaration.flow is Flow.JUMP:
                jumped = True
                follow = program.index_of.get(instruction.operands[0])
            elif declaration.flow is Flow.CALL:
                callee = self.at(instruction.operands[0])
                if callee is None:
                    return None
                total += callee.total
                if instruction.operands[0] in self._halting:
                    self._halting.add(entry)
                    return Total(own, total)
            own += instruction.cycles
            total += instruction.cycles
            index = follow
        return None

    def _after_loop(self, index: int) -> int | None:
        """Return the instruction after the ENDL of the LOOP at ``index``."""
        depth = 0
        for at in range(index, len(self.program.instructions)):
            declaration = self.program.instructions[at].declaration
            depth += (declaration.flow is Flow.LOOP) - (declaration.flow is Flow.END_LOOP)
            if depth == 0:
                return at + 1
        return None
