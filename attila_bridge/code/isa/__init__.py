"""Meaning: the instruction set of the shader, ARB programs with one declaration an instruction."""

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

# They declare the instructions.
from attila_bridge.code.isa.instructions import (
    arithmetic,  # noqa: F401
    flow,  # noqa: F401
    functions,  # noqa: F401
    lighting,  # noqa: F401
    texture,  # noqa: F401
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
