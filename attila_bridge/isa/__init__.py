"""Meaning: the instruction set of the shader, ARB programs with one declaration an instruction."""

from attila_bridge.isa import instructions  # noqa: F401  (declares them)
from attila_bridge.isa.declarations import (
    INSTRUCTIONS,
    ShaderDeclaration,
    ShaderFamily,
    ShaderUnit,
    destination_of,
    execute,
    sources_of,
    unit_of,
)

__all__ = [
    "INSTRUCTIONS",
    "ShaderDeclaration",
    "ShaderFamily",
    "ShaderUnit",
    "destination_of",
    "execute",
    "sources_of",
    "unit_of",
]
