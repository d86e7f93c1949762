"""One declaration per instruction: everything that any other part of the system knows about it.

Assembler, disassembler, listing, sequencer cost, hazard checks, manual and test parameter lists are derived from
the declarations that :meth:`InstructionSet.instruction` collects. There is no second list of mnemonics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from importlib import import_module

from pixelflow.simd.errors import InputError, InternalError, nearest
from pixelflow.simd.isa.encoding import EncodingError, Layout, pack, place, unpack
from pixelflow.simd.isa.operands import Imm, Kind, Mem, Operand, OperandForm, OperandSpec, Register
from pixelflow.simd.lanes.algebra import Algebra
from pixelflow.simd.records import record
from pixelflow.simd.units import Standing

__all__ = [
    "Declaration",
    "Family",
    "Instruction",
    "InstructionSet",
    "Kind",
    "OperandForm",
    "OperandSpec",
    "Step",
    "Transfers",
    "Unit",
]


_REFERENCES = (Mem, Imm)
_KEPT = 1 << 16
"""Decoded instructions that a set remembers."""


class Family(Enum):
    """Groups of instructions in the cycle report and in the manual."""

    STARTUP = "start-up"
    MOVE = "move"
    ARITHMETIC = "arithmetic"
    LOGIC = "logic"
    SHIFT = "shift"
    MULTIPLY = "multiply"
    ENABLE = "enable"
    LEE = "linear expression"
    PIXEL_COPY = "pixel copy"
    PORT = "port"
    TEXTURE = "texture"
    CONTROL = "control"


class Unit(Enum):
    """Which part of the machine gives an instruction its meaning."""

    PE = "processing elements"
    LEE = "linear expression evaluator"
    TASIC = "texture ASICs"
    SEQUENCER = "sequencer"


@record
class Step:
    """One clock cycle of an instruction: what it does, and whether it uses the PE's one memory port."""

    name: str
    memory: bool = False


class Transfers(Enum):
    """What a transfer does to the SDRAMs of texture memory."""

    READ = "reads them"
    WRITE = "writes them"
    PASS = "leaves them alone"


Steps = Callable[..., tuple[Step, ...]]


@dataclass(frozen=True)
class Declaration:
    """One instruction of the machine; see the fields' names."""

    mnemonic: str
    opcode: int
    operands: tuple[OperandSpec, ...]
    family: Enum
    unit: Enum
    steps: Steps
    """From the operand values to the clock cycles that the instruction takes, one `Step` each."""
    cost_text: str
    standing: Standing
    source: str
    meaning: Callable[..., None]
    """Over the lane algebra for PE instructions, on the LEE for LEE instructions, on a frame for control."""
    gateable: bool = False
    pushes: int = 0
    """How many enables it saves (+1) or restores (-1) on the enable stack."""
    transfers: Transfers | None = None
    """Which way it moves bytes through the TASICs, for as long as that takes; None where it is no transfer."""
    home: str = "pixelflow.isa"
    """The package whose ``INSTRUCTIONS`` hold it."""
    layout: Layout = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", place(self.operands, gateable=self.gateable))
        if not (self.meaning.__doc__ or "").strip():
            raise InternalError(f"{self.mnemonic}: an instruction without a docstring has no manual entry")

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
        return f"{self.mnemonic}{'[.E]' if self.gateable else ''}{text}"

    @cached_property
    def memory_operands(self) -> tuple[tuple[int, int | None], ...]:
        """Positions of the operands that may name memory, each with that of the operand that holds its size."""
        position = {spec.name: at for at, spec in enumerate(self.operands)}
        return tuple(
            (position[spec.name], position[spec.sized_by] if spec.sized_by else None)
            for spec in self.operands
            if spec.kind in (Kind.MEMORY, Kind.SOURCE)
        )

    def arguments(self, operands: tuple[Operand, ...]) -> dict[str, Operand]:
        """Return the operand values by their names in the manual."""
        return {spec.name: operand for spec, operand in zip(self.operands, operands, strict=True)}

    def __hash__(self) -> int:
        return self.opcode

    def __eq__(self, other: object) -> bool:
        return self is other

    def __reduce__(self) -> str | tuple:
        return _declared, (self.mnemonic, self.home)


