"""Programs for a node's two instruction streams, and their target for assemblers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, ClassVar

from pixelflow.isa.declarations import (
    ALL,
    BEFORE,
    ENABLE_STACK,
    END,
    LATCH_STACK,
    MAIN_BYTES,
    MEMORY_BYTES,
    NodeDeclaration,
    Unit,
)
from pixelflow.isa.emc import INSTRUCTIONS
from pixelflow.isa.operands import PARAMETERS, Register
from pixelflow.simd.isa import program as core
from pixelflow.simd.isa.declare import InstructionSet
from pixelflow.simd.isa.operands import Mem
from pixelflow.simd.isa.target import ProgramTarget

if TYPE_CHECKING:
    from pixelflow.simd.isa.kinds import ByKind


SCHEMA = "pixelflow.program/1"


class Program(core.AssembledProgram):
    """An assembled program: the words of both streams, of routines and procedures."""

    instruction_set: ClassVar[InstructionSet[NodeDeclaration]] = INSTRUCTIONS
    schema: ClassVar[str] = SCHEMA
    stream: ClassVar[str] = "eigc"
    saved_enables: ClassVar[int | None] = len(ENABLE_STACK)
    started_routines: ClassVar[int | None] = len(LATCH_STACK)

    @cached_property
    def by_kind(self) -> ByKind:
        """The instructions by kind, for properties that depend on the kind alone."""
        from pixelflow.simd.isa.kinds import kinds_of

        return kinds_of(self.words, self.instruction_set)

    def made_from(self, by_kind: ByKind) -> None:
        vars(self)["by_kind"] = by_kind

    @cached_property
    def cycles(self) -> tuple[int, ...]:
        """The clock cycles of one execution of each instruction, by its declaration."""
        return tuple(self.by_kind.each(lambda instruction: instruction.cycles))

    @cached_property
    def addresses(self) -> tuple[int, ...]:
        """The word address of each instruction."""
        return tuple(self.by_kind.addresses)


PIXELFLOW = ProgramTarget(
    instructions=INSTRUCTIONS,
    names={
        **{register.name: register for register in Register},
        **{f"P{number}": Mem(0, number) for number in range(PARAMETERS)},
    },
    streams=("eigc", "tigc"),
    halt="HALT",
    owner="the PE",
    memory_bytes=MEMORY_BYTES,
    placed_bytes=MAIN_BYTES,
    alignment=1,
    program=Program,
    manual="pixelflow isa",
    parameters=PARAMETERS,
    barred={"eigc": frozenset({Unit.TASIC}), "tigc": frozenset({Unit.PE, Unit.LEE})},
    reserved=frozenset({ALL, BEFORE, END}),
    looks_at_needs=True,
)


@cache
def target_of(main_bytes: int, memory_bytes: int) -> ProgramTarget[Program]:
    """Return the target of a machine whose PEs have memory of these sizes."""
    if (main_bytes, memory_bytes) == (MAIN_BYTES, MEMORY_BYTES):
        return PIXELFLOW
    return replace(PIXELFLOW, placed_bytes=main_bytes, memory_bytes=memory_bytes)
