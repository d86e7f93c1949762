"""Waits that one instruction causes the next: for the memory port after a store, for a sequencer that is behind.

The declared costs rest on two abilities that no document claims or denies. A byte is read in the cycle that uses it:
with one port whose address goes out a cycle early, a read directly after a store waits (`extra.store_then_read`); any
other cycle between the two frees the port. And LOOP and ENDL take no cycle: where the sequencer decodes them like other
instructions, one a cycle (`igc.fold_loops`), it falls behind by a cycle with each, and gains one with each cycle beyond
the first of an instruction of the PEs, which wait where it is behind.
"""

from __future__ import annotations

from collections.abc import Sequence

from pixelflow.config import ExtraConfig, IgcConfig
from pixelflow.isa import Instruction, Unit
from pixelflow.isa.control import ENDL, HALT, LOOP
from pixelflow.simd.isa.declare import Step
from pixelflow.simd.isa.kinds import ByKind

PORT, SEQUENCER = "memory port", "sequencer"
"""Reasons of these waits, as in `Run.waits`."""

LEAD, FIRST_LEAD = 4, 1
"""Cycles that a sequencer can be ahead of the PEs, and is at the beginning: the queue of the trial in hardware."""


class Stalls:
    """The two rules for the instructions of one program; both are part of `Stream`, which keeps their state."""

    def __init__(self, instructions: ByKind, cycles: Sequence[int], igc: IgcConfig, extra: ExtraConfig) -> None:
        self.port_cycles = extra.store_then_read
        self.reads = instructions.each(lambda each: self.port_cycles > 0 and begins_with_read(each))
        stores = instructions.each(ends_with_store)
        self._leaves = [store if takes else None for store, takes in zip(stores, cycles, strict=True)]
        """True after an instruction whose last cycle stored, False after any other; None where no cycle passed."""
        declarations = instructions.each(lambda each: each.declaration)
        self.defers = [each in (LOOP, ENDL, HALT) for each in declarations]
        """True if an instruction does not wait for a sequencer that is behind."""
        falls_behind = not igc.fold_loops and not igc.control_cycles  # which are these cycles already
        self._gains = [
            (-1 if falls_behind and each in (LOOP, ENDL) else 0) if each.unit is Unit.SEQUENCER else max(0, takes - 1)
            for each, takes in zip(declarations, cycles, strict=True)
        ]
        self._spans: dict[tuple[int, int], tuple[bool | None, int]] = {}

    def after(self, first: int, end: int) -> tuple[bool | None, int]:
        """Return what instructions ``first`` to ``end - 1`` leave: whether the last cycle stored, and the gained lead.

        The first is None where no cycle passed.
        """
        found = self._spans.get((first, end))
        if found is None:
            stored = next((each for each in reversed(self._leaves[first:end]) if each is not None), None)
            found = self._spans[first, end] = stored, sum(self._gains[first:end])
        return found

    def up_to_read(self, first: int, end: int) -> int:
        """Return the end of the instructions starting at ``first``, at most ``end``, that wait for no port inside.

        The first one may wait, for a store that came before it.
        """
        stored = self.port_cycles > 0
        for index in range(first, end if stored else first):
            if index > first and stored and self.reads[index]:
                return index
            leaves = self._leaves[index]
            stored = stored if leaves is None else leaves
        return end


def begins_with_read(instruction: Instruction) -> bool:
    """Return whether the first cycle of an instruction reads memory of the PEs."""
    first = next(iter(_steps(instruction)), None)
    return first is not None and first.memory and not first.store


def ends_with_store(instruction: Instruction) -> bool:
    """Return whether the last cycle of an instruction writes memory of the PEs."""
    return any(step.store for step in _steps(instruction)[-1:])


def _steps(instruction: Instruction) -> tuple[Step, ...]:
    return instruction.steps if instruction.declaration.unit is Unit.PE else ()
