"""Draft of a program: code under construction, from Python and from `.mc` text alike."""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, NamedTuple

from microcode.kept import Included
from microcode.language import LANE_BYTES, DataKind, LabelReference, Line, Range, Value, Written, data_bytes, shown
from microcode.syntax import Scope
from pixelflow.simd.errors import Fault, InputError, Place, must_be, suggestion
from pixelflow.simd.isa.declare import Declaration, Flow, Instruction
from pixelflow.simd.isa.operands import (
    Imm,
    Mem,
    Name,
    NotAllowed,
    NotThisKind,
    Number,
    Operand,
    OperandSpec,
    Target,
    is_whole,
)
from pixelflow.simd.isa.program import AssembledProgram, DataBlock, MemoryRange, Need, RangeForm
from pixelflow.simd.isa.target import ProgramTarget
from pixelflow.simd.report import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Rounds: instructions that are repeated with other numbers in each round, drafted once for all rounds.
#
# They become the same words, in the same order, as rounds emitted one by one; operands are checked and encoded once
# for each kind of instruction, in columns, which is faster for tens of thousands of instructions.


class PerRound(NamedTuple):
    """Operand with a number for each round, int64[round]; ``of`` makes the operand of a number."""

    numbers: NDArray[np.int64]
    of: Callable[[int], Written] = int


class RoundLine(NamedTuple):
    """Line of the rounds: the rounds that have it, and its instruction in each."""

    rounds: NDArray[np.intp]
    variants: tuple[Instruction, ...]
    """Instructions that differ in more than coefficients."""
    variant_of: NDArray[np.intp]
    """Index of the variant in each of its rounds."""
    coefficients: NDArray[np.int64]
    """Operands that are coefficients, in each of its rounds."""
    line: int
    """Number of its source line."""

    @property
    def words(self) -> int:
        """Words of one instruction."""
        return self.variants[0].words


