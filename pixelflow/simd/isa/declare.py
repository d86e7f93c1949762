"""One declaration per instruction: everything that any other part of the system knows about it.

Assembler, disassembler, listing, sequencer cost, hazard checks, manual and test parameter lists are derived from
the declarations that :meth:`InstructionSet.instruction` collects. There is no second list of mnemonics.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from importlib import import_module
from typing import Generic, NamedTuple, Protocol, TypeVar

from pixelflow.simd.errors import Fault, InputError, InternalError, suggestion
from pixelflow.simd.isa.encoding import EncodingError, Layout, pack, place, unpack
from pixelflow.simd.isa.operands import Imm, Mem, Name, Operand, OperandSpec, Target
from pixelflow.simd.lanes.algebra import Algebra, Bit, Word
from pixelflow.simd.units import Standing

_REFERENCES = (Mem, Imm)
_KEPT = 1 << 16  # decoded instructions that a set remembers


class Step(NamedTuple):
    """One clock cycle of an instruction."""

    name: str
    memory: bool = False
    """True if it uses the memory port: to read, or to write where ``store`` is set."""
    store: bool = False
    evaluate: bool = False
    """True if it makes the next byte of a linear expression."""
    hop: bool = False
    """True if it moves a byte to the next PE."""


class Flow(Enum):
    """Effect of an instruction on the order of a program; the value is its usual name."""

    HALT = "HALT"
    JUMP = "JMP"
    CALL = "CALL"
    START = "START"
    RETURN = "RET"
    LOOP = "LOOP"
    END_LOOP = "ENDL"
    STAGE = "MARK"
    WAIT = "WAIT"
    SIGNAL = "SIGNAL"


Steps = Callable[..., tuple[Step, ...]]
Kind = TypeVar("Kind", bound="Declaration", covariant=True)
Meaning = TypeVar("Meaning", bound=Callable[..., None])


class Declares(Protocol):
    """A decorator that declares the function below it as the meaning of an instruction."""

    def __call__(self, meaning: Meaning, /) -> Meaning: ...


@dataclass(frozen=True)
class Declaration:
    """One instruction of a machine; a machine derives from it to add fields of its instructions."""

    mnemonic: str
    opcode: int
    operands: tuple[OperandSpec, ...]
    family: Enum
    """The group of instructions in reports and in the manual."""
    unit: Enum
    """Which part of the machine gives the instruction its meaning."""
    steps: Steps
    """From the operand values to the clock cycles that the instruction takes, one `Step` each."""
    cost_text: str
    standing: Standing
    source: str
    meaning: Callable[..., None]
    """Over the lane algebra, or on the unit that it belongs to."""
    home: str
    """The package whose ``INSTRUCTIONS`` hold it."""
    gate: str | None = None
    """The flag under which it may be executed, and the suffix that asks for that; None where it cannot be gated."""
    flow: Flow | None = None
    """Its effect on the order of a program; None where the next instruction follows."""
    pushes: int = 0
    """How many enables it saves (+1) or restores (-1) on the enable stack."""
    layout: Layout = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", place(self.operands, gateable=self.gateable))
        if not (self.meaning.__doc__ or "").strip() and sys.flags.optimize < 2:  # python -OO strips them all
            raise InternalError(f"{self.mnemonic}: an instruction without a docstring has no manual entry")

    @property
    def gateable(self) -> bool:
        """True if it has a gated form."""
        return self.gate is not None

    @property
    def on_lanes(self) -> bool:
        """True if its meaning is over the lane algebra, and not on a separate unit."""
        return True

    @property
    def words(self) -> int:
        """Length in 32-bit words."""
        return self.layout.words

    @cached_property
    def manual(self) -> str:
        """The manual entry: the docstring of the meaning, unindented."""
        import inspect

        return inspect.cleandoc(self.meaning.__doc__ or "")

    @cached_property
    def synopsis(self) -> str:
        """How the instruction is written, with operand names: ``LD[.E] dst, src``."""
        text = ""
        for position, spec in enumerate(self.operands):
            comma = ", " if position else " "
            text += f"[{comma}{spec.name}]" if spec.optional else f"{comma}{spec.name}"
        return f"{self.mnemonic}{f'[.{self.gate}]' if self.gate else ''}{text}"

    @cached_property
    def memory_operands(self) -> tuple[tuple[int, int | None], ...]:
        """Positions of the operands that may name memory, each with that of the operand that holds its size."""
        position = {spec.name: at for at, spec in enumerate(self.operands)}
        return tuple(
            (position[spec.name], position[spec.sized_by] if spec.sized_by else None)
            for spec in self.operands
            if spec.kind.takes_memory
        )

    def arguments(self, operands: tuple[Operand, ...]) -> dict[str, Operand]:
        """Return the operand values by their names in the manual."""
        return {spec.name: operand for spec, operand in zip(self.operands, operands, strict=True)}

    def __hash__(self) -> int:
        return self.opcode

    def __eq__(self, other: object) -> bool:
        return self is other

    def __reduce__(self) -> tuple[Callable[[str, str], Declaration], tuple[str, str]]:
        return _declared, (self.mnemonic, self.home)


def _declared(mnemonic: str, home: str) -> Declaration:
    """Return a declaration by name: they are singletons, so a process that is sent one looks up its own."""
    found: Declaration = import_module(home).INSTRUCTIONS[mnemonic]
    return found


@dataclass(frozen=True)
class Instruction:
    """One instruction as it is in a program. Most that say the same are one object: what follows is found once."""

    declaration: Declaration
    operands: tuple[Operand, ...] = ()
    gated: bool = False

    @property
    def mnemonic(self) -> str:
        """The mnemonic as it is written, with the gate's suffix where the instruction is gated."""
        return self.declaration.mnemonic + (f".{self.declaration.gate}" if self.gated else "")

    @property
    def words(self) -> int:
        """Length in 32-bit words."""
        return self.declaration.layout.words

    @property
    def steps(self) -> tuple[Step, ...]:
        """The clock cycles of one execution, one `Step` each."""
        return self.declaration.steps(*self.operands)

    @cached_property
    def cycles(self) -> int:
        """Clock cycles; 0 for control that runs ahead."""
        return len(self.steps)

    def encode(self) -> tuple[int, ...]:
        """Return the 32-bit words; raises EncodingError where an operand does not fit its field."""
        return self._encoded

    @cached_property
    def _encoded(self) -> tuple[int, ...]:
        return pack(self.declaration.layout, self.declaration.opcode, self.operands, gated=self.gated)

    @cached_property
    def touches(self) -> tuple[tuple[Mem, int], ...]:
        """The memory that the operands name: (first byte, number of bytes) each."""
        operands, places = self.operands, self.declaration.memory_operands
        sized = [(at, size_at) for at, size_at in places if isinstance(operands[at], Mem)]
        return tuple([(operands[at], 1 if size_at is None else operands[size_at]) for at, size_at in sized])

    @cached_property
    def bases(self) -> tuple[int, ...]:
        """The parameters that the operands refer to, without repetition."""
        found = [o.base for o in self.operands if isinstance(o, _REFERENCES) and o.base is not None]
        return tuple(dict.fromkeys(found))

    def resolve(self, parameters: Sequence[int]) -> Instruction:
        """Return the instruction with every parameter reference replaced by its value in ``parameters``."""

        def absolute(operand: Operand) -> Operand:
            match operand:
                case Mem(offset, base) if base is not None:
                    return Mem(parameters[base] + offset)
                case Imm(value, base) if base is not None:
                    return Imm(parameters[base] + value & 0xFF)
            return operand

        return Instruction(self.declaration, tuple(absolute(operand) for operand in self.operands), self.gated)

    def with_coefficients(self, coefficients: Sequence[int]) -> Instruction:
        """Return the instruction with other coefficients: the last operands."""
        kept = len(self.operands) - self.declaration.layout.coefficients
        return Instruction(self.declaration, (*self.operands[:kept], *coefficients), self.gated)

    def apply(self, lanes: Algebra[Word, Bit]) -> None:
        """Execute the meaning on ``lanes``; every operand must be absolute (no base)."""
        gate = self.declaration.gate
        if gate is None:
            self.declaration.meaning(lanes, *self.operands)
        else:
            where = lanes.flag(gate) if self.gated else None
            self.declaration.meaning(lanes, *self.operands, where=where)

    def text(self, name: Callable[[OperandSpec, int], str] | None = None) -> str:
        """Return canonical assembly text; ``name`` turns targets and MARK names into words."""
        shown = []
        for spec, operand in zip(self.declaration.operands, self.operands, strict=True):
            if spec.optional and operand is self.operands[0]:
                continue
            if name is not None and isinstance(spec.kind, Target | Name):
                shown.append(name(spec, operand))
            else:
                shown.append(spec.kind.text(operand))
        return f"{self.mnemonic} {', '.join(filter(None, shown))}".rstrip()


