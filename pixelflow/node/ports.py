"""Which instructions of the EMC stream the texture side can see: those that touch a local port or set a mark."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pixelflow.isa import INPUT_PORT, OUTPUT_PORT, PORT_BYTES, Family, Instruction

__all__ = ["PortUse", "meets_ports", "sharing"]

_PORTS = range(INPUT_PORT, OUTPUT_PORT + PORT_BYTES)


def meets_ports(start: int, size: int) -> bool:
    """Return whether ``size`` bytes from ``start`` on of PE memory reach into a local port."""
    return start < _PORTS.stop and start + size > _PORTS.start


@lru_cache(maxsize=1 << 16)
def sharing(instruction: Instruction) -> bool | None:
    """Return whether an instruction is seen by the texture side; None where that depends on parameters."""
    if instruction.declaration.family is Family.PORT:
        return True
    touches = instruction.touches
    if any(first.base is None and meets_ports(first.offset, size) for first, size in touches):
        return True
    return None if any(first.base is not None for first, _ in touches) else False


class PortUse:
    """The same for all instructions of a program, with the parameters that a frame has."""

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        self._instructions = instructions
        # Found when an instruction is first executed: most of a library never is.
        self._known: dict[int, bool | tuple[tuple[int, int, int], ...]] = {}

    def shared(self, index: int, parameters: Sequence[int]) -> bool:
        """Return whether an instruction touches a local port or sets a mark."""
        known = self._known.get(index)
        if known is None:
            known = self._known[index] = self._look(self._instructions[index])
        if known is True or known is False:
            return known
        return any(
            base < len(parameters) and meets_ports(parameters[base] + offset, size) for base, offset, size in known
        )

    def _look(self, instruction: Instruction) -> bool | tuple[tuple[int, int, int], ...]:
        known = sharing(instruction)
        if known is not None:
            return known
        return tuple((m.base, m.offset, size) for m, size in instruction.touches if m.base is not None)
