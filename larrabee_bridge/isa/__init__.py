"""The instruction set of the vector unit: declarations, and the names that others use.

Importing this package declares every instruction; :data:`INSTRUCTIONS` is the only list of them.
"""

from larrabee_bridge.isa import floats, integers, masks, memory, scalar  # noqa: F401  (they declare instructions)
from larrabee_bridge.isa.declarations import INSTRUCTIONS, LANES, Family, Pipe
from larrabee_bridge.isa.operands import MASKS, NAMES, SCALARS, VECTORS
from larrabee_bridge.isa.scalar import FLAGS, NEXT, STOPPED

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
    "Family",
    "Pipe",
]
