"""Which instructions of the EMC stream the texture side can see: those that touch a local port or set a mark."""

from __future__ import annotations

from collections.abc import Sequence

from pixelflow.isa import INPUT_PORT, OUTPUT_PORT, PORT_BYTES, Family, Instruction
from pixelflow.simd.isa.kinds import ByKind

__all__ = ["PortUse", "meets_ports", "sharing"]

_PORTS = range(INPUT_PORT, OUTPUT_PORT + PORT_BYTES)


def meets_ports(start: int, size: int) -> bool:
    """Return whether ``size`` bytes from ``start`` on of PE memory reach into a local port."""
    return start < _PORTS.stop and start + size > _PORTS.start


def sharing(instruction: Instruction) -> bool | None:
    """Return whether an instruction is seen by the texture side; None where that depends on parameters."""
    if instruction.declaration.family is Family.PORT:
        return True
    found: bool | None = False
    for first, size in instruction.touches:
        if first.base is not None:
            found = None
        elif meets_ports(first.offset, size):
            return True
    return found


class PortUse:
    """The same for all instructions of a program, with the parameters that a frame has."""

    def __init__(self, instructions: ByKind) -> None:
        self._kinds, self._kind_of = instructions.kinds, instructions.kind_list
        # Found when an instruction of a kind is first executed, as most of a library never is.
        self._known: dict[int, bool | tuple[tuple[int, int, int], ...]] = {}

    def certain(self, index: int) -> bool | None:
        """Return what `sharing` says of an instruction."""
        known = self._of(self._kind_of[index])
        return known if isinstance(known, bool) else None

    def relative(self, kind: int) -> tuple[tuple[int, int, int], ...]:
        """Return what instructions of a kind of which nothing is certain touch: (parameter, offset, bytes) each."""
        known = self._of(kind)
        return () if isinstance(known, bool) else known

    def shared(self, index: int, parameters: Sequence[int]) -> bool:
        """Return whether an instruction touches a local port or sets a mark."""
        known = self._of(self._kind_of[index])
        if known is True or known is False:
            return known
        return any(
            base < len(parameters) and meets_ports(parameters[base] + offset, size) for base, offset, size in known
        )

    def _of(self, kind: int) -> bool | tuple[tuple[int, int, int], ...]:
        known = self._known.get(kind)
        if known is None:
            known = self._known[kind] = self._look(self._kinds[kind])
        return known

    def _look(self, instruction: Instruction) -> bool | tuple[tuple[int, int, int], ...]:
        known = sharing(instruction)
        if known is not None:
            return known
        return tuple((m.base, m.offset, size) for m, size in instruction.touches if m.base is not None)
