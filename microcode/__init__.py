"""The microcode tool chain: language, assembler, disassembler, builder, listing, checks."""

from microcode.assembler import assemble
from microcode.builder import Builder
from microcode.data import DataKind
from microcode.values import Range
from pixelflow.isa import Imm, Mem, Program, Register

R, S, M = Register.R, Register.S, Register.M

__all__ = ["Builder", "DataKind", "Imm", "M", "Mem", "Program", "R", "Range", "Register", "S", "assemble"]