class Rounds:
    """Repeated instructions, as one element of a section."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.lines: list[RoundLine] = []

    @property
    def words(self) -> int:
        """Words of all rounds."""
        return sum(len(each.rounds) * each.words for each in self.lines)

    def in_order(self) -> list[RoundLine]:
        """Return the lines in the order of their first instructions."""
        return sorted(self.lines, key=lambda each: int(each.rounds[0]))

    def exchanged(self, change: Callable[[Instruction], Instruction]) -> Rounds:
        """Return the same rounds with instructions of the same lengths that ``change`` returns, called in order."""
        rounds = copy(self)
        changed = {id(each): tuple([change(variant) for variant in each.variants]) for each in self.in_order()}
        rounds.lines = [each._replace(variants=changed[id(each)]) for each in self.lines]
        return rounds

    def columns(self, number: Callable[[Instruction], int]) -> tuple[NDArray[np.intp], NDArray[np.int64], list[int]]:
        """Return the kinds of all instructions in order, their coefficients, and the numbers of their source lines."""
        import numpy as np

        shape = self.count, len(self.lines)
        kind_of = np.full(shape, -1)
        coefficients = np.zeros((*shape, max((each.coefficients.shape[1] for each in self.lines), default=0)), np.int64)
        for at, each in enumerate(self.lines):
            kind_of[each.rounds, at] = np.array([number(variant) for variant in each.variants])[each.variant_of]
            coefficients[each.rounds, at, : each.coefficients.shape[1]] = each.coefficients
        there = kind_of >= 0
        lines = np.broadcast_to(np.array([each.line for each in self.lines], np.int64), shape)[there]
        return kind_of[there], coefficients[there], lines.tolist()


class RoundsDraft:
    """Emitter of instructions to rounds."""

    def __init__(self, draft: Draft, section: Section, rounds: Rounds) -> None:
        self._draft, self._section, self._rounds = draft, section, rounds

    def emit(
        self, mnemonic: str, *operands: Written | PerRound, gated: bool = False, where: NDArray[np.bool_] | None = None
    ) -> None:
        """Add an instruction to every round, or to some: ``where`` is bool[round].

        Raises InputError for a wrong operand, or for control other than MARK.
        """
        import numpy as np

        rounds = np.arange(self._rounds.count) if where is None else np.flatnonzero(where)
        if not len(rounds):
            return
        columns = {at: each.numbers for at, each in enumerate(operands) if isinstance(each, PerRound)}
        if where is not None:
            columns = {at: numbers[rounds] for at, numbers in columns.items()}
        declaration = self._draft.target.instructions.get(mnemonic)
        specs = () if declaration is None else declaration.operands
        coefficients = [at for at in columns if at < len(specs) and specs[at].kind.is_coefficient]
        others = [numbers for at, numbers in columns.items() if at not in coefficients]
        kinds, variant_of = np.zeros(1, np.intp), np.zeros(len(rounds), np.intp)
        if others:
            key = others[0]
            if len(others) > 1:  # slow, but rare
                _, key = np.unique(np.array(others), axis=1, return_inverse=True)
            distinct = np.unique(key)
            kinds, variant_of = np.zeros(len(distinct), np.intp), np.searchsorted(distinct, key)
            kinds[variant_of] = np.arange(len(key))
        variants = []
        for kind in rounds[kinds].tolist():
            given = [0 if at in coefficients else _in_round(each, kind) for at, each in enumerate(operands)]
            variants.append(self._draft._instruction(self._section, mnemonic, tuple(given), gated))
        if variants[0].declaration.flow not in (None, Flow.STAGE):
            raise InputError(f"{mnemonic} cannot be repeated in rounds: it is control")
        fixed, count = variants[0].operands, variants[0].declaration.layout.coefficients
        own = np.empty((len(rounds), count), np.int64)
        for number, at in enumerate(range(len(fixed) - count, len(fixed))):
            own[:, number] = columns[at] if at in columns else fixed[at]
        self._rounds.lines.append(
            RoundLine(rounds, tuple(variants), variant_of.reshape(-1), own, self._draft._caller_line(1))
        )


def _in_round(operand: Written | PerRound, number: int) -> Written:
    return operand.of(int(operand.numbers[number])) if isinstance(operand, PerRound) else operand


# Code under construction: sections of instructions, and the labels in them.


@dataclass(frozen=True, slots=True)
class CodeLabel:
    """Position in a section, before instruction number ``index``."""

    section: Section
    index: int
    place: Place | None


@dataclass(slots=True, eq=False)
class LabelScope:
    """Scope of labels: the whole program (no parent), a routine, or one expansion of a macro."""

    parent: LabelScope | None = None
    prefix: str | None = ""
    """Prefix of labels in the program's list; None keeps labels of this scope out of it."""
    labels: dict[str, CodeLabel] = field(default_factory=dict)

    def outwards(self) -> Iterator[LabelScope]:
        """Yield this scope and those around it."""
        scope: LabelScope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def find(self, name: str) -> CodeLabel | None:
        """Return a label by name, from here outwards, or None."""
        return next((scope.labels[name] for scope in self.outwards() if name in scope.labels), None)

    def visible(self) -> list[str]:
        """Return the names of all labels visible from here."""
        return [name for scope in self.outwards() for name in scope.labels]


@dataclass(frozen=True, slots=True)
class Pending:
    """Instruction whose target is still a name."""

    index: int
    operand: int
    reference: LabelReference
    scope: LabelScope
    place: Place | None


@dataclass(slots=True, eq=False)
class Section:
    """Instructions of a stream's main code, or of a routine."""

    name: str
    parameters: tuple[str, ...] = ()
    scratch: tuple[tuple[int, int], ...] = ()
    started: bool = False
    place: Place | None = None
    instructions: list[Instruction | Rounds] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    """Number of each instruction's source line in the draft's list, or -1; rounds have -1 and their own numbers."""
    entire: tuple[str, ...] = ()
    """Parameters that may be the same place as another one, but not overlap it by a part."""
    apart: tuple[str, ...] = ()
    """Parameters that overlap no other one."""
    pending: list[Pending] = field(default_factory=list)
    last_label: int = -1
    """Number of the instruction after the last label; -1 without labels."""

    def drafted(self) -> Iterator[tuple[Instruction, int]]:
        """Yield every instruction with the number of its line, those of rounds once."""
        for instruction, number in zip(self.instructions, self.lines, strict=True):
            if isinstance(instruction, Rounds):
                yield from ((each, line.line) for line in instruction.in_order() for each in line.variants)
            else:
                yield instruction, number


