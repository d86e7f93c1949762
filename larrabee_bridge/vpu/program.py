"""Programs for the vector unit: the assembler's target, and the call that assembles."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, cached_property
from itertools import accumulate
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar

from larrabee_bridge.vpu.isa import INSTRUCTIONS, NAMES
from larrabee_bridge.vpu.isa.operands import BRACES
from microcode.assembly import assemble
from pixelflow.simd import files as packaged
from pixelflow.simd.isa.declare import Declaration, Instruction, InstructionSet
from pixelflow.simd.isa.effects import State, effects
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.isa.target import ProgramTarget
from pixelflow.simd.store import MEANING, digest_of, key_of, store

_Made = TypeVar("_Made")

_PROGRAMS = packaged.shipped("larrabee_bridge", "programs")

LINE_BYTES = 64
"""A cache line, which is also one vector register."""
MEMORY_BYTES = 1 << 16
"""Memory for the assembler's ranges; a run may have more."""


class Dependences(NamedTuple):
    """Registers and flags by name (vector registers as ``v3``), and whether memory is touched."""

    reads: frozenset[str]
    writes: frozenset[str]
    memory: bool


def dependences(instruction: Instruction) -> Dependences:
    """Return the reads and writes of an instruction by name; registers written in some lanes only are read too."""
    found = effects(instruction.apply)
    return Dependences(_names(found.reads | found.kept), _names(found.writes), found.memory)


def _names(states: Iterable[State]) -> frozenset[str]:
    return frozenset(f"v{state}" if isinstance(state, int) else state for state in states)


class VectorProgram(AssembledProgram):
    """An assembled program for the vector unit."""

    instruction_set: ClassVar[InstructionSet[Declaration]] = INSTRUCTIONS
    schema: ClassVar[str] = "larrabee.program/1"
    stream: ClassVar[str] = "main"

    @cached_property
    def dependences(self) -> tuple[Dependences, ...]:
        """Reads and writes of each instruction."""
        return self.meant("dependences", tuple, lambda: self.each(dependences))

    @cached_property
    def addresses(self) -> tuple[int, ...]:
        """The word address of each instruction; kept, since a program whose meaning is known need not be decoded."""

        def made() -> tuple[int, ...]:
            return tuple(accumulate((each.words for each in self.instructions), initial=0))[:-1]

        return self.meant("addresses", tuple, made)

    def each(self, make: Callable[[Instruction], _Made]) -> tuple[_Made, ...]:
        """Return what is made of each instruction; equal words are one object, of which it is made once."""
        once = {id(each): each for each in self.instructions}
        made = {number: make(each) for number, each in once.items()}
        return tuple([made[id(each)] for each in self.instructions])

    def meant(self, what: str, of: type[_Made], make: Callable[[], _Made]) -> _Made:
        """Return what instructions' meanings say about the program, kept for the next process."""
        key = self.meaning_key(what)
        return make() if key is None else store().made(MEANING, key, of, make)

    def meaning_key(self, what: str) -> str | None:
        """Return the key in the store of what meanings say; None if an instruction is declared outside of the set."""
        if not self.instruction_set.is_shipped:
            return None
        code = digest_of("larrabee_bridge.vpu", "pixelflow.simd.isa", "pixelflow.simd.lanes")
        return key_of(code, self.name, self.sha256, what)


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
