"""Programs for the execution unit: their class, and the machine as the assembler's target."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from gen6_bridge.assembler import assemble_text
from gen6_bridge.isa.declarations import INSTRUCTIONS, EuInstruction
from gen6_bridge.isa.legality import RULES, broken_rules
from gen6_bridge.isa.operands import GRF_BYTES, REGISTER_BYTES
from pixelflow.simd import files as packaged
from pixelflow.simd.isa.declare import Declaration, InstructionSet
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.isa.target import ProgramTarget


class EuProgram(AssembledProgram):
    """A program for the execution unit; its data are general registers at the start."""

    instruction_set: ClassVar[InstructionSet[Declaration]] = INSTRUCTIONS
    schema: ClassVar[str] = "gen6.program/1"
    stream: ClassVar[str] = "main"

    @property
    def code(self) -> tuple[EuInstruction, ...]:
        """The instructions."""
        return tuple(each for each in self.instructions if isinstance(each, EuInstruction))

    @property
    def broken(self) -> dict[int, tuple[str, ...]]:
        """Rules of legality that instructions break, by instruction."""
        return {number: rules for number, each in enumerate(self.code) if (rules := broken_rules(each))}


class _Language:
    """The syntax of the public assembler."""

    def assemble(self, text: str, file: str, name: str) -> EuProgram:
        """Return the program of a source text; raises InputError with every fault."""
        read = assemble_text(text, file)
        return EuProgram(read.words, name, labels=read.labels, data=read.data, lines=read.lines, line_of=read.line_of)

    def text(self, program: AssembledProgram) -> str:
        """Return the public disassembler's text, which the assembler cannot read: options and messages differ."""
        return "".join(f"{instruction.text()}\n" for instruction in program.instructions)

    def warnings(self, program: AssembledProgram) -> Iterable[str]:
        """Return the rules of legality that instructions break."""
        broken = program.broken if isinstance(program, EuProgram) else {}
        return [
            f"{program.where(number)}: error: {rule}: {RULES[rule]}"
            for number, rules in broken.items()
            for rule in rules
        ]


TARGET = ProgramTarget(
    instructions=INSTRUCTIONS,
    names={},
    streams=("main",),
    halt="nop",
    owner="the general registers",
    memory_bytes=GRF_BYTES,
    placed_bytes=GRF_BYTES,
    alignment=REGISTER_BYTES,
    program=EuProgram,
    manual="pixelflow isa --machine gen6",
    language=_Language(),
    folders=(packaged.shipped("gen6_bridge", "programs"),),
)


def assemble_eu(text: str, name: str = "program") -> EuProgram:
    """Assemble a text in the public assembler's syntax; raises InputError with every fault."""
    return _Language().assemble(text, "<text>", name)
