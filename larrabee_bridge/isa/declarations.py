"""The instruction set of the vector unit, empty: what the files beside this one declare, and how.

Mnemonics follow the public descriptions (Abrash, "A First Look at the Larrabee New Instructions", 2009). Encodings are
invented. Every instruction issues in one cycle (Seiler et al. 2008, 5.1: 16 fused multiply-adds a cycle); one that
touches memory holds its pipe for one cycle a cache line (3.3: "typically only accesses one cache line per cycle").
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from larrabee_bridge.isa.forms import MaskForm, MemoryForm, ScalarForm, ScalarSourceForm, SourceForm, VectorForm
from larrabee_bridge.isa.operands import Conversion, MaskRegister, Memory, Replication, Scalar, Swizzle, Vector
from pixelflow.simd.isa.declare import InstructionSet, Kind, OperandSpec, Step
from pixelflow.simd.units import Standing

__all__ = [
    "INSTRUCTIONS",
    "LANES",
    "Family",
    "Pipe",
    "Type",
    "address",
    "declare",
    "described",
    "element_addresses",
    "masked",
    "plus",
    "scalar",
    "source",
    "spec",
    "write",
]

INSTRUCTIONS = InstructionSet("larrabee_bridge.isa")
LANES = 16


class Family(Enum):
    """Groups of instructions in the instruction mix and in the manual."""

    FLOAT = "float arithmetic"
    FUSED = "multiply-add"
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
        """Whether its instructions belong to the vector unit."""
        return self not in (Family.SCALAR, Family.BRANCH)


class Pipe(Enum):
    """Where an instruction may issue (Seiler et al. 3.2)."""

    PRIMARY = "primary pipe"
    EITHER = "primary or secondary pipe"


class Type(Enum):
    """What a load widens to."""

    FLOAT = "float"
    INTEGER = "integer"


_FORMS = {
    "dst": VectorForm(written=True),
    **dict.fromkeys(("a", "indices", "value"), VectorForm(written=False)),
    "result": MaskForm(written=True),
    **dict.fromkeys(("kdst", "k", "k1", "k2"), MaskForm(written=False)),
    "src": SourceForm(),
    "memory": MemoryForm(masked=True),
    "where": MemoryForm(masked=False),
    **dict.fromkeys(("r", "index"), ScalarForm()),
    "s": ScalarSourceForm(),
    "target": Kind.TARGET,
}


def spec(name: str, low: int = 0, high: int = 0) -> OperandSpec:
    """Return an operand position by its name, which says its kind; an unknown name is a count ``low`` to ``high``."""
    return OperandSpec(name, _FORMS.get(name, Kind.COUNT), low, high)


_ISSUE = (Step("issue"),)
_LINES = (Step("issue", memory=True),)


def _steps(*operands: Any) -> tuple[Step, ...]:
    return _LINES if any(isinstance(operand, Memory) for operand in operands) else _ISSUE


_opcodes = iter(range(1, 256))


def declare(
    mnemonic: str,
    *operands: str | OperandSpec,
    family: Family,
    pipe: Pipe = Pipe.PRIMARY,
    source: str = "Abrash 2009; Seiler et al. 2008, 3.3",
    standing: Standing = Standing.DERIVED,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declare the decorated function as the meaning of an instruction; opcodes count up."""
    specs = tuple(spec(each) if isinstance(each, str) else each for each in operands)
    touches = any(isinstance(each.kind, SourceForm | MemoryForm) for each in specs)
    return INSTRUCTIONS.instruction(
        mnemonic,
        next(_opcodes),
        *specs,
        family=family,
        unit=pipe,
        steps=_steps,
        cost="1; memory 1 a line" if touches else "1",
        source=source,
        standing=standing,
    )


def described(meaning: Callable[..., None], text: str) -> Callable[..., None]:
    """Return a meaning with its manual entry, for families of instructions that differ in one operation."""
    meaning.__doc__ = text
    return meaning


# --- what the meanings share -----------------------------------------------------------------------------------


def plus(lanes, a, b):
    """Return the sum of two words as integers, without the carry."""
    return lanes.add(a, b, lanes.bit(False))[0]


def scalar(lanes, operand: Scalar | int):
    """Return a scalar operand as a word that is the same in all lanes of a group."""
    return lanes.read(f"r{operand.number}") if isinstance(operand, Scalar) else lanes.word(operand)


def address(lanes, memory: Memory):
    """Return the address at which a memory operand begins."""
    if memory.base is None:
        return lanes.word(memory.offset)
    base = lanes.read(f"r{memory.base}")
    return plus(lanes, base, lanes.word(memory.offset)) if memory.offset else base


def element_addresses(lanes, memory: Memory):
    """Return the address of each lane's element."""
    size, elements = memory.conversion.size, memory.replication.elements
    if memory.replication is Replication.ONE:
        return address(lanes, memory)
    return plus(lanes, address(lanes, memory), lanes.series([lane % elements * size for lane in range(LANES)]))


def source(lanes, operand: Vector | Memory, kind: Type):
    """Return the last source: a register swizzled, or memory widened to ``kind`` and replicated."""
    if isinstance(operand, Vector):
        value = lanes.load(operand.number)
        return value if operand.swizzle is Swizzle.NONE else lanes.route(value, operand.swizzle.sources)
    raw = lanes.fetch(element_addresses(lanes, operand), operand.conversion.size)
    return _widened(lanes, raw, operand.conversion, kind)


def _widened(lanes, raw, conversion: Conversion, kind: Type):
    match conversion:
        case Conversion.NONE:
            return raw
        case Conversion.FLOAT16:
            return lanes.half_to_float(raw)
        case Conversion.UNORM8:
            return lanes.float_divide(lanes.to_float(raw, signed=True), lanes.word(0x437F0000))  # by 255.0
        case Conversion.SINT16:
            sixteen = lanes.word(16)
            raw = lanes.shift_down(lanes.shift_up(raw, sixteen), sixteen, signed=True)
    return lanes.to_float(raw, signed=True) if kind is Type.FLOAT else raw


def masked(lanes, operand: Vector | MaskRegister | Memory):
    """Return where an operand is written: the lanes of its mask register, or None for all."""
    return None if operand.mask is None else lanes.flag(f"k{operand.mask}")


def write(lanes, dst: Vector, value) -> None:
    """Write a vector register under its mask; the other lanes keep what they had."""
    lanes.store(dst.number, value, masked(lanes, dst))
