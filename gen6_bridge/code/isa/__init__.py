"""Meaning: the instruction set, with the encodings of the hardware."""

from gen6_bridge.code.isa.instructions import arithmetic, compares, floats, flow, logic, mathematics, messages, moves, products  # noqa: F401
from gen6_bridge.code.isa.declarations import (
    INSTRUCTION_WORDS,
    INSTRUCTIONS,
    EuDeclaration,
    EuFamily,
    EuInstruction,
    EuUnit,
    eights,
)

__all__ = [
    "INSTRUCTIONS",
    "INSTRUCTION_WORDS",
    "EuDeclaration",
    "EuFamily",
    "EuInstruction",
    "EuUnit",
    "eights",
]
