"""Meaning: the instruction set of the shader, ARB programs with one declaration an instruction."""

from attila_bridge.isa import instructions  # noqa: F401  (it declares them)
from attila_bridge.isa.declarations import (
    INSTRUCTIONS,
    ShaderDeclaration,
    ShaderFamily,
    ShaderUnit,
    carry_out,
    destination_of,
    sources_of,
    unit_of,
)

__all__ = [
    "INSTRUCTIONS",
    "ShaderDeclaration",
    "ShaderFamily",
    "ShaderUnit",
    "carry_out",
    "destination_of",
    "sources_of",
    "unit_of",
]
