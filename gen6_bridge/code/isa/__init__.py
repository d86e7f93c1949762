"""Meaning: the instruction set, with the encodings of the hardware."""

from gen6_bridge.code.isa.declarations import (
    INSTRUCTION_WORDS,
    INSTRUCTIONS,
    EuDeclaration,
    EuFamily,
    EuInstruction,
    EuUnit,
    eights,
)

# They declare the instructions.
from gen6_bridge.code.isa.instructions import (
    arithmetic,  # noqa: F401
    compares,  # noqa: F401
    floats,  # noqa: F401
    flow,  # noqa: F401
    logic,  # noqa: F401
    mathematics,  # noqa: F401
    messages,  # noqa: F401
    moves,  # noqa: F401
    products,  # noqa: F401
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
