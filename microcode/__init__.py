"""The microcode tool chain: the `.mc` language, the assembler, the builder, and what reads programs back.

Two ways to write a program, one result: `assemble` takes `.mc` text, `Builder` takes Python calls. `disassemble`,
`listing` and `symbols` turn a program into text; `check` looks for mistakes that assemble.
"""

from importlib import import_module
from typing import TYPE_CHECKING

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

_LATER = {
    name: file
    for file, names in {
        "microcode.assembler": ("Builder",),
        "microcode.assembly": ("assemble",),
        "microcode.checks": ("Finding", "check"),
        "microcode.disassembler": ("disassemble",),
        "microcode.draft": ("PerRound",),
        "microcode.language": ("DataKind", "Range"),
        "microcode.places": ("LIBRARY",),
        "microcode.program_listing": ("Total", "Totals", "listing", "symbols"),
        "pixelflow.isa": ("Imm", "Mem", "Program", "Register"),
    }.items()
    for name in names
}
"""The names, and their files, which are imported when they are needed: a kept program is found without them."""


def __getattr__(name: str) -> object:
    if name in ("R", "S", "M"):
        found: object = getattr(import_module("pixelflow.isa").Register, name)
    elif name in _LATER:
        found = getattr(import_module(_LATER[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
