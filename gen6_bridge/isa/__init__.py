"""Meaning: the instruction set, with the encodings of the hardware."""

from gen6_bridge.isa import flow, instructions  # noqa: F401  (they declare them)
from gen6_bridge.isa.declarations import (
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
