"""A program under construction: the one way in which code comes into being, from Python and from `.mc` text alike."""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import CodeType, FrameType

from microcode.language.data import DataKind
from microcode.language.scope import Scope
from microcode.language.source import Line
from microcode.language.values import LabelReference, Range, Value, Written
from microcode.linking.layout import MemoryLayout
from microcode.linking.operands import OperandError, converted
from microcode.linking.rounds import Rounds, RoundsDraft
from microcode.linking.sections import CodeLabel, LabelScope, Pending, Section
from pixelflow.simd.errors import Fault, InputError, Place, nearest
from pixelflow.simd.isa.declare import Flow, Instruction
from pixelflow.simd.isa.operands import Imm, Mem, is_whole
from pixelflow.simd.isa.program import AssembledProgram, Need, RangeForm
from pixelflow.simd.isa.target import ProgramTarget

__all__ = ["Draft"]

_KEPT = 1 << 15
"""Instructions that are remembered by how they were written, and lines of Python code."""


class Draft:
    """A program under construction: what is emitted goes to a stream, or to the routine that is open."""

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
        """Names of the files that were included already, by path and parameters."""
        self._section = self.streams[target.streams[0]]
        self._scope = self.globals
        self._line: Line | None = None
        self._line_number = -1
        self._numbers: dict[int, tuple[Line, int]] = {}
        """For each object that is a line: it, which keeps it, and its number in ``lines``."""
        self._named: dict[tuple[object, ...], Instruction] = {}
        """Instructions whose operands are numbered in this program, by how they were written."""

    # --- instructions --------------------------------------------------------------------------------------------

    def emit(self, mnemonic: str, *operands: Written, gated: bool = False) -> None:
        """Add an instruction; raises InputError where the mnemonic or an operand is wrong."""
        self._emit(mnemonic, operands, gated, 2)

    def _emit(self, mnemonic: str, operands: tuple[Written, ...], gated: bool, depth: int) -> None:
        line = self._line_number if self._line is not None else self._caller_line(depth)
        section = self._section
        section.instructions.append(self._instruction(section, mnemonic, operands, gated))
        section.lines.append(line)

    def _instruction(self, section: Section, mnemonic: str, operands: tuple[Written, ...], gated: bool) -> Instruction:
        # With their types: 1 is equal to True, and only one of them is allowed.
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
        """Add ``count`` rounds of instructions here, and return their draft: what each round does is emitted to it.

        It is as if every round had been emitted here by itself, in less time.
        """
        section = self._section
        found = Rounds(count)
        section.instructions.append(found)
        section.lines.append(-1)
        return RoundsDraft(found, self.target.instructions, partial(self._instruction, section), self._caller_line)

    def _make(self, mnemonic: str, operands: tuple[Written, ...], gated: bool, section: Section) -> Instruction:
        if mnemonic not in self.target.instructions:
            near = nearest(mnemonic, self.target.instructions)
            raise InputError(Fault(f"unknown instruction {mnemonic}", hint=f"did you mean {near}?" if near else None))
        declaration = self.target.instructions[mnemonic]
        if gated and not declaration.gateable:
            raise OperandError(f"{mnemonic} has no .{self.target.gate} form", None, f"usage: {declaration.synopsis}")
        values = converted(declaration, operands, self._name_index, self.target)
        for position, value in enumerate(values):
            if isinstance(value, LabelReference):
                scope = value.scope if isinstance(value.scope, LabelScope) else self._scope
                place = value.place or self.place
                section.pending.append(Pending(len(section.instructions), position, value, scope, place))
                values[position] = 0
        return Instruction(declaration, tuple(values), gated)

    def _name_index(self, name: str) -> int:
        return self.names.setdefault(name, len(self.names))

    def need(self, key: str, value: int | str, why: str = "") -> None:
        """Say which value a run's configuration must have; InputError for a second one, and where no run looks at it.

        ``key`` is as in a configuration file: ``array.emcs_per_module``.
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
        """Put a label before the next instruction; it is seen in the routine or macro expansion that it stands in."""
        section = self._section
        section.last_label = len(section.instructions)
        self._define(self._scope, name, CodeLabel(section, section.last_label, place or self.place))

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
        """Add a MARK: cycles from here on belong to a named stage."""
        self._emit(self.target.mnemonic(Flow.STAGE), (stage,), False, 2)

    @contextmanager
    def loop(self, count: int) -> Iterator[None]:
        """Repeat what is emitted inside ``count`` times, in the sequencer and at no cost."""
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
        """Collect what is emitted inside as a routine: START first, RET last. Gives the parameters as memory bytes.

        ``uses`` is the scratch memory: ranges, or pairs (start, size). The arguments for parameters of ``entire`` may
        be those of others as a whole, those of ``apart`` overlap none. Raises InputError for a routine in a routine.
        """
        if self._section.name not in self.streams or self._section in self.routines:
            raise InputError(f"routine {name} stands inside routine {self._section.name}")
        if len(parameters) > self.target.parameters:
            raise InputError(f"{name} has {len(parameters)} parameters, at most {self.target.parameters} are passed")
        scratch = tuple((use.start, use.size) if isinstance(use, Range) else (use[0], use[1]) for use in uses)
        section = Section(name, tuple(parameters), scratch, started, self.place)
        section.entire, section.apart = tuple(entire), tuple(apart)
        self._define(self.globals, name, CodeLabel(section, 0, self.place))
        for start, size in scratch:
            self.layout.scratch(name, start, size, place=self.place)
        outer_section, outer_scope = self._section, self._scope
        self._section, self._scope = section, LabelScope(outer_scope, f"{name}.")
        self.scopes.append(self._scope)
        self.routines.append(section)
        try:
            if started:
                self._emit(self.target.mnemonic(Flow.START), (), False, 3)
            yield tuple(Mem(0, base) for base in range(len(parameters)))
            self._emit(self.target.mnemonic(Flow.RETURN), (), False, 3)
        finally:
            self._section, self._scope = outer_section, outer_scope

    def proc(
        self, name: str, parameters: Sequence[str] = (), uses: Sequence[tuple[int, int] | Range] = ()
    ) -> AbstractContextManager[tuple[Mem, ...]]:
        """As `routine`, without START: a procedure of the sequencer, which costs nothing itself."""
        return self.routine(name, parameters, uses, started=False)

    def stream(self, name: str) -> None:
        """Put the main code that follows into a stream of the target."""
        if name not in self.streams:
            raise InputError(Fault(f"unknown stream {name}", hint="streams: " + ", ".join(self.streams)))
        if self._section not in self.streams.values():
            raise InputError(f"a stream cannot be chosen inside routine {self._section.name}")
        self._section = self.streams[name]

    @contextmanager
    def label_scope(self) -> Iterator[LabelScope]:
        """Labels defined inside are seen only inside."""
        outer = self._scope
        self._scope = LabelScope(outer, None)
        try:
            yield self._scope
        finally:
            self._scope = outer

    @property
    def scope(self) -> LabelScope:
        """Where a label defined now would be seen."""
        return self._scope

    @contextmanager
    def inside(self, scope: LabelScope) -> Iterator[None]:
        """Define and look up labels in another scope."""
        outer, self._scope = self._scope, scope
        try:
            yield
        finally:
            self._scope = outer

    # --- memory --------------------------------------------------------------------------------------------------

    def range(self, name: str, size: int, at: int | None = None, *, form: RangeForm | str | None = None) -> Range:
        """Declare a named range of PE memory; without ``at`` it is placed at the first free bytes of main memory.

        ``form`` says how it is read by name: ``bytes``, ``word`` or ``float``.
        """
        return self.layout.range(_spelled(name), size, at, form=form, place=self.place)

    def overlay(self, name: str, size: int, at: int, *, form: RangeForm | str | None = None) -> Range:
        """Declare a range that may overlap others on purpose."""
        return self.layout.overlay(_spelled(name), size, at, form=form, place=self.place)

    def data(self, where: Range | Mem, *values: Value, kind: DataKind = DataKind.BYTE) -> None:
        """Give memory its initial contents: bytes, 32-bit words, floats, or each PE's lane number (no values)."""
        if isinstance(where, Range):
            start, room = where.start, where.size
        else:
            start, room = where.offset, max(1, self.layout.room(where.offset))
        self.layout.data(start, room, kind, values, self.place)

    # --- text, places, result ------------------------------------------------------------------------------------

    @contextmanager
    def at(self, line: Line | None) -> Iterator[None]:
        """Instructions added inside come from this source line."""
        before = self._line, self._line_number
        self.set_line(line)
        try:
            yield
        finally:
            self._line, self._line_number = before

    def set_line(self, line: Line | None) -> None:
        """Instructions added from here on come from this source line (None: from the calling Python code)."""
        self._line = line
        self._line_number = -1
        if line is not None:
            found = self._numbers.get(id(line))
            if found is None:
                found = self._numbers[id(line)] = line, self.lines.setdefault(line, len(self.lines))
            self._line_number = found[1]

    @property
    def place(self) -> Place | None:
        """The source line being worked on, if it is known."""
        return self._line.place() if self._line is not None else None

    def _caller_line(self, depth: int) -> int:
        """Return the line number entry of the Python code that called the builder."""
        frame = sys._getframe(depth + 1)
        line = _python_line(frame)
        found = self._numbers.get(id(line))
        if found is None:
            found = self._numbers[id(line)] = line, self.lines.setdefault(line, len(self.lines))
        return found[1]


_lines: dict[tuple[int, int], tuple[CodeType, Line]] = {}
"""Lines of Python code that has drafted programs, by the code, which is kept, and the place in it."""


def _python_line(frame: FrameType) -> Line:
    """Return the line that a frame of Python code is at."""
    code = frame.f_code
    known = _lines.get((id(code), frame.f_lasti))
    if known is None:
        text = linecache.getline(code.co_filename, frame.f_lineno).rstrip("\n")
        if len(_lines) >= _KEPT:
            _lines.clear()
        # The bare file name: where the file lies on this computer is nobody's business.
        line = Line(os.path.basename(code.co_filename), frame.f_lineno, text)
        known = _lines[id(code), frame.f_lasti] = code, line
    return known[1]


def _spelled(name: str) -> str:
    """Return a name that the language can spell; raises InputError for any other."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise InputError(f"{name!r} is not a name: letters, digits and _, not beginning with a digit")
    return name
