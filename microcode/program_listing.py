"""The listing: address, words, cycles, running total and source of every instruction."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from pixelflow.simd.isa.declare import Flow, Instruction
from pixelflow.simd.isa.operands import Name, OperandSpec
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.report import counted

# Cycles of a routine from the program alone: loops multiplied, calls included.
#
# Control flow never depends on data, so these totals equal those of a run. Straight code and loops are added up
# directly; code with jumps is followed step by step, up to a limit.


STEPS = 200_000
"""Instructions of a routine with jumps that are followed before its total counts as unknown."""
CALLS = 100
"""Nested calls that are followed."""


class Total(NamedTuple):
    """Cycles of one execution: ``own`` without, ``total`` with the routines that it calls."""

    own: int
    total: int


class Totals:
    """Totals of a program's routines and streams, computed on demand."""

    def __init__(self, program: AssembledProgram) -> None:
        self.program = program
        self._depth = 0
        self._known: dict[int, Total | None] = {}
        self._halting: set[int] = set()
        """Entries from which the stream halts instead of returning."""

    def at(self, entry: int) -> Total | None:
        """Return the cycles from a word address to RET or HALT; None if they are unknown.

        Unknown are endless programs, recursion, calls nested deeper than `CALLS`, and code with jumps of more than
        `STEPS` instructions.
        """
        if entry not in self._known:
            if self._depth == CALLS:
                return None
            self._depth += 1
            self._known[entry] = None  # a routine that calls itself has no total
            self._known[entry] = self._follow(entry)
            self._depth -= 1
        return self._known[entry]

    def _follow(self, entry: int) -> Total | None:
        """Add up the code of an entry: loops without jumps are multiplied, others walked."""
        program = self.program
        index: int | None = program.index_of.get(entry)
        own = total = steps = 0
        # For each open loop: first instruction of its body, turns left, and own and total cycles at its start.
        loops: list[tuple[int, int, int, int]] = []
        jumped = False
        while index is not None and index < len(program.instructions):
            steps += 1
            if steps > STEPS:
                return None
            instruction = program.instructions[index]
            follow: int | None = index + 1
            declaration = instruction.declaration
            if declaration.flow is Flow.HALT:
                self._halting.add(entry)
            if declaration.flow in (Flow.RETURN, Flow.HALT):
                return Total(own, total)
            if declaration.flow is Flow.LOOP:
                if instruction.operands[0] == 0:
                    follow = self._after_loop(index)
                else:
                    loops.append((index + 1, instruction.operands[0], own, total))
            elif declaration.flow is Flow.END_LOOP:
                if not loops:
                    return None
                start, turns, own_before, total_before = loops.pop()
                if not jumped:
                    own += (own - own_before) * (turns - 1)
                    total += (total - total_before) * (turns - 1)
                elif turns > 1:
                    loops.append((start, turns - 1, own, total))
                    follow = start
            elif declaration.flow is Flow.JUMP:
                jumped = True
                follow = program.index_of.get(instruction.operands[0])
            elif declaration.flow is Flow.CALL:
                callee = self.at(instruction.operands[0])
                if callee is None:
                    return None
                total += callee.total
                if instruction.operands[0] in self._halting:
                    self._halting.add(entry)
                    return Total(own, total)
            own += instruction.cycles
            total += instruction.cycles
            index = follow
        return None

    def _after_loop(self, index: int) -> int | None:
        """Return the instruction after the ENDL of the LOOP at ``index``."""
        depth = 0
        for at in range(index, len(self.program.instructions)):
            declaration = self.program.instructions[at].declaration
            depth += (declaration.flow is Flow.LOOP) - (declaration.flow is Flow.END_LOOP)
            if depth == 0:
                return at + 1
        return None


# The symbol file: names of a program with their values, as JSON.


SCHEMA = "pixelflow.symbols/1"


def symbols(program: AssembledProgram) -> str:
    """Return the symbol file of a program: labels, routines, ranges, and the source line of each instruction.

    Addresses of code are words, those of memory bytes; ``cycles`` is one call with the routines it calls, or null.
    """
    totals = Totals(program)
    routines = {}
    for routine in program.routines:
        total = totals.at(routine.entry)
        routines[routine.name] = {
            "entry": routine.entry,
            "end": routine.end,
            "parameters": list(routine.parameters),
            "scratch": [list(area) for area in routine.scratch],
            "started": routine.started,
            "cycles": None if total is None else total.total,
        }
    lines = []
    for index, at in enumerate(program.addresses):
        line = program.line_at(index)
        lines.append([at, line.file, line.line] if line else [at, None, None])
    body = {
        "schema": SCHEMA,
        "program": {"name": program.name, "sha256": program.sha256},
        "entries": dict(program.entries),
        "labels": dict(program.labels),
        "routines": routines,
        "ranges": {item.name: {"start": item.start, "size": item.size} for item in program.ranges},
        "stages": list(program.names),
        "lines": lines,
    }
    return json.dumps(body, sort_keys=True, indent=1) + "\n"


_WORDS_A_ROW = 2


