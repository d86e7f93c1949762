"""Aliasing: calls whose arguments overlap although the declaration of the routine forbids it.

How far a routine reaches from each of its parameters is read off its code and that of the routines it calls; what it
allows stands in its declaration (``whole``, ``apart``).
"""

from __future__ import annotations

from collections.abc import Iterator

from microcode.analysis.footprint import footprint
from pixelflow.simd.isa.declare import Flow
from pixelflow.simd.isa.operands import Mem
from pixelflow.simd.isa.program import AssembledProgram, Routine

__all__ = ["overlaps"]

Reach = dict[int, tuple[int, int]]
"""For each parameter that is a place the first byte that the routine touches, and the one past the last."""


class _Reaches:
    """How far the routines of a program reach."""

    def __init__(self, program: AssembledProgram) -> None:
        self._program = program
        self._entries = {routine.entry: routine for routine in program.routines}
        self._found: dict[int, Reach] = {}

    def of(self, routine: Routine) -> Reach:
        """Return how far a routine reaches from each parameter; a recursion adds nothing."""
        found = self._found.get(routine.entry)
        if found is not None:
            return found
        found = self._found[routine.entry] = {}
        program = self._program
        for at, instruction in zip(program.addresses, program.instructions, strict=True):
            if not routine.entry <= at < routine.end:
                continue
            touched = footprint(instruction)
            for base, offset in touched.reads | touched.writes:
                if base is not None:
                    _widen(found, base, offset, offset + 1)
            called = self._entries.get(instruction.operands[0]) if instruction.declaration.flow is Flow.CALL else None
            if called is not None:
                reach = self.of(called)
                for number, argument in enumerate(instruction.operands[1]):
                    if isinstance(argument, Mem) and argument.base is not None and number in reach:
                        low, high = reach[number]
                        _widen(found, argument.base, argument.offset + low, argument.offset + high)
        return found


def _widen(reach: Reach, base: int, low: int, high: int) -> None:
    before = reach.get(base, (low, high))
    reach[base] = min(before[0], low), max(before[1], high)


def overlaps(program: AssembledProgram) -> Iterator[tuple[int, str, str]]:
    """Yield, for each argument that overlaps another one against the declaration, the call, what and why."""
    entries = {routine.entry: routine for routine in program.routines}
    reaches = _Reaches(program)
    for index, instruction in enumerate(program.instructions):
        called = entries.get(instruction.operands[0]) if instruction.declaration.flow is Flow.CALL else None
        if called is None or not (called.entire or called.apart):
            continue
        reach = reaches.of(called)
        places = {
            name: (argument, argument.offset + reach[number][0], argument.offset + reach[number][1])
            for number, (name, argument) in enumerate(zip(called.parameters, instruction.operands[1], strict=False))
            if isinstance(argument, Mem) and number in reach
        }
        said: set[frozenset[str]] = set()
        for name in (*called.apart, *called.entire):
            for other in places:
                pair = frozenset((name, other))
                if name not in places or name == other or pair in said:
                    continue
                (mine, low, high), (theirs, first, end) = places[name], places[other]
                if mine.base != theirs.base or high <= first or end <= low:
                    continue
                strict = name in called.apart or other in called.apart
                if mine.offset == theirs.offset and not strict:
                    continue
                said.add(pair)
                by_part = "" if mine.offset == theirs.offset else " by a part"
                bytes_of = f"bytes {low}..{high - 1} and {first}..{end - 1}"
                allowed = "lies apart from all others" if strict else "is that of another one as a whole, or apart"
                whose = name if not strict or name in called.apart else other
                yield (
                    index,
                    f"what {called.name} takes as {name} overlaps {other}{by_part}: {bytes_of}",
                    f"{called.name}: {whose} {allowed}",
                )
