"""Influence: what the registers and flags that an instruction writes are made from. MEMORY stands for any row."""

from __future__ import annotations

from pixelflow.isa import Instruction
from pixelflow.simd.isa.effects import effects
from pixelflow.simd.lanes.engine import Meaning

__all__ = ["MEMORY", "influences", "influences_of"]

MEMORY = "memory"

Names = frozenset[str]


def influences(instruction: Instruction) -> dict[str, Names]:
    """Return, for every register and flag that a PE instruction writes, the names of what its new value is made from.

    Which parameters an operand refers to does not matter; all of them are taken as 0.
    """
    if instruction.bases:
        instruction = instruction.resolve([0] * (max(instruction.bases) + 1))
    return influences_of(instruction.apply)


def influences_of(meaning: Meaning) -> dict[str, Names]:
    """Return the same for any meaning."""
    return {
        name: frozenset(MEMORY if isinstance(source, int) else source for source in sources)
        for name, sources in effects(meaning).writes.items()
        if isinstance(name, str)
    }
