"""The microcode tool chain: the `.mc` language, the assembler, the builder, and what reads programs back.

Two ways to write a program, one result: `assemble` takes `.mc` text, `Builder` takes Python calls. `disassemble`,
`listing` and `symbols` turn a program into text; `check` looks for mistakes that assemble.
"""

from microcode.assembler import assemble
from microcode.builder import Builder
from microcode.check import Finding, check
from microcode.data import DataKind
from microcode.disassembler import disassemble
from microcode.files import LIBRARY
from microcode.listing import listing
from microcode.symbols import symbols
from microcode.totals import Total, Totals
from microcode.values import Range
from pixelflow.isa import Imm, Mem, Program, Register

__all__ = [
    "LIBRARY",
    "Builder",
    "DataKind",
    "Finding",
    "Imm",
    "M",
    "Mem",
    "Program",
    "R",
    "Range",
    "Register",
    "S",
    "Total",
    "Totals",
    "assemble",
    "check",
    "disassemble",
    "listing",
    "symbols",
]

R, S, M = Register.R, Register.S, Register.M
