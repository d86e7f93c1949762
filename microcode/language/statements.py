"""What a line of the .mc language says. Expressions inside are nodes of `microcode.language.expressions`."""

from __future__ import annotations

from dataclasses import dataclass, field

from microcode.language.data import DataKind
from microcode.language.expressions import Literal, Name, Node, Template
from microcode.language.source import Line
from pixelflow.simd.records import record

__all__ = [
    "Assertion",
    "Branch",
    "Condition",
    "Const",
    "Data",
    "End",
    "Include",
    "Item",
    "Loop",
    "Macro",
    "Message",
    "Operation",
    "Otherwise",
    "Param",
    "RangeDef",
    "Repeat",
    "RoutineDef",
    "Statement",
    "Stream",
]


@record
class Statement:
    """One statement of the language."""


@record
class Include(Statement):
    """``include "file" with NAME = value``"""

    path: Literal
    bindings: tuple[tuple[Name, Node], ...]


@record
class Const(Statement):
    """``const NAME = value``"""

    name: Name | Template
    value: Node


@record
class Param(Statement):
    """``param NAME = value``"""

    name: Name
    value: Node


@record
class RangeDef(Statement):
    """``range name[size] at address`` or ``overlay name[size] at address``"""

    name: Name | Template
    size: Node
    at: Node | None
    overlay: bool


@record
class Data(Statement):
    """``data where: kind values``"""

    where: Node
    kind: DataKind
    values: tuple[Node, ...]


@record
class Macro(Statement):
    """``macro name(parameters)``"""

    name: Name | Template
    parameters: tuple[Name, ...]


@record
class Repeat(Statement):
    """``repeat variable in low .. high``"""

    variable: Name
    low: Node
    high: Node


@record
class Condition(Statement):
    """``if test``"""

    test: Node


@record
class Otherwise(Statement):
    """``else`` (no test) or ``else if test``"""

    test: Node | None


@record
class End(Statement):
    """``end``"""


@record
class RoutineDef(Statement):
    """``routine name(parameters) uses scratch`` or, without START, ``proc``"""

    name: Name | Template
    parameters: tuple[Name, ...]
    uses: tuple[Node, ...]
    started: bool


@record
class Loop(Statement):
    """``loop count``"""

    count: Node


@record
class Stream(Statement):
    """``stream eigc`` or ``stream tigc``"""

    name: Name


@record
class Assertion(Statement):
    """``assert test, message``"""

    test: Node
    message: tuple[Node, ...]


@record
class Message(Statement):
    """``error message``"""

    message: tuple[Node, ...]


@record
class Operation(Statement):
    """An instruction or a macro call, and which of the two is seen only in its scope; ``suffix`` follows the dot."""

    name: Name | Template
    suffix: Name | None
    operands: tuple[Node, ...]


@dataclass(slots=True)
class Branch:
    """One arm of an ``if``: the line that opens it, its test (None for ``else``), and what it holds."""

    line: Line
    test: Node | None
    body: list[Item] = field(default_factory=list)


@dataclass(slots=True)
class Item:
    """A line in its place: label, statement, and what stands in its block up to ``end``."""

    line: Line
    label: Name | Template | None
    statement: Statement | None
    body: list[Item] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    end: Line | None = None