def _declared(mnemonic: str, home: str) -> Declaration:
    """Return a declaration by name: they are singletons, so a process that is sent one looks up its own."""
    return import_module(home).INSTRUCTIONS[mnemonic]


@record
class Instruction:
    """One instruction as it stands in a program: a declaration and its operand values."""

    declaration: Declaration
    operands: tuple[Operand, ...] = ()
    gated: bool = False

    @property
    def mnemonic(self) -> str:
        """The mnemonic as it is written, with ``.E`` where the instruction is gated."""
        return self.declaration.mnemonic + (".E" if self.gated else "")

    @property
    def words(self) -> int:
        """Length in 32-bit words."""
        return self.declaration.layout.words

    @property
    def steps(self) -> tuple[Step, ...]:
        """The clock cycles of one execution, one `Step` each."""
        return self.declaration.steps(*self.operands)

    @property
    def cycles(self) -> int:
        """Clock cycles of the EMC; 0 for sequencer control, which runs ahead."""
        return len(self.steps)

    def encode(self) -> tuple[int, ...]:
        """Return the 32-bit words; raises EncodingError where an operand does not fit its field."""
        d = self.declaration
        return pack(d.layout, d.opcode, self.operands, gated=self.gated)

    @property
    def touches(self) -> tuple[tuple[Mem, int], ...]:
        """The memory that the operands name: (first byte, number of bytes) each."""
        operands = self.operands
        places = self.declaration.memory_operands
        sized = [(at, size_at) for at, size_at in places if isinstance(operands[at], Mem)]
        return tuple([(operands[at], 1 if size_at is None else operands[size_at]) for at, size_at in sized])

    @property
    def bases(self) -> tuple[int, ...]:
        """The parameters that the operands refer to, without repetition."""
        found = [o.base for o in self.operands if isinstance(o, _REFERENCES) and o.base is not None]
        return tuple(dict.fromkeys(found)) if found else ()

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

    def apply(self, lanes: Algebra) -> None:
        """Carry out the meaning of a PE instruction on ``lanes``; every operand must be absolute (no base)."""
        if not self.declaration.gateable:
            self.declaration.meaning(lanes, *self.operands)
        else:
            where = lanes.flag("E") if self.gated else None
            self.declaration.meaning(lanes, *self.operands, where=where)

    def text(self, name: Callable[[OperandSpec, int], str] | None = None) -> str:
        """Return canonical assembly text; ``name`` turns targets and MARK names into words."""
        shown = []
        for spec, operand in zip(self.declaration.operands, self.operands, strict=True):
            if spec.optional and operand is self.operands[0]:
                continue
            if isinstance(spec.kind, OperandForm):
                shown.append(spec.kind.text(operand))
            elif spec.kind is Kind.ARGUMENTS:
                shown += [_show(argument) for argument in operand]
            elif spec.kind in (Kind.TARGET, Kind.NAME) and name is not None:
                shown.append(name(spec, operand))
            elif spec.kind is Kind.PARAMETER:
                shown.append(f"P{operand}")
            else:
                shown.append(_show(operand))
        return f"{self.mnemonic} {', '.join(shown)}".rstrip()


def _show(operand: Operand) -> str:
    match operand:
        case Register():
            return operand.name
        case Mem(offset, None):
            return f"[{offset}]"
        case Mem(offset, base):
            return f"[P{base}{offset:+d}]" if offset else f"[P{base}]"
        case Imm(value, None):
            return f"#{value}"
        case Imm(value, base):
            return f"#P{base}{value:+d}" if value else f"#P{base}"
        case _:
            return str(operand)