# PE memory as named ranges: overlap checks and automatic placement.


class _Declared(NamedTuple):
    """A range with its form, and where it was declared."""

    range: Range
    form: str
    where: str
    overlay: bool
    placed: bool
    """True if the assembler chose the address."""

    def overlaps(self, start: int, end: int) -> bool:
        return not self.overlay and self.range.start < end and start < self.range.end

    def __str__(self) -> str:
        where = f" ({self.where})" if self.where else ""
        return f"range {self.range.name}, bytes {self.range.start}..{self.range.end - 1}{where}"


def _where(place: Place | None) -> str:
    return f"{place.file}:{place.line}" if place else ""


class MemoryLayout:
    """Ranges, scratch areas and initial contents of a draft."""

    def __init__(self, target: ProgramTarget[AssembledProgram]) -> None:
        self._target = target
        self._ranges: dict[str, _Declared] = {}
        self._used = bytearray(target.memory_bytes)
        """1 for each byte that automatic placement must not take."""
        self._data: list[tuple[DataBlock, str]] = []
        self._data_end = 0

    def copied(self) -> MemoryLayout:
        """Return another layout with the same content."""
        other = copy(self)
        other._ranges, other._used, other._data = copy(self._ranges), copy(self._used), copy(self._data)
        return other

    def range(
        self, name: str, size: int, at: int | None, form: RangeForm | str | None, place: Place | None, *, overlay: bool
    ) -> Range:
        """Declare a range; without ``at`` it gets the first free bytes of main memory; overlays may overlap others.

        Raises InputError if it overlaps another range, leaves the PE, finds no room, or is too small for its form.
        """
        if name in self._ranges:
            where = self._ranges[name].where
            raise InputError(f"range {name} is declared twice" + (f", first in {where}" if where else ""))
        must_be(size, int, f"a number of bytes for range {name}")
        if size < 1:
            raise InputError(f"range {name} has size {size}; a range has at least one byte")
        shape = _form_of(name, size, form)
        start = self._free(name, size) if at is None else at
        self._inside(name, start, size)
        for other in () if overlay else self._ranges.values():
            if other.overlaps(start, start + size):
                raise InputError(f"range {name}, bytes {start}..{start + size - 1}, overlaps {other}")
        item = Range(name, start, size)
        self._ranges[name] = _Declared(item, shape, _where(place), overlay, at is None)
        self._use(start, size)
        return item

    def scratch(self, routine: str, start: int, size: int, *, place: Place | None = None) -> None:
        """Note that a routine uses bytes as scratch: automatic placement avoids them.

        Raises InputError if they leave the PE, or overlap a range that the assembler placed earlier.
        """
        self._inside(f"scratch of {routine}", start, size, kind="")
        for taken in self._ranges.values():
            itself = (taken.range.start, taken.range.end) == (start, start + size)
            if taken.placed and not itself and taken.overlaps(start, start + size):
                area = f"scratch of {routine}, bytes {start}..{start + size - 1}"
                raise InputError(f"{area}, overlaps {taken}, which was placed before; put the routine first")
        self._use(start, size)

    def data(self, start: int, room: int, kind: DataKind, values: tuple[Value, ...], place: Place | None) -> None:
        """Set initial memory starting at ``start``; at most ``room`` bytes may be written.

        Raises InputError if the values do not fit, or another data section writes the same bytes.
        """
        if kind is DataKind.LANE:
            size = values[0] if values else room
            if not isinstance(size, int) or not 1 <= size <= min(room, LANE_BYTES):
                raise InputError(f"a lane number takes 1..{min(room, LANE_BYTES)} bytes, not {size}")
            block = DataBlock(start, (), size)
        else:
            try:
                content = data_bytes(kind, values)
            except ValueError as error:
                raise InputError(str(error)) from None
            if len(content) > room:
                raise InputError(f"{len(content)} bytes of data, but there is room for {room}")
            block, size = DataBlock(start, content), len(content)
        for other, where in self._data if start < self._data_end else ():  # mostly they follow each other
            end = other.start + (other.lanes or len(other.values))
            if start < end and other.start < start + size:
                raise InputError(f"bytes {start}..{start + size - 1} have data already" + (f" ({where})" * bool(where)))
        self._data.append((block, _where(place)))
        self._data_end = max(self._data_end, start + size)

    def room(self, start: int) -> int:
        """Return the count of bytes from an address to the end of its range, or of the PE."""
        ends = [each.range.end for each in self._ranges.values() if each.range.start <= start < each.range.end]
        return max(ends, default=self._target.memory_bytes) - start

    @property
    def ranges(self) -> tuple[MemoryRange, ...]:
        """All ranges, by address."""
        ranges = (MemoryRange(e.range.name, e.range.start, e.range.size, e.form) for e in self._ranges.values())
        return tuple(sorted(ranges, key=lambda item: (item.start, item.size, item.name)))

    @property
    def blocks(self) -> tuple[DataBlock, ...]:
        """Initial memory, by address."""
        return tuple(sorted((block for block, _ in self._data), key=lambda block: block.start))

    def _inside(self, name: str, start: int, size: int, *, kind: str = "range ") -> None:
        limit = self._target.memory_bytes
        if start < 0 or size < 1 or start + size > limit:
            span = f"{kind}{name}, bytes {start}..{start + size - 1}"
            raise InputError(f"{span}, leaves {self._target.owner}: its memory is 0..{limit - 1}")

    def _free(self, name: str, size: int) -> int:
        """Return the first address in main memory where ``size`` bytes are free."""
        limit, step = self._target.placed_bytes, self._target.alignment
        start = self._used.find(bytes(size), 0, limit) if 0 <= size <= limit else -1
        while start > 0 and start % step:
            start = self._used.find(bytes(size), start + step - start % step, limit)
        if start < 0:
            raise InputError(f"no room for range {name}: main memory has no {size} free bytes in a row")
        return start

    def _use(self, start: int, size: int) -> None:
        self._used[start : start + size] = b"\1" * size


