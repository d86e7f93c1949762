"""Declarations of the vector unit's instructions: families, pipes, operands with their kinds, costs.

Mnemonics follow the public descriptions (Abrash, "A First Look at the Larrabee New Instructions", 2009). Encodings are
invented. Every instruction issues in one cycle (Seiler et al. 2008, 5.1: 16 fused multiply-adds a cycle); one that
touches memory holds its pipe for one cycle a cache line (3.3: "typically only accesses one cache line per cycle").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TypeVar

from larrabee_bridge.vpu.isa.operands import (
    MaskForm,
    Memory,
    MemoryForm,
    ScalarForm,
    ScalarSourceForm,
    SourceForm,
    VectorForm,
    WideSourceForm,
)
from pixelflow.simd.isa.declare import Declaration, Declares, InstructionSet, Step
from pixelflow.simd.isa.operands import Count, OperandSpec, Target
from pixelflow.simd.units import Standing

Meaning = TypeVar("Meaning", bound=Callable[..., None])


class VectorInstructionSet(InstructionSet[Declaration]):
    """The vector unit's instructions; the manual has them in the order of opcodes, not of imports."""

    def values(self) -> tuple[Declaration, ...]:
        """All declarations, by opcode."""
        return tuple(sorted(super().values(), key=lambda each: each.opcode))


INSTRUCTIONS = VectorInstructionSet("larrabee_bridge.vpu.isa", kind=Declaration)


class VectorFamily(Enum):
    """Groups of instructions in the instruction mix and in the manual."""

    FLOAT = "float arithmetic"
    FUSED = "multiply-add"
    DOUBLE = "double arithmetic"
    DOUBLE_FUSED = "double multiply-add"
    INTEGER = "integer arithmetic"
    LOGIC = "logic"
    SHIFT = "shifts and fields"
    COMPARE = "compares"
    CONVERT = "conversions and moves"
    MEMORY = "vector memory"
    MASK = "mask registers"
    SCALAR = "scalar"
    BRANCH = "branches"

    @property
    def vector(self) -> bool:
        """True if its instructions belong to the vector unit."""
        return self not in (VectorFamily.SCALAR, VectorFamily.BRANCH)


def vector_share(counts: Mapping[VectorFamily, int]) -> float | None:
    """Return the share of the vector unit's instructions in all that are counted; None without any."""
    total = sum(counts.values())
    return sum(count for family, count in counts.items() if family.vector) / total if total else None


class Pipe(Enum):
    """Pipes in which an instruction may issue (Seiler et al. 3.2)."""

    PRIMARY = "primary pipe"
    EITHER = "primary or secondary pipe"


DST = OperandSpec("dst", VectorForm(written=True))
A, INDICES, VALUE = (OperandSpec(name, VectorForm(written=False)) for name in ("a", "indices", "value"))
RESULT = OperandSpec("result", MaskForm(written=True))
KDST, K, K1, K2 = (OperandSpec(name, MaskForm(written=False)) for name in ("kdst", "k", "k1", "k2"))
SRC = OperandSpec("src", SourceForm())
WIDE_SRC = OperandSpec("src", WideSourceForm())
MEMORY = OperandSpec("memory", MemoryForm(masked=True))
WHERE = OperandSpec("where", MemoryForm(masked=False))
R, INDEX = (OperandSpec(name, ScalarForm()) for name in ("r", "index"))
S = OperandSpec("s", ScalarSourceForm())
TARGET = OperandSpec("target", Target())
"""Operands of instructions, each with its kind."""


def count(name: str, low: int, high: int) -> OperandSpec:
    """Return an operand that is a number from ``low`` to ``high``."""
    return OperandSpec(name, Count(low, high))


_ISSUE = (Step("issue"),)
_LINES = (Step("issue", memory=True),)


def _steps(*operands: object) -> tuple[Step, ...]:
    return _LINES if any(isinstance(operand, Memory) for operand in operands) else _ISSUE


def declare(
    mnemonic: str,
    opcode: int,
    *operands: OperandSpec,
    family: VectorFamily,
    pipe: Pipe = Pipe.PRIMARY,
    source: str = "Abrash 2009; Seiler et al. 2008, 3.3",
    standing: Standing = Standing.DERIVED,
) -> Declares:
    """Declare the decorated function as the meaning of an instruction; raises InternalError on a clash."""
    touches = any(isinstance(each.kind, SourceForm | MemoryForm) for each in operands)
    return INSTRUCTIONS.instruction(
        mnemonic,
        opcode,
        *operands,
        family=family,
        unit=pipe,
        steps=_steps,
        cost="1; memory 1 a line" if touches else "1",
        source=source,
        standing=standing,
    )


def described(meaning: Meaning, text: str) -> Meaning:
    """Return a meaning with its manual entry, for families of instructions that differ in one operation."""
    meaning.__doc__ = text
    return meaning
