"""Registers of a shader: banks, and the rows and registers of the lanes that hold them."""

from __future__ import annotations

from enum import Enum, IntEnum

from pixelflow.simd.lanes.shape import Shape

__all__ = [
    "ADDRESS_REGISTER",
    "ADDRESS_WORD",
    "BANK_SIZES",
    "COMPONENTS",
    "GROUP_LANES",
    "INPUTS_OF_GROUP",
    "KILLED",
    "POINTER",
    "ROWS",
    "RegisterBank",
    "ShaderStage",
    "register_id",
    "row_of",
    "shader_shape",
]

COMPONENTS = 4
INPUTS_OF_GROUP = 4
"""Vertices or fragments that run together."""
GROUP_LANES = COMPONENTS * INPUTS_OF_GROUP
"""Component c of input i is lane 4 i + c of the group."""
ADDRESS_WORD = "a0"
POINTER = "ip"
"""Where a stretch of native code goes on: nothing looks at it afterwards, programs have no branches."""
KILLED = "killed"
"""The flag of inputs that the program has killed, the same in their four lanes."""


class ShaderStage(Enum):
    """What a program shades."""

    VERTEX = "vertex"
    FRAGMENT = "fragment"


class RegisterBank(IntEnum):
    """Banks of registers that instructions name."""

    INPUT = 0
    OUTPUT = 1
    TEMPORARY = 2
    CONSTANT = 3
    ADDRESS = 4

    @property
    def letter(self) -> str:
        """How the registers of the bank begin in the text of a loaded program."""
        return "iorca"[self]


BANK_SIZES = {
    RegisterBank.INPUT: 16,
    RegisterBank.OUTPUT: 16,
    RegisterBank.TEMPORARY: 32,
    RegisterBank.CONSTANT: 256,
    RegisterBank.ADDRESS: 1,
}
_FIRST_ROW = {
    RegisterBank.INPUT: 0,
    RegisterBank.OUTPUT: 16,
    RegisterBank.TEMPORARY: 32,
    RegisterBank.CONSTANT: 64,
}
ROWS = 64 + BANK_SIZES[RegisterBank.CONSTANT]


def register_id(bank: RegisterBank, number: int) -> int:
    """Return the number by which a register goes outside of instructions: bank x 256 + number in the bank."""
    return int(bank) << 8 | number


ADDRESS_REGISTER = register_id(RegisterBank.ADDRESS, 0)


def row_of(bank: RegisterBank, number: int) -> int:
    """Return the row of the lanes that holds a register; the address register is none, but a register of the lanes."""
    return _FIRST_ROW[bank] + number


def shader_shape(groups: int) -> Shape:
    """Return the shape of so many groups side by side."""
    return Shape(
        lanes=groups * GROUP_LANES,
        group=GROUP_LANES,
        rows=ROWS,
        words=(ADDRESS_WORD, POINTER),
        carries=(),
        masks=(KILLED,),
        bits=32,
    )
