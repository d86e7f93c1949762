"""The body of a routine as kernels are looked up by: its instruction words, wherever its scratch memory lies.

Nothing but the words counts: not the routine's name, nor the names of its parameters. Two routines with equal digests
do the same to the operands that they are called with.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from pixelflow.isa import EncodingError, Program, Routine, Unit
from pixelflow.isa.control import RET, START
from pixelflow.simd.isa.operands import Mem

__all__ = ["digest"]


def digest(program: Program, routine: Routine) -> str | None:
    """Return a hash of a routine's instructions, with addresses in its scratch memory counted from where that begins.

    None for what cannot have a kernel: a routine that is not one piece of straight code from START to RET, or that
    touches memory besides its operands and one range of scratch.
    """
    first, end = program.index_of[routine.entry], program.index_of.get(routine.end, len(program.instructions))
    start, *body, last = program.instructions[first:end]
    if start.declaration is not START or last.declaration is not RET or len(routine.scratch) > 1:
        return None
    at, size = routine.scratch[0] if routine.scratch else (0, 0)
    seen = hashlib.sha256()
    for instruction in body:
        if instruction.declaration.unit is not Unit.PE:
            return None
        moved = []
        for operand in instruction.operands:
            if isinstance(operand, Mem) and operand.base is None:
                operand = Mem(operand.offset - at)
                if not 0 <= operand.offset < size:
                    return None
            moved.append(operand)
        try:
            words = replace(instruction, operands=tuple(moved)).encode()
        except EncodingError:  # words that the assembler never makes
            return None
        for word in words:
            seen.update(word.to_bytes(4, "little"))
    return seen.hexdigest()[:24]
