"""Target of an assembler: the facts about the machine that a program is for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from pixelflow.simd.isa.declare import Declaration, Flow, Instruction, InstructionSet
from pixelflow.simd.isa.operands import Mem, Name, RegisterOperand, Target
from pixelflow.simd.isa.program import AssembledProgram

Code = TypeVar("Code", bound=AssembledProgram, covariant=True)
"""The class of the programs that are made."""


class SourceLanguage(Protocol[Code]):
    """An assembly language that a machine brings with it, where statements are none of a mnemonic and operands."""

    def assemble(self, text: str, file: str, name: str) -> Code:
        """Return the program of a source text; raises InputError with every fault."""

    def text(self, program: AssembledProgram) -> str:
        """Return the text of a program."""

    def warnings(self, program: AssembledProgram) -> Iterable[str]:
        """Return what is doubtful about a program, a line each."""


@dataclass(frozen=True, eq=False)
class ProgramTarget(Generic[Code]):
    """Facts about a program's machine that the assembler needs."""

    instructions: InstructionSet[Declaration]
    names: Mapping[str, Enum | Mem | RegisterOperand]
    """Names that cannot be defined: registers, and parameters of the running routine."""
    streams: tuple[str, ...]
    """Names of the instruction streams; main code goes to the first unless a text says otherwise."""
    halt: str
    """The instruction that ends a stream, added where main code does not end with it."""
    owner: str
    """Owner of the memory, for messages."""
    memory_bytes: int
    placed_bytes: int
    """The first bytes of memory, where ranges are placed that name no address."""
    alignment: int
    """Ranges are placed at multiples of it, in bytes."""
    program: type[Code]
    manual: str
    """The command that shows the instructions."""
    braces: frozenset[str] = frozenset()
    """Words that may follow an operand in braces; what they mean is the operand's business."""
    parameters: int = 0
    """How many parameters a routine may have."""
    folders: tuple[Path, ...] = ()
    """Folders of programs or scenes that come with the machine; sources there may be included."""
    barred: Mapping[str, frozenset[Enum]] = field(default_factory=dict)
    """For each stream the units whose instructions do not belong there."""
    reserved: frozenset[str] = frozenset()
    """Names that reports use for work without a stage: no stage may have them."""

    looks_at_needs: bool = False
    """True if runs refuse a configuration that lacks what a program needs; without that no program may need any."""

    language: SourceLanguage[Code] | None = None
    """Reads and writes sources; None where they are microcode."""

    @cached_property
    def identity(self) -> str:
        """A text of everything here that a program depends on, but for the declarations."""
        memory = self.memory_bytes, self.placed_bytes, self.alignment, self.parameters
        names = sorted((name, repr(each)) for name, each in self.names.items())
        barred = sorted((stream, sorted(map(str, units))) for stream, units in self.barred.items())
        words = sorted(self.braces), sorted(self.reserved), self.halt, self.owner, self.looks_at_needs
        return repr((self.program, self.streams, *memory, names, barred, *words, [str(each) for each in self.folders]))

    @property
    def gate(self) -> str | None:
        """The suffix that asks for the gated form of an instruction; None where there are no gated forms."""
        return self.instructions.gate

    def label_positions(self, mnemonic: str) -> frozenset[int]:
        """Return the positions of an instruction's operands that are labels."""
        found = self._labels.get(mnemonic)
        if found is None:  # not asked for before, or declared since
            operands = self.instructions[mnemonic].operands
            positions = frozenset(at for at, spec in enumerate(operands) if isinstance(spec.kind, Target))
            found = self._labels[mnemonic] = positions
        return found

    @cached_property
    def _labels(self) -> dict[str, frozenset[int]]:
        return {}

    @cached_property
    def in_every_program(self) -> frozenset[str]:
        """Mnemonics whose operands mean the same in every program: neither labels nor names."""
        own = (Target, Name)
        declared = self.instructions.values()
        return frozenset(
            each.mnemonic for each in declared if not any(isinstance(spec.kind, own) for spec in each.operands)
        )

    @cached_property
    def made(self) -> dict[tuple[object, ...], Instruction]:
        """Instructions that are the same in every program, by how they were written, as far as anybody has."""
        return {}

    @cached_property
    def _by_flow(self) -> dict[Flow, str]:
        return {each.flow: each.mnemonic for each in self.instructions.values() if each.flow is not None}

    def mnemonic(self, flow: Flow) -> str:
        """Return the instruction that does this to the order of a program; its usual name where there is none."""
        return self._by_flow.get(flow, flow.value)