class InstructionSet(Generic[Kind]):
    """The declarations, by mnemonic and by opcode; built once at import by the decorated functions."""

    def __init__(self, home: str, *, kind: type[Kind], unit: Enum | None = None, gate: str | None = None) -> None:
        """``home`` is the package that holds the set as ``INSTRUCTIONS``; ``unit`` is that of most instructions.

        ``gate`` is the flag of those that can be gated, ``kind`` the class of the declarations.
        """
        self.home = home
        self._unit = unit
        self.gate = gate
        """The flag of instructions that can be gated, and the suffix that asks for it; None without."""
        self._kind = kind
        self._by_mnemonic: dict[str, Kind] = {}
        self._by_opcode: dict[int, Kind] = {}
        self._decoded: dict[tuple[int, ...], Instruction] = {}
        """Meanings of words decoded before: programs repeat themselves."""

    @property
    def is_shipped(self) -> bool:
        """True if files of its package declare all instructions, so that their hash is that of what they mean."""
        return all(each.meaning.__module__.startswith(f"{self.home}.") for each in self.values())

    def instruction(
        self,
        mnemonic: str,
        opcode: int,
        *operands: OperandSpec,
        family: Enum,
        steps: Steps,
        cost: str,
        source: str,
        unit: Enum | None = None,
        standing: Standing = Standing.INVENTED,
        gateable: bool = False,
        flow: Flow | None = None,
        pushes: int = 0,
        **traits: object,
    ) -> Declares:
        """Declare the decorated function as the meaning of ``mnemonic``; raises InternalError on a clash.

        ``traits`` are the additional fields of the set's class of declarations.
        """

        def declare(meaning: Meaning) -> Meaning:
            owner = unit or self._unit
            if owner is None:
                raise InternalError(f"{mnemonic}: neither it nor its set has a unit")
            declaration = self._kind(
                mnemonic=mnemonic,
                opcode=opcode,
                operands=operands,
                family=family,
                unit=owner,
                steps=steps,
                cost_text=cost,
                standing=standing,
                source=source,
                meaning=meaning,
                home=self.home,
                gate=self.gate if gateable else None,
                flow=flow,
                pushes=pushes,
                **traits,
            )
            if mnemonic in self._by_mnemonic or opcode in self._by_opcode:
                raise InternalError(f"{mnemonic}: mnemonic or opcode {opcode:#04x} is declared twice")
            self._by_mnemonic[mnemonic] = declaration
            self._by_opcode[opcode] = declaration
            return meaning

        return declare

    def __getitem__(self, mnemonic: str) -> Kind:
        return self._by_mnemonic[mnemonic]

    def __contains__(self, mnemonic: object) -> bool:
        return mnemonic in self._by_mnemonic

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_mnemonic)

    def __len__(self) -> int:
        return len(self._by_mnemonic)

    def values(self) -> tuple[Kind, ...]:
        """All declarations, in the order of the manual."""
        return tuple(self._by_mnemonic.values())

    @property
    def by_opcode(self) -> Mapping[int, Kind]:
        """All declarations, by opcode."""
        return self._by_opcode

    def get(self, mnemonic: str) -> Kind | None:
        """Return the declaration of a mnemonic, or None where there is none."""
        return self._by_mnemonic.get(mnemonic)

    def find(self, mnemonic: str, otherwise: str | None = None) -> Kind:
        """Return the declaration of ``mnemonic``; raises InputError with the nearest known one, or ``otherwise``."""
        try:
            return self._by_mnemonic[mnemonic]
        except KeyError:
            begun = [each for each in self._by_mnemonic if each.lower().startswith(mnemonic.lower())]
            near = suggestion(mnemonic, self._by_mnemonic, otherwise)
            hint = f"did you mean {begun[0]}?" if len(begun) == 1 else near
            if len(begun) > 1 and len(mnemonic) > 2:
                hint = f"these begin so: {', '.join(begun)}"
            raise InputError(Fault(f"unknown instruction {mnemonic}", hint=hint)) from None

    def make(self, mnemonic: str, *operands: Operand, gated: bool = False) -> Instruction:
        """Return an instruction after checking that its operands can be encoded; raises EncodingError."""
        declaration = self[mnemonic]
        missing = declaration.operands[len(operands) :]
        if len(missing) == 1 and missing[0].optional:
            operands = (*operands, operands[0])
        if len(operands) != len(declaration.operands):
            wanted = len(declaration.operands)
            raise EncodingError(f"{mnemonic} takes {wanted} operands, not {len(operands)}: {declaration.synopsis}")
        if gated and not declaration.gateable:
            raise EncodingError(f"{mnemonic} has no .{self.gate} form")
        (instruction := Instruction(declaration, operands, gated)).encode()
        return instruction

    def decode(self, words: Sequence[int], at: int = 0) -> Instruction:
        """Return the instruction that starts at word ``at``; raises InputError where the bits mean nothing."""
        declaration = self._declared(words, at)
        meant = tuple(words[at : at + declaration.words])
        return self._decoded.get(meant) or self._read(declaration, meant, at)

    def decode_all(self, words: Sequence[int]) -> tuple[Instruction, ...]:
        """Return the instructions that words mean, in order; raises InputError where bits mean nothing."""
        lengths = {opcode: declaration.words for opcode, declaration in self._by_opcode.items()}
        known, found, at = self._decoded, [], 0
        while at < len(words):
            meant = tuple(words[at : at + lengths.get(words[at] >> 24, 1)])
            found.append(known.get(meant) or self._read(self._declared(words, at), meant, at))
            at += len(meant)
        return tuple(found)

    def _declared(self, words: Sequence[int], at: int) -> Kind:
        """Return the declaration that the word at ``at`` names, all of whose words are there."""
        opcode = words[at] >> 24
        declaration = self._by_opcode.get(opcode)
        if declaration is None:
            raise InputError(f"word {at}: opcode {opcode:#04x} is not an instruction")
        if at + declaration.words > len(words):
            raise InputError(f"word {at}: {declaration.mnemonic} needs {declaration.words} words, the program ends")
        return declaration

    def _read(self, declaration: Declaration, meant: tuple[int, ...], at: int) -> Instruction:
        """Read an instruction that was not met before, and remember it."""
        try:
            operands, gated = unpack(declaration.layout, meant)
        except ValueError as error:
            raise InputError(f"word {at}: {declaration.mnemonic}: {error}") from None
        if len(self._decoded) >= _KEPT:
            self._decoded.clear()
        found = self._decoded[meant] = Instruction(declaration, operands, gated)
        return found
