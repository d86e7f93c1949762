"""The microcode tool chain: the `.mc` language, the assembler, the builder, and what reads programs back.

Two ways to write a program, one result: `assemble` takes `.mc` text, `Builder` takes Python calls. `disassemble`,
`listing` and `symbols` turn a program into text; `check` looks for mistakes that assemble.
"""

from microcode.analysis.check import Finding, check
from microcode.analysis.disassembler import disassemble
from microcode.analysis.listing import listing
from microcode.analysis.symbols import symbols
from microcode.analysis.totals import Total, Totals
from microcode.assembler import assemble
from microcode.builder import Builder
from microcode.language.data import DataKind
from microcode.language.values import Range
from microcode.linking.rounds import PerRound
from microcode.read.files import LIBRARY
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