def _form_of(name: str, size: int, form: RangeForm | str | None) -> str:
    """Return the form of a range of this size; raises InputError for one that it cannot have."""
    if form is None:
        return ""
    try:
        declared = RangeForm(form)
    except ValueError:
        raise InputError(f"{form!r} is not a form: {', '.join(each.value for each in RangeForm)}") from None
    if misfit := declared.misfit(size):
        raise InputError(f"range {name} has {counted(size, 'byte')}; {misfit}")
    return declared.value


# Conversion of a user's values to operands, with messages that say what is allowed.


class OperandError(InputError):
    """Fault of an operand; ``operand`` is its position from 0, or None for a wrong count or suffix."""

    def __init__(self, message: str, operand: int | None, hint: str | None = None) -> None:
        super().__init__(Fault(message, hint=hint))
        self.operand = operand


def converted(
    declaration: Declaration,
    given: tuple[Written, ...],
    names: dict[str, int],
    target: ProgramTarget[AssembledProgram],
) -> list[Operand]:
    """Return the operands of an instruction; raises OperandError.

    A missing optional source is filled in, arguments of a call are gathered, and new names come into ``names``.
    Absolute addresses must be in the memory of the target.
    """
    shape = _shape(declaration)
    if not shape.fewest <= len(given) <= shape.most:
        raise _miscounted(declaration, shape, len(given))
    touched = 1
    if shape.size is not None and shape.size < len(given):
        value, kind = given[shape.size], declaration.operands[shape.size].kind
        if is_whole(value) and isinstance(kind, Number) and kind.holds(value):
            touched = value
    operands: list[Operand] = []
    for position, spec in enumerate(declaration.operands):
        values = given[position:] if spec.kind.most is not None else given[position : position + 1]
        taken = []
        for at, value in enumerate(values, position):
            size = touched if spec.sized_by else 1
            try:
                operand = _taken(spec, value, size, names, target)
                if isinstance(operand, Mem) and operand.base is None:
                    _check_memory(operand, size, target)
            except ValueError as error:
                message, *hints = error.args
                raise OperandError(f"{declaration.mnemonic}: {message}", at, *hints) from None
            taken.append(operand)
        if spec.kind.most is not None:
            operands.append(tuple(taken))
        else:
            operands.append(taken[0] if taken else operands[0])
    return operands


