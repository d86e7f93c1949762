"""Footprint of an instruction: the memory bytes and registers that it touches, read off its one meaning."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pixelflow.simd.isa.declare import Instruction
from pixelflow.simd.isa.effects import effects

__all__ = ["Footprint", "footprint"]

Places = frozenset[tuple[int | None, int]]
"""Bytes, as (parameter or None, offset)."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes read and written, and the registers and flags written."""

    reads: Places = frozenset()
    writes: Places = frozenset()
    registers: frozenset[str] = frozenset()


_APART = 1 << 20
"""Distance between what the parameters are taken as: further than any offset reaches."""
_PARAMETERS = range(_APART, 32 * _APART, _APART)


@lru_cache(maxsize=8192)
def footprint(instruction: Instruction) -> Footprint:
    """Return what an instruction touches; nothing where its meaning is not over lanes."""
    if not instruction.declaration.on_lanes:
        return Footprint()
    found = effects(instruction.resolve(_PARAMETERS).apply)
    reads, writes = (
        frozenset(_based(row) for row in state if isinstance(row, int)) for state in (found.reads, found.writes)
    )
    return Footprint(reads, writes, frozenset(name for name in found.writes if isinstance(name, str)))


def _based(row: int) -> tuple[int | None, int]:
    base = (row + _APART // 2) // _APART
    return (None, row) if base == 0 else (base - 1, row - base * _APART)
