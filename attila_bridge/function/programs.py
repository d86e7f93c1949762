"""Programs of a scene, assembled, and what the shader is told of them."""

from __future__ import annotations

from attila_bridge.code.assembler import ShaderProgram, assemble_shader
from attila_bridge.code.isa import ShaderDeclaration, destination_of, sources_of, unit_of
from attila_bridge.code.isa.operands import ShaderDestination
from attila_bridge.code.isa.registers import RegisterBank, ShaderStage, register_id
from attila_bridge.function.work import NONE, InstructionWork, ProgramWork
from attila_bridge.scene.model import AttilaScene
from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.isa.declare import Instruction

__all__ = ["DEPTH_OUTPUT", "assembled_program", "program_work", "registers_of", "writes_depth"]

DEPTH_OUTPUT = 0
"""The output register of a fragment program whose third component is depth."""


def assembled_program(scene: AttilaScene, name: str, stage: ShaderStage) -> ShaderProgram:
    """Return a program of a scene; raises InputError for faults of its text and where it is of the other stage."""
    program = assemble_shader(scene.programs[name], name, f"{scene.file}: program {name}")
    if program.stage is not stage:
        message = f"program {name} is a {program.stage.value} program, a {stage.value} program is wanted"
        raise InputError(Fault(message, Place(scene.file)))
    return program


def registers_of(program: ShaderProgram, bank: RegisterBank) -> list[int]:
    """Return the registers of a bank that a program names, in order."""
    operands = [each for one in program.instructions for each in (*sources_of(one), destination_of(one))]
    return sorted({each.number for each in operands if each is not None and each.bank is bank})


def writes_depth(program: ShaderProgram) -> bool:
    """Return whether a program is one of fragments that writes their depth."""
    return program.stage is ShaderStage.FRAGMENT and DEPTH_OUTPUT in registers_of(program, RegisterBank.OUTPUT)


def program_work(program: ShaderProgram, *, loaded_before: bool) -> ProgramWork:
    """Return what the shader is told of a program."""
    instructions = program.instructions
    temporaries = registers_of(program, RegisterBank.TEMPORARY)
    return ProgramWork(
        name=program.name,
        instructions=tuple(_work(each, is_end=at == len(instructions) - 1) for at, each in enumerate(instructions)),
        inputs=len(registers_of(program, RegisterBank.INPUT)),
        outputs=len(registers_of(program, RegisterBank.OUTPUT)),
        temporaries=temporaries[-1] + 1 if temporaries else 0,
        constants=len(program.constants),
        writes_depth=program.stage is ShaderStage.FRAGMENT
        and DEPTH_OUTPUT in registers_of(program, RegisterBank.OUTPUT),
        kills=any(each.mnemonic == "KIL" for each in instructions),
        loaded_before=loaded_before,
    )


def _work(instruction: Instruction, *, is_end: bool) -> InstructionWork:
    declaration = instruction.declaration
    assert isinstance(declaration, ShaderDeclaration)
    written: ShaderDestination | None = destination_of(instruction)
    unit = unit_of(instruction)
    return InstructionWork(
        opcode=declaration.mnemonic,
        latency=declaration.latency,
        sources=tuple(register_id(each.bank, each.number) for each in sources_of(instruction)),
        destination=NONE if written is None else register_id(written.bank, written.number),
        write_mask=0 if written is None else written.mask,
        texture_unit=NONE if unit is None else unit,
        is_end=is_end,
    )
