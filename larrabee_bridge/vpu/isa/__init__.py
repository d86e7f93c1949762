"""Instruction set of the vector unit (meaning): declarations, and the names that others use.

Importing this package declares every instruction; :data:`INSTRUCTIONS` is the only list of them.
"""

from larrabee_bridge.vpu.isa import floats, integers, memory, scalar  # noqa: F401  (they declare instructions)
from larrabee_bridge.vpu.isa.declarations import INSTRUCTIONS, Pipe, VectorFamily, vector_share
from larrabee_bridge.vpu.isa.operands import FLAGS, LANES, MASKS, NAMES, NEXT, SCALARS, STOPPED, VECTORS

__all__ = [
    "FLAGS",
    "INSTRUCTIONS",
    "LANES",
    "MASKS",
    "NAMES",
    "NEXT",
    "SCALARS",
    "STOPPED",
    "VECTORS",
    "Pipe",
    "VectorFamily",
    "vector_share",
]