def listing(program: AssembledProgram, width: int | None = None) -> str:
    """Return the listing of a program; parts that do not fit a line of ``width`` columns follow below it.

    ``cycles`` is one execution of the instruction. ``total`` accumulates through the routine, with loops multiplied at
    their ENDL and calls included, up to the cycles of one call of the routine; ``?`` if jumps leave it open.
    """
    return "\n".join(_Listing(program, width).lines()) + "\n"


class _Listing:
    def __init__(self, program: AssembledProgram, width: int | None) -> None:
        self.program, self.width = program, width
        self.totals = Totals(program)
        self.labels: dict[int, list[str]] = {}
        for name, at in program.labels.items():
            self.labels.setdefault(at, []).append(name)
        self.heads = {at: f"stream {stream}" for stream, at in program.entries.items()}
        for routine in program.routines:
            word = "routine" if routine.started else "proc"
            self.heads[routine.entry] = f"{word} {routine.name}({', '.join(routine.parameters)})"

    def lines(self) -> Iterator[str]:
        program = self.program
        count = len(program.instructions)
        yield f"{program.name or 'program'}: {counted(count, 'instruction')}, {counted(len(program.words), 'word')}"
        yield from (f"needs {need.text}" for need in program.needs)
        yield f"{'addr':>6}  {'words':<17}  {'cycles':>6}  {'total':>8}  source"
        loops: list[tuple[int, int]] = []
        running: int | None = 0
        for index, (at, instruction) in enumerate(zip(program.addresses, program.instructions, strict=True)):
            if at in self.heads:
                running, loops = 0, []
                yield from ("", f"{self.heads[at]}    {_cycles(self.totals.at(at))}")
            yield from (f"{label}:" for label in self.labels.get(at, ()))
            running = self._advance(instruction, running, loops)
            yield from self._rows(index, at, instruction, running)
        yield from self._summary()

    def _advance(self, instruction: Instruction, running: int | None, loops: list[tuple[int, int]]) -> int | None:
        """Return the running total after an instruction; None once it is unknown."""
        if running is None:
            return None
        declaration = instruction.declaration
        if declaration.flow is Flow.JUMP:
            return None
        if declaration.flow is Flow.CALL:
            callee = self.totals.at(instruction.operands[0])
            return None if callee is None else running + callee.total
        if declaration.flow is Flow.LOOP:
            loops.append((instruction.operands[0], running))
        elif declaration.flow is Flow.END_LOOP:
            if not loops:
                return None
            turns, before = loops.pop()
            return before + (running - before) * turns
        return running + instruction.cycles

    def _rows(self, index: int, at: int, instruction: Instruction, running: int | None) -> Iterator[str]:
        program = self.program
        words = [f"{word:08x}" for word in program.words[at : at + instruction.words]]
        total = "?" if running is None else str(running)
        first = " ".join(words[:_WORDS_A_ROW])
        text = instruction.text(self._name)
        numbers = f"{at:>6}  {first:<17}  {instruction.cycles:>6}  {total:>8}"
        head, *below = self._fitted(numbers, text, self._comment(index, text))
        yield head
        for start in range(_WORDS_A_ROW, len(words), _WORDS_A_ROW):
            yield f"{'':>6}  {' '.join(words[start : start + _WORDS_A_ROW])}"
        yield from below

    def _comment(self, index: int, text: str) -> str:
        """Return the place of an instruction in the source, and the source text if it differs."""
        line = self.program.line_at(index)
        if line is None:
            return ""
        source = " ".join(line.text.split(";")[0].split())
        return f"; {line.file}:{line.line}" + (f"  {source}" if source != text else "")

    def _fitted(self, numbers: str, text: str, comment: str) -> Iterator[str]:
        """Yield one line, or several within the width."""
        whole = f"{numbers}  {text:<28}  {comment}".rstrip()
        if self.width is None or len(whole) <= self.width:
            yield whole
            return
        first, below = f"{numbers}  {text}", [comment]
        if len(first) > self.width:
            first, below = numbers, [text, comment]
        yield first
        for part in below:
            yield from textwrap.wrap(part, self.width, initial_indent=" " * 8, subsequent_indent=" " * 10)

    def _name(self, spec: OperandSpec, operand: int) -> str:
        if isinstance(spec.kind, Name):
            return f'"{self.program.names[operand]}"' if operand < len(self.program.names) else str(operand)
        for routine in self.program.routines:
            if routine.entry == operand:
                return routine.name
        return self.labels.get(operand, [str(operand)])[0]

    def _summary(self) -> Iterator[str]:
        yield ""
        yield f"{'words':>7}  {'own':>8}  {'total':>8}  name"
        program = self.program
        for name, at in program.entries.items():
            total = self.totals.at(at)
            yield f"{'':>7}  {_number(total, 'own'):>8}  {_number(total, 'total'):>8}  stream {name}"
        for routine in program.routines:
            total = self.totals.at(routine.entry)
            size = routine.end - routine.entry
            yield f"{size:>7}  {_number(total, 'own'):>8}  {_number(total, 'total'):>8}  {routine.name}"


def _number(total: Total | None, which: str) -> str:
    return "?" if total is None else str(getattr(total, which))


def _cycles(total: Total | None) -> str:
    if total is None:
        return "; cycles unknown: it jumps, recurses or does not end"
    return f"; {total.total} cycles" + (f", {total.own} of them its own" if total.own != total.total else "")
