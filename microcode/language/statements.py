"""What a line of the .mc language says. Expressions inside are nodes of `microcode.language.expressions`."""

from __future__ import annotations

from dataclasses import dataclass, field

from microcode.language.data import DataKind
from microcode.language.expressions import ExpressionNode, Literal, NameExpression, Template
from microcode.language.source import Line
from pixelflow.simd.isa.program import RangeForm

__all__ = [
    "Assertion",
    "Branch",
    "Condition",
    "Const",
    "Data",
    "EndStatement",
    "Include",
    "Loop",
    "Macro",
    "Message",
    "NeedsStatement",
    "OperationStatement",
    "Otherwise",
    "RangeDef",
    "Repeat",
    "RoutineDef",
    "RoutineParameter",
    "Statement",
    "StatementItem",
    "StreamStatement",
]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of the language."""


@dataclass(frozen=True, slots=True)
class Include(Statement):
    """``include "file" with NAME = value``"""

    path: Literal
    bindings: tuple[tuple[NameExpression, ExpressionNode], ...]


@dataclass(frozen=True, slots=True)
class Const(Statement):
    """``const NAME = value``"""

    name: NameExpression | Template
    value: ExpressionNode


@dataclass(frozen=True, slots=True)
class RoutineParameter(Statement):
    """``param NAME = value``"""

    name: NameExpression
    value: ExpressionNode


@dataclass(frozen=True, slots=True)
class RangeDef(Statement):
    """``range name[size] at address: form`` or ``overlay name[size] at address: form``"""

    name: NameExpression | Template
    size: ExpressionNode
    at: ExpressionNode | None
    overlay: bool
    form: RangeForm | None = None


@dataclass(frozen=True, slots=True)
class Data(Statement):
    """``data where: kind values``"""

    where: ExpressionNode
    kind: DataKind
    values: tuple[ExpressionNode, ...]


@dataclass(frozen=True, slots=True)
class Macro(Statement):
    """``macro name(parameters)``"""

    name: NameExpression | Template
    parameters: tuple[NameExpression, ...]


@dataclass(frozen=True, slots=True)
class Repeat(Statement):
    """``repeat variable in low .. high``"""

    variable: NameExpression
    low: ExpressionNode
    high: ExpressionNode


@dataclass(frozen=True, slots=True)
class Condition(Statement):
    """``if test``"""

    test: ExpressionNode


@dataclass(frozen=True, slots=True)
class Otherwise(Statement):
    """``else`` (no test) or ``else if test``"""

    test: ExpressionNode | None


@dataclass(frozen=True, slots=True)
class EndStatement(Statement):
    """``end``"""


@dataclass(frozen=True, slots=True)
class RoutineDef(Statement):
    """``routine name(parameters) whole .. apart .. uses scratch`` or, without START, ``proc``"""

    name: NameExpression | Template
    parameters: tuple[NameExpression, ...]
    uses: tuple[ExpressionNode, ...]
    started: bool
    entire: tuple[NameExpression, ...] = ()
    """Parameters that take the place of another one as a whole, or lie apart from it."""
    apart: tuple[NameExpression, ...] = ()
    """Parameters that overlap no other one."""


@dataclass(frozen=True, slots=True)
class Loop(Statement):
    """``loop count``"""

    count: ExpressionNode


@dataclass(frozen=True, slots=True)
class StreamStatement(Statement):
    """``stream eigc`` or ``stream tigc``"""

    name: NameExpression


@dataclass(frozen=True, slots=True)
class Assertion(Statement):
    """``assert test, message``"""

    test: ExpressionNode
    message: tuple[ExpressionNode, ...]


@dataclass(frozen=True, slots=True)
class NeedsStatement(Statement):
    """``needs "key" = value, why``: a value that the configuration of the machine must have"""

    key: Literal
    value: ExpressionNode
    why: tuple[ExpressionNode, ...]


@dataclass(frozen=True, slots=True)
class Message(Statement):
    """``error message``"""

    message: tuple[ExpressionNode, ...]


@dataclass(frozen=True, slots=True)
class OperationStatement(Statement):
    """An instruction or a macro call, and which of the two is seen only in its scope; ``suffix`` follows the dot."""

    name: NameExpression | Template
    suffix: NameExpression | None
    operands: tuple[ExpressionNode, ...]


@dataclass(slots=True)
class Branch:
    """One arm of an ``if``: the line that opens it, its test (None for ``else``), and what it holds."""

    line: Line
    test: ExpressionNode | None
    body: list[StatementItem] = field(default_factory=list)


@dataclass(slots=True)
class StatementItem:
    """A line in its place: label, statement, and what stands in its block up to ``end``."""

    line: Line
    label: NameExpression | Template | None
    statement: Statement | None
    body: list[StatementItem] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    end: Line | None = None
