"""Declarations of the EU's instructions: opcodes and fields of the hardware, families, units, costs.

Sources: Mesa's description of this generation (fields, opcodes, latencies), the words and texts of the public assembler
and disassembler (intel-gpu-tools 1.27.1), Kanter's article of 2011.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TypeVar

from gen6_bridge.isa import encoding
from gen6_bridge.isa.assembly_text import TextShape, instruction_text
from gen6_bridge.isa.execution import CHANNELS, Execution, FloatRules, Span, spans_of
from gen6_bridge.isa.operands import (
    REGISTER_BYTES,
    Controls,
    EuDestination,
    EuType,
    ExecutionType,
    ImmediateOperand,
    Operand,
    Source,
    SourceRegion,
)
from pixelflow.simd.errors import InputError, InternalError, MachineFault
from pixelflow.simd.isa.declare import Declaration, Declares, Flow, Instruction, InstructionSet, Step
from pixelflow.simd.isa.encoding import EncodingError, Layout
from pixelflow.simd.isa.operands import OperandSpec
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.numbers import NumberAlgebra
from pixelflow.simd.units import Standing

INSTRUCTION_WORDS = encoding.INSTRUCTION_BITS // 32
_WORD = 0xFFFFFFFF
Meaning = TypeVar("Meaning", bound=Callable[..., None])


class EuFamily(Enum):
    """Groups of instructions in the instruction mix and in the manual."""

    MOVE = "moves and selection"
    ARITHMETIC = "arithmetic"
    LOGIC = "logic and shifts"
    COMPARE = "compares"
    PRODUCT = "dot products, planes and sums"
    MATH = "extended math"
    FLOW = "control flow"
    MESSAGE = "messages"


class EuUnit(Enum):
    """Part of the execution unit that an instruction holds while it issues."""

    FPU = "vector pipe"
    MATH = "math unit"
    BRANCH = "branches of the front end"
    SEND = "message path"


@dataclass(frozen=True, eq=False)
class EuDeclaration(Declaration):
    """Instruction of the EU; its first operand is always DW0's controls."""

    family: EuFamily
    unit: EuUnit
    shape: TextShape = field(default_factory=lambda: TextShape("", True, 1))
    floats: bool = False
    """True if operands are floats only."""
    pairs: bool = False
    """True if its second source is pairs of registers, two coordinates of eight channels each."""

    def __post_init__(self) -> None:
        # Fields are where the hardware has them, not one after the other; `encoding` is their table.
        object.__setattr__(self, "layout", Layout(INSTRUCTION_WORDS, None, ()))
        if not (self.meaning.__doc__ or "").strip() and sys.flags.optimize < 2:  # python -OO strips them all
            raise InternalError(f"{self.mnemonic}: an instruction without a docstring has no manual entry")

    @property
    def on_lanes(self) -> bool:
        """True if its meaning is over the lane algebra, not over the thread's message path."""
        return self.unit is not EuUnit.SEND

    @cached_property
    def three(self) -> bool:
        """True if it has three sources."""
        return any(isinstance(spec.kind, encoding.ThreeSourceKind) for spec in self.operands)

    @cached_property
    def synopsis(self) -> str:
        """Its form in the syntax of the public assembler."""
        names = " ".join(spec.name for spec in self.operands[1:])
        return f"{self.mnemonic}[.sat][.cond] (size) {names}".rstrip()

    @cached_property
    def kinds(self) -> tuple[encoding.WordKind[Operand], ...]:
        """The kinds of its operands, each of which reads and writes the whole word."""
        return tuple(spec.kind for spec in self.operands if isinstance(spec.kind, encoding.WordKind))