class _Shape(NamedTuple):
    """Counts of an instruction's operands, computed once for all uses."""

    fewest: int
    most: int
    size: int | None
    """Position of the operand that is the size of memory operands in bytes; None if they are one byte."""


@cache
def _shape(declaration: Declaration) -> _Shape:
    specs = declaration.operands
    fewest, most = sum(1 for spec in specs if not spec.optional), len(specs)
    if specs and specs[-1].kind.most is not None:
        fewest, most = len(specs) - 1, len(specs) - 1 + specs[-1].kind.most
    names = {spec.sized_by for spec in specs}
    return _Shape(fewest, most, next((at for at, spec in enumerate(specs) if spec.name in names), None))


def _miscounted(declaration: Declaration, shape: _Shape, given: int) -> OperandError:
    fewest, most = shape.fewest, shape.most
    wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    takes = f"takes {wanted} operand{'s' * (wanted != '1')}" if most else "takes no operands"
    message = f"{declaration.mnemonic} {takes}, not {given or 'none'}"
    return OperandError(message, most if given > most else None, f"usage: {declaration.synopsis}")


def _taken(
    spec: OperandSpec,
    value: Written,
    touched: int,
    names: dict[str, int],
    target: ProgramTarget[AssembledProgram],
) -> Operand | LabelReference:
    """Return the operand of a value, or a reference to a label; raises ValueError(message, hint)."""
    kind = spec.kind
    try:
        match value:
            case str() if isinstance(kind, Name):
                if not value or value in target.reserved:
                    raise ValueError(f"{spec.name} cannot be {value!r}: reports use it for what has no name")
                return names.setdefault(value, len(names))
            case LabelReference() | str() if isinstance(kind, Target):
                return LabelReference(value) if isinstance(value, str) else value
            case Range() if kind.takes_memory:
                if touched > value.size:
                    raise ValueError(f"{touched} bytes from {value.name} on leave the range: it has {value.size}")
                return value.mem
        return kind.accepted(value)
    except NotThisKind as error:
        raise ValueError(f"{spec.name} cannot be {shown(value)}, allowed: {spec.allowed}", *error.args) from None
    except NotAllowed:
        raise ValueError(f"{spec.name} is {value}, allowed: {spec.allowed}") from None


def _check_memory(place: Mem, count: int, target: ProgramTarget[AssembledProgram]) -> None:
    if not 0 <= place.offset <= target.memory_bytes - count:
        end = place.offset + count - 1
        what = f"byte {end} leaves" if count == 1 else f"bytes {place.offset}..{end} leave"
        raise ValueError(f"{what} {target.owner}: its memory is 0..{target.memory_bytes - 1}")


_KEPT = 1 << 15
"""Entries in caches of instructions by their text, and of lines of Python code."""


