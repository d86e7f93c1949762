"""Disassembly: a program as the public disassembler writes it, an instruction a line."""

from __future__ import annotations

from pixelflow.simd.isa.program import AssembledProgram

__all__ = ["source_of"]


def source_of(program: AssembledProgram) -> str:
    """Return the text of a program's instructions, which is no source: it names options and messages in other words."""
    return "".join(f"{instruction.text()}\n" for instruction in program.instructions)
