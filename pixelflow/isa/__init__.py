"""The instruction set: declarations, encoding, programs and the generated manual.

Importing this package declares every instruction; :data:`INSTRUCTIONS` is the only list of them.
"""

from pixelflow.isa import control, pixels, tas, tree  # noqa: F401  (they declare instructions)
from pixelflow.isa.control import SEMAPHORES, takes_control
from pixelflow.isa.declarations import (
    ALL,
    BEFORE,
    END,
    INPUT_PORT,
    MAIN_BYTES,
    MEMORY_BYTES,
    OUTPUT_PORT,
    PANEL_PES,
    PORT_BYTES,
    Family,
    NodeDeclaration,
    Transfers,
    Unit,
)
from pixelflow.isa.emc import INSTRUCTIONS
from pixelflow.isa.operands import PARAMETERS, Register
from pixelflow.isa.program import PIXELFLOW, Program, target_of
from pixelflow.isa.tas import Addressing
from pixelflow.simd.isa.declare import Declaration, Instruction, InstructionSet, Step
from pixelflow.simd.isa.encoding import EncodingError
from pixelflow.simd.isa.operands import Imm, Mem, Operand, OperandKind, OperandSpec
from pixelflow.simd.isa.program import DataBlock, MemoryRange, RangeForm, Routine, SourceLine

__all__ = [
    "ALL",
    "BEFORE",
    "END",
    "INPUT_PORT",
    "INSTRUCTIONS",
    "MAIN_BYTES",
    "MEMORY_BYTES",
    "OUTPUT_PORT",
    "PANEL_PES",
    "PARAMETERS",
    "PIXELFLOW",
    "PORT_BYTES",
    "SEMAPHORES",
    "Addressing",
    "DataBlock",
    "Declaration",
    "EncodingError",
    "Family",
    "Imm",
    "Instruction",
    "InstructionSet",
    "Mem",
    "MemoryRange",
    "NodeDeclaration",
    "Operand",
    "OperandKind",
    "OperandSpec",
    "Program",
    "RangeForm",
    "Register",
    "Routine",
    "SourceLine",
    "Step",
    "Transfers",
    "Unit",
    "decode",
    "encode",
    "takes_control",
    "target_of",
]

decode = INSTRUCTIONS.decode


def encode(instruction: Instruction) -> tuple[int, ...]:
    """Return the 32-bit words of an instruction; raises EncodingError where an operand does not fit its field."""
    return instruction.encode()