class Draft:
    """Program under construction; emitted instructions go to a stream, or to the open routine."""

    def __init__(self, name: str, target: ProgramTarget[AssembledProgram]) -> None:
        self.name = name
        self.target = target
        self.layout = MemoryLayout(target)
        self.globals = LabelScope()
        self.scopes = [self.globals]
        self.streams = {stream: Section(stream) for stream in target.streams}
        self.routines: list[Section] = []
        self.names: dict[str, int] = {}
        self.needs: dict[str, Need] = {}
        self.lines: dict[Line, int] = {}
        self.included: dict[tuple[object, ...], Scope] = {}
        """Scopes of included files, by path and parameters."""
        self.includes: dict[tuple[str, Path | None, Path], None] = {}
        """Every include once: its words, and the paths of the including file and of the one that it led to."""
        self._section = self.streams[target.streams[0]]
        self.scope = self.globals
        """Current scope of labels."""
        self._line: Line | None = None
        self._line_number = -1
        self._numbers: dict[int, tuple[Line, int]] = {}
        """Lines by their id, kept alive here, with their numbers in ``lines``."""
        self._named: dict[tuple[object, ...], Instruction] = {}
        """Instructions with operands that this program numbers, by their text."""

    @property
    def included_files(self) -> list[Included]:
        """The files that were included, as they are now."""
        return [Included.of(*each) for each in self.includes]

    @property
    def has_code(self) -> bool:
        """True if code or a label was added to a stream, or the stream was chosen."""
        streams = self.streams.values()
        return self._section is not next(iter(streams)) or any(
            each.instructions or each.last_label >= 0 for each in streams
        )

    @property
    def only_lines(self) -> bool:
        """True if nothing was added but source lines, none of them the library's."""
        added = self.routines, self.names, self.needs, self.included, self.globals.labels, self.layout.ranges
        library = any(line.file.startswith("library/") for line in self.lines)
        return not (self.has_code or library or any(added) or self.layout.blocks)

    def begin_with(self, other: Draft) -> None:
        """Take over all of another draft, which had as many lines when it had only lines; those of this one stay."""
        own = list(self.lines)
        self.lines = {line: at for at, line in enumerate([*own, *list(other.lines)[len(own) :]])}
        self._numbers = {**other._numbers, **self._numbers}
        self.includes |= other.includes
        for name in ("routines", "names", "needs", "included", "_named"):
            setattr(self, name, copy(getattr(other, name)))
        self.globals.labels |= other.globals.labels
        self.scopes += other.scopes[1:]
        self.layout = other.layout.copied()

    # --- instructions --------------------------------------------------------------------------------------------

    def emit(self, mnemonic: str, *operands: Written, gated: bool = False) -> None:
        """Add an instruction; raises InputError for a wrong mnemonic or operand."""
        self._emit(mnemonic, operands, gated, 2)

    def _emit(self, mnemonic: str, operands: tuple[Written, ...], gated: bool, depth: int) -> None:
        line = self._line_number if self._line is not None else self._caller_line(depth)
        section = self._section
        section.instructions.append(self._instruction(section, mnemonic, operands, gated))
        section.lines.append(line)

    def _instruction(self, section: Section, mnemonic: str, operands: tuple[Written, ...], gated: bool) -> Instruction:
        # With types: 1 equals True, but only one of them is allowed.
        key = (mnemonic, gated, operands, *map(type, operands))
        known = self.target.made if mnemonic in self.target.in_every_program else self._named
        instruction = known.get(key)
        if instruction is None:
            instruction = self._make(mnemonic, operands, gated, section)
            if len(known) >= _KEPT:
                known.clear()
            if not self.target.label_positions(mnemonic):
                known[key] = instruction
        return instruction

    def rounds(self, count: int) -> RoundsDraft:
        """Add ``count`` rounds here, and return their draft, to which instructions are emitted once for all rounds.

        The program is the same as if every round were emitted here one by one.
        """
        section = self._section
        rounds = Rounds(count)
        section.instructions.append(rounds)
        section.lines.append(-1)
        return RoundsDraft(self, section, rounds)

    def _make(self, mnemonic: str, operands: tuple[Written, ...], gated: bool, section: Section) -> Instruction:
        if mnemonic not in self.target.instructions:
            hint = suggestion(mnemonic, self.target.instructions)
            raise InputError(Fault(f"unknown instruction {mnemonic}", hint=hint))
        declaration = self.target.instructions[mnemonic]
        if gated and not declaration.gateable:
            raise OperandError(f"{mnemonic} has no .{self.target.gate} form", None, f"usage: {declaration.synopsis}")
        values = converted(declaration, operands, self.names, self.target)
        for position, value in enumerate(values):
            if isinstance(value, LabelReference):
                scope = value.scope if isinstance(value.scope, LabelScope) else self.scope
                place = value.place or self.place
                section.pending.append(Pending(len(section.instructions), position, value, scope, place))
                values[position] = 0
        return Instruction(declaration, tuple(values), gated)

    def need(self, key: str, value: int | str, why: str = "") -> None:
        """Require a value of a run's configuration, with a key as in its file: ``array.emcs_per_module``.

        Raises InputError for a second value, and for targets whose runs do not check it.
        """
        if not self.target.looks_at_needs:
            raise InputError("programs of this machine need nothing: its runs do not look at what a configuration has")
        if not re.fullmatch(r"\w+(\.\w+)*", key):
            raise InputError(Fault(f"{key!r} is not the name of a value", hint='needs "array.emcs_per_module" = 8'))
        if not isinstance(value, str) and not is_whole(value):
            raise InputError(Fault(f"{key}: expected a whole number or a text, found {value!r}"))
        known = self.needs.setdefault(key, Need(key, value, why))
        if known.value != value:
            raise InputError(Fault(f"{key} cannot be {known.value} and {value}", hint=f"first needed: {known.text}"))

    # --- control -------------------------------------------------------------------------------------------------

    def label(self, name: str, *, place: Place | None = None) -> None:
        """Put a label before the next instruction, visible in its routine or macro expansion."""
        section = self._section
        section.last_label = len(section.instructions)
        self._define(self.scope, name, CodeLabel(section, section.last_label, place or self.place))

    def _define(self, scope: LabelScope, name: str, label: CodeLabel) -> None:
        _spelled(name)
        first = scope.labels.get(name)
        if first is not None:
            where = f", first in {first.place.file}:{first.place.line}" if first.place else ""
            raise InputError(f"{name} is defined twice{where}")
        scope.labels[name] = label

    def call(self, routine: str, *arguments: Mem | Range | Imm) -> None:
        """Add a CALL with up to seven arguments."""
        self._emit(self.target.mnemonic(Flow.CALL), (routine, *arguments), False, 2)

    def mark(self, stage: str) -> None:
        """Add a MARK: the cycles that follow belong to a named stage."""
        self._emit(self.target.mnemonic(Flow.STAGE), (stage,), False, 2)

    @contextmanager
    def loop(self, count: int) -> Iterator[None]:
        """Repeat the instructions emitted inside ``count`` times, in the sequencer and at no cost."""
        self._emit(self.target.mnemonic(Flow.LOOP), (count,), False, 3)
        yield
        self._emit(self.target.mnemonic(Flow.END_LOOP), (), False, 3)

    @contextmanager
    def routine(
        self,
        name: str,
        parameters: Sequence[str] = (),
        uses: Sequence[tuple[int, int] | Range] = (),
        *,
        started: bool = True,
        entire: Sequence[str] = (),
        apart: Sequence[str] = (),
    ) -> Iterator[tuple[Mem, ...]]:
        """Collect the instructions emitted inside as a routine: START first, RET last. Yields the parameters as bytes.

        ``uses`` is scratch memory: ranges, or pairs (start, size). Arguments for ``entire`` parameters may be the same
        as others, but not overlap them by a part; those for ``apart`` overlap none. Raises InputError for nested
        routines.
        """
        if self._section.name not in self.streams or self._section in self.routines:
            raise InputError(f"routine {name} is inside routine {self._section.name}")
        if len(parameters) > self.target.parameters:
            raise InputError(f"{name} has {len(parameters)} parameters, at most {self.target.parameters} are passed")
        scratch = tuple((use.start, use.size) if isinstance(use, Range) else (use[0], use[1]) for use in uses)
        section = Section(name, tuple(parameters), scratch, started, self.place)
        section.entire, section.apart = tuple(entire), tuple(apart)
        self._define(self.globals, name, CodeLabel(section, 0, self.place))
        for start, size in scratch:
            self.layout.scratch(name, start, size, place=self.place)
        outer_section, outer_scope = self._section, self.scope
        self._section, self.scope = section, LabelScope(outer_scope, f"{name}.")
        self.scopes.append(self.scope)
        self.routines.append(section)
        try:
            if started:
                self._emit(self.target.mnemonic(Flow.START), (), False, 3)
            yield tuple(Mem(0, base) for base in range(len(parameters)))
            self._emit(self.target.mnemonic(Flow.RETURN), (), False, 3)
        finally:
            self._section, self.scope = outer_section, outer_scope

    def add_routine(self, other: Draft) -> None:
        """Add the routine that is all of another draft, as if it were drafted here; it has no labels and no calls."""
        (routine,) = other.routines
        numbers = [self._number(line) for line in other.lines]
        section = replace(routine, lines=[numbers[each] for each in routine.lines])
        self._define(self.globals, section.name, CodeLabel(section, 0, self.place))
        for start, size in section.scratch:
            self.layout.scratch(section.name, start, size, place=self.place)
        self.scopes.append(LabelScope(self.scope, f"{section.name}."))
        self.routines.append(section)

    def proc(
        self, name: str, parameters: Sequence[str] = (), uses: Sequence[tuple[int, int] | Range] = ()
    ) -> AbstractContextManager[tuple[Mem, ...]]:
        """As `routine`, without START: a procedure of the sequencer, which costs nothing itself."""
        return self.routine(name, parameters, uses, started=False)

    def stream(self, name: str) -> None:
        """Add the main code that follows to a stream of the target."""
        if name not in self.streams:
            raise InputError(Fault(f"unknown stream {name}", hint="streams: " + ", ".join(self.streams)))
        if self._section not in self.streams.values():
            raise InputError(f"a stream cannot be chosen inside routine {self._section.name}")
        self._section = self.streams[name]

    @contextmanager
    def label_scope(self) -> Iterator[LabelScope]:
        """Make labels that are defined inside visible only there."""
        outer = self.scope
        self.scope = LabelScope(outer, None)
        try:
            yield self.scope
        finally:
            self.scope = outer

    @contextmanager
    def inside(self, scope: LabelScope) -> Iterator[None]:
        """Define and look up labels in another scope."""
        outer, self.scope = self.scope, scope
        try:
            yield
        finally:
            self.scope = outer

    # --- memory --------------------------------------------------------------------------------------------------

    def range(self, name: str, size: int, at: int | None = None, *, form: RangeForm | str | None = None) -> Range:
        """Declare a named range of PE memory; without ``at`` it is placed at the first free bytes of main memory.

        ``form`` is its type when it is read by name: ``bytes``, ``word`` or ``float``.
        """
        return self.layout.range(_spelled(name), size, at, form, self.place, overlay=False)

    def overlay(self, name: str, size: int, at: int, *, form: RangeForm | str | None = None) -> Range:
        """Declare a range that may overlap others."""
        return self.layout.range(_spelled(name), size, at, form, self.place, overlay=True)

    def data(self, where: Range | Mem, *values: Value, kind: DataKind = DataKind.BYTE) -> None:
        """Set initial contents of memory: bytes, 32-bit words, floats, or each PE's lane number (no values)."""
        if isinstance(where, Range):
            start, room = where.start, where.size
        else:
            start, room = where.offset, max(1, self.layout.room(where.offset))
        self.layout.data(start, room, kind, values, self.place)

    # --- text, places, result ------------------------------------------------------------------------------------

    @contextmanager
    def at(self, line: Line | None) -> Iterator[None]:
        """Give instructions added inside this source line."""
        before = self._line, self._line_number
        self.set_line(line)
        try:
            yield
        finally:
            self._line, self._line_number = before

    def set_line(self, line: Line | None) -> None:
        """Give instructions added later this source line (None: that of the calling Python code)."""
        self._line = line
        self._line_number = -1 if line is None else self._number(line)

    def _number(self, line: Line) -> int:
        """Return the number of a source line in ``lines``, which is added if it is new."""
        known = self._numbers.get(id(line))
        if known is None:
            known = self._numbers[id(line)] = line, self.lines.setdefault(line, len(self.lines))
        return known[1]

    @property
    def place(self) -> Place | None:
        """Place of the current source line, if it is known."""
        return self._line.place() if self._line is not None else None

    def _caller_line(self, depth: int) -> int:
        """Return the number of the line of Python code that called the builder."""
        return self._number(_python_line(sys._getframe(depth + 1)))


_lines: dict[tuple[int, int], tuple[CodeType, Line]] = {}
"""Lines of Python code that drafted programs, by its code object, kept alive here, and the offset in it."""


def _python_line(frame: FrameType) -> Line:
    """Return the current line of a frame of Python code."""
    code = frame.f_code
    known = _lines.get((id(code), frame.f_lasti))
    if known is None:
        text = linecache.getline(code.co_filename, frame.f_lineno).rstrip("\n")
        if len(_lines) >= _KEPT:
            _lines.clear()
        # The bare file name: folders of this computer are private.
        line = Line(os.path.basename(code.co_filename), frame.f_lineno, text)
        known = _lines[id(code), frame.f_lasti] = code, line
    return known[1]


def _spelled(name: str) -> str:
    """Return a name if the language allows it; raises InputError for any other."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise InputError(f"{name!r} is not a name: letters, digits and _, not beginning with a digit")
    return name
