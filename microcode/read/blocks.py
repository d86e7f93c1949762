"""From source text to a tree of items: lines are parsed one by one, blocks are put together here.

A line that cannot be read is reported and left out, so that one run finds many faults.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from microcode.language import statements as s
from microcode.language.expressions import NameExpression, Template
from microcode.language.source import Complaint, Line, Source
from microcode.read.lines import read_line
from pixelflow.simd.errors import Fault
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.isa.target import ProgramTarget

__all__ = ["Parsed", "parse"]

NESTING = 40
"""Deepest nesting of blocks."""
STATEMENTS = 200_000
"""Most lines of a file with a label or a statement: no text may expand to more (`expander.STEPS`), and a file that has
more is refused before it is held in memory as a tree."""

_OPENERS = {
    s.Macro: "macro",
    s.Repeat: "repeat",
    s.Condition: "if",
    s.RoutineDef: "routine",
    s.Loop: "loop",
}

_DEFINES = re.compile(r"\s*(const|param|range|overlay|include|macro|routine|proc|repeat)\b|\s*[\w{}]+\s*:")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A source as a tree, and the faults of the lines that are missing from it."""

    items: tuple[s.StatementItem, ...]
    faults: tuple[Fault, ...]
    damaged: bool
    """Whether a missing line may have defined a name: unknown names are then no fault of their users."""


class _Blocks:
    """The blocks open while a source is read, outermost first."""

    def __init__(self) -> None:
        self.items: list[s.StatementItem] = []
        self.open: list[s.StatementItem] = []
        self.faults: list[Fault] = []
        self.damaged = False
        self.count = 0
        """Lines with a label or a statement."""

    @property
    def body(self) -> list[s.StatementItem]:
        if not self.open:
            return self.items
        inner = self.open[-1]
        return inner.branches[-1].body if inner.branches else inner.body

    @property
    def too_many(self) -> bool:
        """Whether there is a line more than any program has."""
        return self.count > STATEMENTS

    def add(self, line: Line, label: NameExpression | Template | None, statement: s.Statement | None) -> None:
        if isinstance(statement, s.EndStatement | s.Otherwise):
            if label is not None:
                self.body.append(s.StatementItem(line, label, None))
            if isinstance(statement, s.EndStatement):
                self.close(line)
            else:
                self.otherwise(line, statement)
            return
        if label is None and statement is None:
            return
        item = s.StatementItem(line, label, statement)
        self.body.append(item)
        self.count += 1
        if self.too_many:
            raise Complaint(f"the file has more than {STATEMENTS} lines with a statement", *line.first_word)
        if type(statement) in _OPENERS:
            if isinstance(statement, s.Condition):
                item.branches.append(s.Branch(line, statement.test))
            self.open.append(item)
            if len(self.open) == NESTING + 1:
                raise Complaint(f"blocks are nested deeper than {NESTING}", *line.first_word)

    def close(self, line: Line) -> None:
        if not self.open:
            raise Complaint("end without macro, repeat, if, routine, proc or loop", *line.first_word)
        self.open.pop().end = line

    def otherwise(self, line: Line, statement: s.Otherwise) -> None:
        branches = self.open[-1].branches if self.open else []
        if not branches:
            raise Complaint("else without if", *line.first_word)
        if branches[-1].test is None:
            raise Complaint("a second else", *line.first_word, f"the first is in line {branches[-1].line.number}")
        branches.append(s.Branch(line, statement.test))


def _usage(line: Line, target: ProgramTarget[AssembledProgram]) -> str | None:
    """Return how the instruction of a line is written, where the line begins with one."""
    words = line.text.split(":")[-1].split()
    mnemonic = words[0].partition(".")[0] if words else ""
    if mnemonic not in target.instructions:
        return None
    return f"usage: {target.instructions[mnemonic].synopsis}     see: {target.manual} {mnemonic}"


def parse(source: Source, target: ProgramTarget[AssembledProgram]) -> Parsed:
    """Return the tree of a source. Nothing is raised; every fault is in the result."""
    blocks = _Blocks()
    for line in source.lines:
        try:
            blocks.add(line, *read_line(line.text))
        except Complaint as complaint:
            complaint.hint = complaint.hint or _usage(line, target)
            blocks.faults.append(complaint.fault(line))
            blocks.damaged = blocks.damaged or bool(_DEFINES.match(line.text))
            if len(blocks.open) > NESTING or blocks.too_many:
                break
    if len(blocks.open) > NESTING or blocks.too_many:
        return Parsed((), tuple(blocks.faults), True)
    for item in blocks.open:
        word = _OPENERS[type(item.statement)]
        if isinstance(item.statement, s.RoutineDef) and not item.statement.started:
            word = "proc"
        blocks.faults.append(Complaint(f"{word} without end", *item.line.first_word).fault(item.line))
        blocks.damaged = blocks.damaged or isinstance(item.statement, s.Macro | s.RoutineDef)
    return Parsed(tuple(blocks.items), tuple(blocks.faults), blocks.damaged)