class InstructionSet:
    """The declarations, by mnemonic and by opcode; built once at import by the decorated functions."""

    def __init__(self, home: str = "pixelflow.isa") -> None:
        self._home = home
        self._by_mnemonic: dict[str, Declaration] = {}
        self._by_opcode: dict[int, Declaration] = {}
        self._decoded: dict[tuple[int, ...], Instruction] = {}
        """What words mean that were decoded before: programs repeat themselves."""

    def instruction(
        self,
        mnemonic: str,
        opcode: int,
        *operands: OperandSpec,
        family: Enum,
        steps: Steps,
        cost: str,
        source: str,
        unit: Enum = Unit.PE,
        standing: Standing = Standing.INVENTED,
        gateable: bool = False,
        pushes: int = 0,
        transfers: Transfers | None = None,
    ) -> Callable[[Callable[..., None]], Callable[..., None]]:
        """Declare the decorated function as the meaning of ``mnemonic``; raises InternalError on a clash."""

        def declare(meaning: Callable[..., None]) -> Callable[..., None]:
            declaration = Declaration(
                mnemonic=mnemonic,
                opcode=opcode,
                operands=operands,
                family=family,
                unit=unit,
                steps=steps,
                cost_text=cost,
                standing=standing,
                source=source,
                meaning=meaning,
                gateable=gateable,
                pushes=pushes,
                transfers=transfers,
                home=self._home,
            )
            if mnemonic in self._by_mnemonic or opcode in self._by_opcode:
                raise InternalError(f"{mnemonic}: mnemonic or opcode {opcode:#04x} is declared twice")
            self._by_mnemonic[mnemonic] = declaration
            self._by_opcode[opcode] = declaration
            return meaning

        return declare

    def __getitem__(self, mnemonic: str) -> Declaration:
        return self._by_mnemonic[mnemonic]

    def __contains__(self, mnemonic: object) -> bool:
        return mnemonic in self._by_mnemonic

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_mnemonic)

    def __len__(self) -> int:
        return len(self._by_mnemonic)

    def values(self) -> tuple[Declaration, ...]:
        """All declarations, in the order of the manual."""
        return tuple(self._by_mnemonic.values())

    def get(self, mnemonic: str) -> Declaration | None:
        """Return the declaration of a mnemonic, or None where there is none."""
        return self._by_mnemonic.get(mnemonic)

    def find(self, mnemonic: str) -> Declaration:
        """Return the declaration of ``mnemonic``; raises InputError with the nearest known one."""
        try:
            return self._by_mnemonic[mnemonic]
        except KeyError:
            near = nearest(mnemonic, self._by_mnemonic)
            hint = f" (did you mean {near}?)" if near else ""
            raise InputError(f"unknown instruction {mnemonic}{hint}") from None

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
            raise EncodingError(f"{mnemonic} has no .E form")
        instruction = Instruction(declaration, operands, gated)
        instruction.encode()
        return instruction

    def decode(self, words: tuple[int, ...], at: int = 0) -> Instruction:
        """Return the instruction that starts at word ``at``; raises InputError where the bits mean nothing."""
        declaration = self._declared(words, at)
        meant = tuple(words[at : at + declaration.words])
        return self._decoded.get(meant) or self._read(declaration, meant, at)

    def decode_all(self, words: tuple[int, ...]) -> tuple[Instruction, ...]:
        """Return the instructions that words mean, in order; raises InputError where bits mean nothing."""
        lengths = {opcode: declaration.words for opcode, declaration in self._by_opcode.items()}
        known, found, at = self._decoded, [], 0
        while at < len(words):
            meant = words[at : at + lengths.get(words[at] >> 24, 1)]
            found.append(known.get(meant) or self._read(self._declared(words, at), meant, at))
            at += len(meant)
        return tuple(found)

    def _declared(self, words: tuple[int, ...], at: int) -> Declaration:
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
