"""Which flags the instructions of a program write, and from what: found from their meanings, once for each."""

from __future__ import annotations

from collections.abc import Sequence

from pixelflow.isa import Instruction, Unit
from pixelflow.isa.emc import unlatch
from pixelflow.isa.registers import MASKS
from pixelflow.node.parts.array.influence import influences, influences_of

__all__ = ["FLAG", "UNLATCHED", "FlagWrites", "Writes"]

FLAG = {name: position for position, name in enumerate(MASKS)}
"""The number of each flag."""

Writes = tuple[tuple[int, tuple[int, ...] | None], ...]
"""Each flag that is written, and the flags that its new value is made from; None where PE data are among it."""


def _flags_only(written: dict[str, frozenset[str]]) -> Writes:
    return tuple(
        (FLAG[name], tuple(FLAG[source] for source in sources) if sources <= FLAG.keys() else None)
        for name, sources in written.items()
        if name in FLAG
    )


UNLATCHED = _flags_only(influences_of(unlatch))
"""What the return of a started routine writes."""


class FlagWrites:
    """The flags that each instruction of a program writes.

    Which flags a meaning reads and writes depends on no operand's value: only registers have names, and no flag is one.
    So it is found once for each kind of instruction and of operands.
    """

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        self._instructions = instructions
        self._found: list[Writes | None] = [None] * len(instructions)
        self._by_kind: dict[tuple, Writes] = {}

    def of(self, index: int) -> Writes:
        """Return the writes of instruction number ``index``; none for one that is not for the PEs."""
        found = self._found[index]
        if found is None:
            found = self._found[index] = self._look(self._instructions[index])
        return found

    def _look(self, instruction: Instruction) -> Writes:
        if instruction.declaration.unit is not Unit.PE:
            return ()
        key = (instruction.declaration.opcode, instruction.gated, *map(type, instruction.operands))
        found = self._by_kind.get(key)
        if found is None:
            found = self._by_kind[key] = _flags_only(influences(instruction))
        if found and instruction.bases:
            # An operand that a parameter gives cannot be evaluated ahead of the call.
            return tuple((flag, None) for flag, _ in found)
        return found
