"""Declarations of the shader's instructions: families, units, latencies, operands.

The instructions are those of ARB vertex program 1.0 and ARB fragment program 1.0 (OpenGL extensions 26 and 27).
Latencies are those of the authors' public simulator; numbers of opcodes are invented.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from attila_bridge.isa.execution import ShaderExecution, TextureSampler
from attila_bridge.isa.operands import DST, ShaderDestination, ShaderSource, ShaderStage, TextureOperand
from pixelflow.simd.isa.declare import Declaration, Declares, Flow, Instruction, InstructionSet, Step
from pixelflow.simd.isa.operands import Operand, OperandSpec
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.numbers import NumberAlgebra
from pixelflow.simd.units import Standing

Meaning = TypeVar("Meaning", bound=Callable[..., None])
BOTH = (ShaderStage.VERTEX, ShaderStage.FRAGMENT)


class ShaderFamily(Enum):
    """Groups of instructions in the instruction mix and in the manual."""

    MOVE = "moves"
    ARITHMETIC = "arithmetic"
    PRODUCT = "dot products"
    COMPARE = "compares and selection"
    FUNCTION = "functions of one component"
    LIGHTING = "lighting and distance"
    TEXTURE = "texture reads"
    FLOW = "kill and end"


class ShaderUnit(Enum):
    """Part of the machine that executes an instruction."""

    ALU = "arithmetic units of the shader"
    TEXTURE = "texture unit"


@dataclass(frozen=True, eq=False)
class ShaderDeclaration(Declaration):
    """An instruction of the shader."""

    latency: int = 1
    """Cycles; a dependent instruction may execute one cycle later."""
    stages: tuple[ShaderStage, ...] = BOTH
    """Programs that may use it."""
    scalar: bool = False
    """True if its sources are single components."""
    elementary: bool = False
    """True if its meaning has a function without a recorded form: a root, power, logarithm, sine or cosine."""

    @property
    def on_lanes(self) -> bool:
        """True if its meaning is over the lane algebra rather than the texture unit's."""
        return self.unit is not ShaderUnit.TEXTURE


INSTRUCTIONS: InstructionSet[ShaderDeclaration] = InstructionSet(
    "attila_bridge.isa", kind=ShaderDeclaration, unit=ShaderUnit.ALU
)


def _one(*operands: Operand) -> tuple[Step, ...]:
    return (Step("issue"),)


def declare(
    mnemonic: str,
    opcode: int,
    *sources: OperandSpec,
    latency: int,
    family: ShaderFamily,
    unit: ShaderUnit = ShaderUnit.ALU,
    stages: tuple[ShaderStage, ...] = BOTH,
    scalar: bool = False,
    elementary: bool = False,
    writes: bool = True,
    flow: Flow | None = None,
    source: str = "ARB programs 1.0; latency: public simulator",
    standing: Standing = Standing.DERIVED,
) -> Declares:
    """Declare the decorated function as the meaning of an instruction; raises InternalError on a clash."""
    return INSTRUCTIONS.instruction(
        mnemonic,
        opcode,
        *((DST,) if writes else ()),
        *sources,
        family=family,
        unit=unit,
        steps=_one,
        cost=f"1 to issue, {latency} latency",
        source=source,
        standing=standing,
        flow=flow,
        latency=latency,
        stages=stages,
        scalar=scalar,
        elementary=elementary,
    )


def described(meaning: Meaning, text: str) -> Meaning:
    """Return a meaning with its manual entry, for instructions that differ in one operation."""
    meaning.__doc__ = text
    return meaning


def execute(
    instruction: Instruction, lanes: NumberAlgebra[Word, Bit], sampler: TextureSampler[Word] | None = None
) -> None:
    """Execute an instruction on lanes; texture reads are answered by ``sampler``."""
    instruction.declaration.meaning(ShaderExecution(lanes, sampler), *instruction.operands)


def destination_of(instruction: Instruction) -> ShaderDestination | None:
    """Return the register that an instruction writes, if any."""
    return next((each for each in instruction.operands if isinstance(each, ShaderDestination)), None)


def sources_of(instruction: Instruction) -> tuple[ShaderSource, ...]:
    """Return the registers that an instruction reads, in order."""
    return tuple(each for each in instruction.operands if isinstance(each, ShaderSource))


def unit_of(instruction: Instruction) -> int | None:
    """Return the texture unit that an instruction reads, if any."""
    return next((each.number for each in instruction.operands if isinstance(each, TextureOperand)), None)
