"""The microcode tool chain: the `.mc` language, the assembler, the builder, and what reads programs back.

Two ways to write a program, one result: `assemble` takes `.mc` text, `Builder` takes Python calls. `disassemble`,
`listing` and `symbols` turn a program into text; `check` looks for mistakes that assemble.
"""

from typing import TYPE_CHECKING

from pixelflow.simd.faces import on_first_use

if TYPE_CHECKING:
    from microcode.assembler import Builder
    from microcode.assembly import assemble
    from microcode.checks import Finding, check
    from microcode.disassembler import disassemble
    from microcode.draft import PerRound
    from microcode.language import DataKind, Range
    from microcode.places import LIBRARY
    from microcode.program_listing import Total, Totals, listing, symbols
    from pixelflow.isa import Imm, Mem, Program, Register

    R, S, M = Register.R, Register.S, Register.M

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

# A kept program is found without them.
__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "assembler": "Builder",
        "assembly": "assemble",
        "checks": "Finding check",
        "disassembler": "disassemble",
        "draft": "PerRound",
        "language": "DataKind Range",
        "places": "LIBRARY",
        "program_listing": "Total Totals listing symbols",
        "pixelflow.isa": "Imm Mem Program Register Register.M Register.R Register.S",
    },
)