@dataclass(frozen=True, slots=True)
class EuInstruction(Instruction):
    """One instruction of 128 bits; ``rest`` holds the bits that no operand of it claims."""

    declaration: EuDeclaration
    rest: int = 0

    @property
    def controls(self) -> Controls:
        """Fields of DW0."""
        first = self.operands[0]
        assert isinstance(first, Controls)
        return first

    @property
    def destination(self) -> EuDestination | None:
        """Destination; None for an instruction without one."""
        return next((each for each in self.operands if isinstance(each, EuDestination)), None)

    @property
    def sources(self) -> tuple[SourceRegion | ImmediateOperand, ...]:
        """Its sources, in order."""
        return tuple(each for each in self.operands if isinstance(each, SourceRegion | ImmediateOperand))

    @property
    def whole(self) -> int:
        """The 128 bits as a number."""
        word = self.rest | self.declaration.opcode
        for spec, kind, operand in zip(self.declaration.operands, self.declaration.kinds, self.operands, strict=True):
            try:
                word |= kind.write(operand)
            except ValueError as error:
                raise EncodingError(f"operand {spec.name}: {error}") from None
        return word

    def encode(self) -> tuple[int, ...]:
        """Return DW0 to DW3; raises EncodingError where an operand does not fit its field."""
        whole = self.whole
        return tuple(whole >> 32 * at & _WORD for at in range(INSTRUCTION_WORDS))

    def check(self) -> None:
        """Raise MachineFault for operands that name no register: the schedule depends on their registers."""
        for each in self.operands:
            if isinstance(each, SourceRegion | EuDestination):
                _ = each.architecture
        if self.declaration.unit is EuUnit.SEND and not isinstance(self.sources[0], SourceRegion):
            raise MachineFault("send: the payload is a constant; it is in message registers on this generation")

    @property
    def indirect(self) -> bool:
        """True if an operand is reached through an address register."""
        operands = (each for each in self.operands if isinstance(each, SourceRegion | EuDestination))
        return any(each.address is not None for each in operands)

    @property
    def spans(self) -> tuple[Span, ...]:
        """Elements that are executed at once, in order."""
        beyond = self.declaration.unit is EuUnit.FPU
        return spans_of(self.controls, self.destination, self.sources, pairs=self.declaration.pairs, beyond=beyond)

    def apply(self, lanes: NumberAlgebra[Word, Bit]) -> None:  # type: ignore[override]  # words are numbers
        """Execute the meaning on ``lanes`` with the default arithmetic."""
        self.execute(lanes, FloatRules(), self.spans)

    def execute(self, lanes: NumberAlgebra[Word, Bit], arithmetic: FloatRules, spans: Sequence[Span]) -> None:
        """Execute the meaning on ``lanes`` for the elements of ``spans``; raises MachineFault where it is undefined."""
        conditional = self.controls.predicate or self.controls.selector
        before: Bit | None = None
        for span in spans:
            if span[1] >= CHANNELS and conditional:
                raise MachineFault("a thread has 16 channels: 32 elements have no flags to obey or to set")
            run = Execution(lanes, self.controls, span, arithmetic, self.sources)
            # Both halves obey the flags of before the first one.
            before = run.predicate if before is None else before
            run.predicate = before
            self.declaration.meaning(run, *self.operands[1:])

    def text(self, name: Callable[[OperandSpec, int], str] | None = None) -> str:
        """Return the text of the public disassembler."""
        three = self.declaration.three
        destination: encoding.WordKind[EuDestination] = _THREE_DESTINATION if three else _DESTINATION
        sources: Sequence[encoding.SourceKind | encoding.ThreeSourceKind] = _THREE_SOURCES if three else _SOURCES
        return instruction_text(self.whole, self.declaration.shape, self.controls, destination, sources)


class EuInstructionSet(InstructionSet[EuDeclaration]):
    """The EU's instructions by opcode, the low seven bits of the first word."""

    def values(self) -> tuple[EuDeclaration, ...]:
        """All declarations, by opcode."""
        return tuple(sorted(super().values(), key=lambda each: each.opcode))

    def decode(self, words: Sequence[int], at: int = 0) -> EuInstruction:
        """Return the instruction that starts at word ``at``; raises InputError for undefined bits or operands."""
        meant = words[at : at + INSTRUCTION_WORDS]
        number = at // INSTRUCTION_WORDS
        if len(meant) < INSTRUCTION_WORDS:
            raise InputError(
                f"instruction {number}: {INSTRUCTION_WORDS} words are one, the program ends after {len(meant)}"
            )
        whole = sum(word << 32 * place for place, word in enumerate(meant))
        try:
            instruction = self.decode_whole(whole)
            instruction.check()
        except (ValueError, MachineFault) as error:
            raise InputError(f"instruction {number}: {error}") from None
        return instruction

    def decode_all(self, words: Sequence[int]) -> tuple[Instruction, ...]:
        """Return the instructions of words in order; raises InputError as `decode`."""
        return tuple(self.decode(words, at) for at in range(0, len(words), INSTRUCTION_WORDS))

    def decode_whole(self, whole: int) -> EuInstruction:
        """Return the instruction of 128 bits; raises ValueError for undefined ones."""
        opcode = encoding.read_field(whole, encoding.OPCODE)
        declaration = self._by_opcode.get(opcode)
        if declaration is None:
            raise ValueError(f"opcode {opcode} is not an instruction")
        operands, taken = [], encoding.OPCODE.mask
        for spec, kind in zip(declaration.operands, declaration.kinds, strict=True):
            try:
                operand, claimed = kind.read(whole)
            except ValueError as error:
                raise ValueError(f"{declaration.mnemonic}: operand {spec.name}: {error}") from None
            operands.append(operand)
            taken |= claimed
        instruction = EuInstruction(declaration, tuple(operands), rest=whole & ~taken)
        if instruction.controls.compacted:
            raise ValueError(
                "a compacted instruction (64 bits): give the native form, no program at hand uses this one"
            )
        return instruction


