"""What a run took, from how often each instruction executed. Every count is the sum of declared steps."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from pixelflow.isa import Family, Program, SourceLine

__all__ = ["RoutineUse", "Run"]


@dataclass(frozen=True, slots=True)
class RoutineUse:
    """How often a routine was called, and its cycles: its own instructions, and with the routines it called."""

    name: str
    calls: int
    own_cycles: int
    total_cycles: int


@dataclass(frozen=True)
class Run:
    """The account of one run of one stream."""

    program: Program
    engine: str
    cycles: int
    executed: tuple[int, ...]
    """How often each instruction of ``program.instructions`` was executed."""
    cycles_each: tuple[int, ...]
    """Cycles of one execution of each instruction."""
    stages: tuple[tuple[str, int], ...]
    """MARKs in the order they were met: (name, cycle)."""
    routine_cycles: dict[str, tuple[int, int]]
    seconds_at_clock: float

    @cached_property
    def instructions(self) -> int:
        """Instructions executed, control included."""
        return sum(self.executed)

    @cached_property
    def microinstructions(self) -> int:
        """Instructions executed that took at least one cycle."""
        return sum(n for n, cycles in zip(self.executed, self.cycles_each, strict=True) if cycles)

    @cached_property
    def _spent(self) -> tuple[int, ...]:
        return tuple(n * cycles for n, cycles in zip(self.executed, self.cycles_each, strict=True))

    @cached_property
    def by_family(self) -> dict[Family, int]:
        """Cycles per instruction family, in the order of `Family`."""
        totals: Counter[Family] = Counter()
        for instruction, cycles in zip(self.program.instructions, self._spent, strict=True):
            totals[instruction.declaration.family] += cycles
        return {family: totals[family] for family in Family if totals[family]}

    @cached_property
    def by_line(self) -> dict[SourceLine | None, int]:
        """Cycles per source line, in program order; None holds what has no source line."""
        totals: Counter[SourceLine | None] = Counter()
        for index, cycles in enumerate(self._spent):
            totals[self.program.line_at(index)] += cycles
        return dict(totals)

    @cached_property
    def by_routine(self) -> dict[str, RoutineUse]:
        """Use of each routine that ran, the main program under the name ``(main)``."""
        own: Counter[str] = Counter()
        for address, cycles in zip(self.program.addresses, self._spent, strict=True):
            routine = self.program.routine_at(address)
            own[routine.name if routine else "(main)"] += cycles
        uses = {"(main)": RoutineUse("(main)", 1, own["(main)"], self.cycles)}
        for name, (calls, total) in self.routine_cycles.items():
            uses[name] = RoutineUse(name, calls, own[name], total)
        return uses

    @cached_property
    def by_stage(self) -> dict[str, int]:
        """Cycles from each MARK to the next; a name that comes again adds up; ``(before)`` precedes the first."""
        totals: dict[str, int] = {}
        marks = [("(before)", 0), *self.stages, ("(end)", self.cycles)]
        for (name, start), (_, end) in pairwise(marks):
            if name != "(before)" or end > start:
                totals[name] = totals.get(name, 0) + end - start
        return totals
