"""The microcode tool chain: the `.mc` language, the assembler, the builder, and what reads programs back.

Two ways to write a program, one result: `assemble` takes `.mc` text, `Builder` takes Python calls. `disassemble`,
`listing` and `symbols` turn a program into text; `check` looks for mistakes that assemble.
"""

from microcode.assembler import Builder, assemble
from microcode.checks import Finding, check
from microcode.disassembler import disassemble
from microcode.draft import PerRound
from microcode.language import DataKind, Range
from microcode.program_listing import Total, Totals, listing, symbols
from microcode.reader import LIBRARY
from pixelflow.isa import Imm, Mem, Program, Register

__all__ = [
    "LIBRARY",
    "Builder",
    "DataKind",
    "Finding",
    "Imm",
    "M",
    "Mem",
    "PerRound",
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