INSTRUCTIONS = EuInstructionSet("gen6_bridge.isa", kind=EuDeclaration, unit=EuUnit.FPU)

_DESTINATION = encoding.DestinationKind()
_SOURCES = (encoding.SourceKind(0), encoding.SourceKind(1))
_THREE_DESTINATION = encoding.ThreeDestinationKind()
_THREE_SOURCES = tuple(encoding.ThreeSourceKind(position) for position in range(3))

CONTROLS = OperandSpec("controls", encoding.ControlsKind())
CONTROLS_THREE = OperandSpec("controls", encoding.ControlsKind(encoding.FLAG_THREE))
DST = OperandSpec("dst", _DESTINATION)
SRC0, SRC1 = (OperandSpec(f"src{position}", kind) for position, kind in enumerate(_SOURCES))
THREE = (
    OperandSpec("dst", _THREE_DESTINATION),
    *(OperandSpec(f"src{position}", kind) for position, kind in enumerate(_THREE_SOURCES)),
)
JIP = OperandSpec("jip", encoding.TargetsKind(encoding.JUMP_FIELDS))
JIP_UIP = OperandSpec("jip_uip", encoding.TargetsKind(encoding.TARGETS_FIELDS))
CALL_TARGET = OperandSpec("jip", encoding.TargetsKind(encoding.CALL_FIELDS))
JUMP = OperandSpec("offset", encoding.JumpOffsetKind())
MESSAGE = OperandSpec("message", encoding.MessageKind())
"""Operands of instructions, each with its kind."""


def eights(controls: Controls, destination: EuDestination | None, sources: Sequence[Source]) -> int:
    """Return how many groups of eight channels of four bytes an instruction executes, rounded up."""
    types = tuple(each.type for each in sources) or (EuType.D,)
    size = ExecutionType.of(types).size
    if destination is not None and not destination.null:
        size = max(size, destination.type.size)
    return max(1, -(-controls.size * size // REGISTER_BYTES))


def _steps(*operands: Operand) -> tuple[Step, ...]:
    controls = operands[0]
    assert isinstance(controls, Controls)
    destination = next((each for each in operands if isinstance(each, EuDestination)), None)
    sources = [each for each in operands if isinstance(each, SourceRegion | ImmediateOperand)]
    return (Step("issue"),) * (2 * eights(controls, destination, sources))


def _two(*operands: Operand) -> tuple[Step, ...]:
    return (Step("issue"),) * 2


_COST = {
    EuUnit.FPU: "2 for each eight channels of 4 bytes",
    EuUnit.MATH: "2 for each eight channels; power 4, integer division 26",
    EuUnit.BRANCH: "2",
    EuUnit.SEND: "2",
}


def declare(
    mnemonic: str,
    opcode: int,
    *operands: OperandSpec,
    family: EuFamily,
    unit: EuUnit = EuUnit.FPU,
    shape: TextShape | None = None,
    floats: bool = False,
    pairs: bool = False,
    flow: Flow | None = None,
    standing: Standing = Standing.DERIVED,
    source: str = "Mesa; Kanter 2011",
) -> Declares:
    """Declare the decorated function as the meaning of an instruction; raises InternalError on a clash.

    ``shape`` is the public disassembler's text, where that does not follow from the operands.
    """
    three = operands[:1] == THREE[:1]
    sources = sum(isinstance(spec.kind, encoding.SourceKind | encoding.ThreeSourceKind) for spec in operands)
    written = any(isinstance(spec.kind, encoding.DestinationKind | encoding.ThreeDestinationKind) for spec in operands)
    return INSTRUCTIONS.instruction(
        mnemonic,
        opcode,
        CONTROLS_THREE if three else CONTROLS,
        *operands,
        family=family,
        unit=unit,
        steps=_steps if unit in (EuUnit.FPU, EuUnit.MATH) else _two,
        cost=_COST[unit],
        source=source,
        standing=standing,
        flow=flow,
        shape=shape or TextShape(mnemonic, written, sources, form="three" if three else ""),
        floats=floats,
        pairs=pairs,
    )


def described(meaning: Meaning, text: str) -> Meaning:
    """Return a meaning with its manual entry, for instructions that differ in one operation."""
    meaning.__doc__ = text
    return meaning
