"""Programs for the shader: their class, and what the assembler is told of the machine."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import cached_property
from typing import ClassVar

from attila_bridge.code.assembler.names import Constant, ProgramNames
from attila_bridge.code.assembler.order import order_of
from attila_bridge.code.assembler.statements import DECLARATIONS, read_declaration, read_instruction
from attila_bridge.code.assembler.tokens import ProgramToken, ProgramTokens, statements_of
from attila_bridge.code.isa import INSTRUCTIONS
from attila_bridge.code.isa.operands import TextureOperand
from attila_bridge.code.isa.registers import BANK_SIZES, RegisterBank, ShaderStage
from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.isa.declare import Declaration, Instruction, InstructionSet
from pixelflow.simd.isa.program import AssembledProgram, DataBlock, SourceLine
from pixelflow.simd.isa.target import ProgramTarget

__all__ = ["HEADERS", "TARGET", "ShaderProgram", "assemble_shader"]

HEADERS = {"!!ARBvp1.0": ShaderStage.VERTEX, "!!ARBfp1.0": ShaderStage.FRAGMENT}
_REGISTER_BYTES = 16
_CONSTANT_BYTES = BANK_SIZES[RegisterBank.CONSTANT] * _REGISTER_BYTES


class ShaderProgram(AssembledProgram):
    """A vertex or fragment program; its data are constants: register n is at byte 16 n."""

    instruction_set: ClassVar[InstructionSet[Declaration]] = INSTRUCTIONS
    schema: ClassVar[str] = "attila.program/1"
    stream: ClassVar[str] = ShaderStage.FRAGMENT.value

    @property
    def stage(self) -> ShaderStage:
        """What it shades."""
        return ShaderStage(next(iter(self.entries)))

    @cached_property
    def constants(self) -> tuple[Constant, ...]:
        """Constants, the first for register 0."""
        packed = b"".join(bytes(block.values) for block in self.data)
        return tuple(struct.iter_unpack("<4f", packed))

    @property
    def loaded_text(self) -> list[str]:
        """The instructions as they are loaded, the last one marked as the end."""
        lines = [instruction_text(each) for each in self.instructions]
        return [*lines[:-1], *(f"{line} <- end" for line in lines[-1:])]


def instruction_text(instruction: Instruction) -> str:
    """Return an instruction in the text of a loaded program: ``mad r0, r0, c0.w, i1``."""
    operands = ", ".join(str(each) for each in instruction.operands)
    saturated = any(getattr(each, "saturate", False) for each in instruction.operands)
    return f"{instruction.mnemonic.lower()}{'_sat' if saturated else ''} {operands}"


class _Language:
    """The text of ARB programs 1.0."""

    def assemble(self, text: str, file: str, name: str) -> ShaderProgram:
        """Return the program of a source text; raises InputError with every fault."""
        faults: list[Fault] = []
        found: list[tuple[Instruction, ProgramToken]] = []
        names, ended = None, None
        for tokens in statements_of(text, file):
            first = tokens[0]
            try:
                if names is None:
                    names = ProgramNames(_stage(first))
                elif ended is not None:
                    raise InputError(Fault("text after END", first.place))
                elif first.text == "END":
                    ended = first
                elif first.text in DECLARATIONS:
                    read_declaration(ProgramTokens(tokens), names)
                else:
                    found.append((read_instruction(ProgramTokens(tokens), names), first))
            except InputError as error:
                faults += error.faults
                if names is None:
                    break
        if not faults and ended is None:
            faults.append(Fault("a program ends with END", Place(file)))
        if not faults and not found:
            faults.append(Fault("the program has no instruction", Place(file)))
        if faults or names is None:
            raise InputError(faults)
        return _built(names, found, name)

    def text(self, program: AssembledProgram) -> str:
        """Return the text of a loaded program, an instruction a line."""
        lines = program.loaded_text if isinstance(program, ShaderProgram) else []
        return "".join(f"{line}\n" for line in lines)

    def warnings(self, program: AssembledProgram) -> Iterable[str]:
        """Return nothing: what is doubtful is refused."""
        return []


def _stage(token: ProgramToken) -> ShaderStage:
    found = HEADERS.get(token.text)
    if found is None:
        raise InputError(
            Fault(f"a program does not begin with {token.text}", token.place, f"allowed: {', '.join(HEADERS)}")
        )
    return found


def _built(names: ProgramNames, found: list[tuple[Instruction, ProgramToken]], name: str) -> ShaderProgram:
    order = order_of([instruction for instruction, _ in found])
    lines = [SourceLine(token.file, token.line, token.source) for _, token in found]
    once = tuple(dict.fromkeys(lines))
    place = {line: at for at, line in enumerate(once)}
    packed = b"".join(struct.pack("<4f", *each) for each in names.constants)
    return ShaderProgram(
        words=tuple(word for at in order for word in found[at][0].encode()),
        name=name,
        entries={names.stage.value: 0},
        data=(DataBlock(0, tuple(packed)),) if packed else (),
        lines=once,
        line_of=tuple(place[lines[at]] for at in order),
    )


def texture_units(program: ShaderProgram) -> set[int]:
    """Return the texture units that a program names."""
    operands = (each for instruction in program.instructions for each in instruction.operands)
    return {each.number for each in operands if isinstance(each, TextureOperand)}


TARGET = ProgramTarget(
    instructions=INSTRUCTIONS,
    names={},
    streams=(ShaderStage.FRAGMENT.value, ShaderStage.VERTEX.value),
    halt="MOV",
    owner="the constants",
    memory_bytes=_CONSTANT_BYTES,
    placed_bytes=_CONSTANT_BYTES,
    alignment=_REGISTER_BYTES,
    program=ShaderProgram,
    manual="pixelflow isa --machine attila",
    language=_Language(),
)


def assemble_shader(text: str, name: str = "program", file: str = "<text>") -> ShaderProgram:
    """Assemble the text of an ARB program; raises InputError with every fault."""
    return _Language().assemble(text, file, name)
