"""Programs for the vector unit: the assembler's target, and the call that assembles."""

from __future__ import annotations

from functools import cache, cached_property
from pathlib import Path
from typing import ClassVar

from larrabee_bridge.vpu.isa import INSTRUCTIONS, NAMES
from larrabee_bridge.vpu.isa.operands import BRACES
from microcode.assembly import assemble
from pixelflow.simd import files as packaged
from pixelflow.simd.isa.declare import Declaration, InstructionSet
from pixelflow.simd.isa.effects import Effects, effects
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.isa.target import ProgramTarget

_PROGRAMS = packaged.shipped("larrabee_bridge", "programs")

LINE_BYTES = 64
"""A cache line, which is also one vector register."""
MEMORY_BYTES = 1 << 16
"""Memory for the assembler's ranges; a run may have more."""


class VectorProgram(AssembledProgram):
    """An assembled program for the vector unit."""

    instruction_set: ClassVar[InstructionSet[Declaration]] = INSTRUCTIONS
    schema: ClassVar[str] = "larrabee.program/1"
    stream: ClassVar[str] = "main"

    @cached_property
    def effects(self) -> tuple[Effects, ...]:
        """Reads and writes of each instruction."""
        # Equal words are one object, whose effects are computed once.
        once = {id(each): each for each in self.instructions}
        found = {number: effects(each.apply) for number, each in once.items()}
        return tuple(found[id(each)] for each in self.instructions)


TARGET = ProgramTarget(
    instructions=INSTRUCTIONS,
    names=NAMES,
    streams=("main",),
    halt="halt",
    owner="memory",
    memory_bytes=MEMORY_BYTES,
    placed_bytes=MEMORY_BYTES,
    alignment=LINE_BYTES,
    program=VectorProgram,
    manual="pixelflow isa --machine larrabee",
    braces=BRACES,
    folders=(_PROGRAMS,),
)


def assemble_vector(source: str | Path, /, **parameters: int | float) -> VectorProgram:
    """Assemble a file or a text with the vector unit's mnemonics; raises InputError with every fault."""
    return assemble(source, TARGET, **parameters)


@cache
def shipped(name: str, /, **parameters: int | float) -> VectorProgram:
    """Return a program of ``programs/`` by its path there (``backend/work.mc``), assembled; kept for the next call."""
    return assemble_vector(_PROGRAMS / name, **parameters)
