"""Meaning: the instruction set of the shader, ARB programs with one declaration an instruction."""

from attila_bridge.code.isa.instructions import arithmetic, flow, functions, lighting, texture  # noqa: F401  (they declare instructions)
from attila_bridge.code.isa.declarations import (
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
