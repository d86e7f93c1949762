"""Meaning: the public assembler's syntax, read into programs, and programs written in it.

`microcode` reads statements of a mnemonic and operands between commas. Here a predicate stands before the mnemonic,
size, saturation and condition belong to it, operands are blanks apart and full of commas themselves, and options
follow in braces. None of that is a matter of new kinds of operands, so the target brings a reader of its own.
"""

from gen6_bridge.code.assembler.assembly import assemble_text
from gen6_bridge.code.assembler.disassembly import source_of
from gen6_bridge.code.assembler.program import TARGET, EuProgram, assemble_eu

__all__ = ["TARGET", "EuProgram", "assemble_eu", "assemble_text", "source_of"]
