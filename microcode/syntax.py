"""The `.mc` language as a tree: expressions that evaluate themselves, statements, and the names that a line sees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from microcode.language import (
    ARITHMETIC,
    FUNCTIONS,
    NUMBERS,
    Broken,
    Complaint,
    DataKind,
    Line,
    Modified,
    Range,
    Symbol,
    Value,
    arithmetic,
    shown,
)
from pixelflow.simd.errors import InputError, suggestion
from pixelflow.simd.isa.operands import Imm, Mem
from pixelflow.simd.isa.program import AssembledProgram, RangeForm
from pixelflow.simd.isa.target import ProgramTarget

# Expressions of the .mc language: nodes that evaluate themselves in a scope.


class Names(Protocol):
    """Names that an expression can see, and their values."""

    @property
    def braces(self) -> frozenset[str]: ...

    def find(self, name: str) -> Value | None: ...

    def visible(self) -> list[str]: ...

    @property
    def incomplete(self) -> bool: ...


class Silent(Complaint):
    """Complaint that was already reported in another form."""


@dataclass(frozen=True, slots=True)
class ExpressionNode(ABC):
    """Part of a line: its first column (from 1) and the column after its last character."""

    column: int
    stop: int

    def complain(self, message: str, hint: str | None = None) -> Complaint:
        return Complaint(message, self.column, self.stop - self.column, hint)

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Turn errors raised inside into complaints about this node."""
        try:
            yield
        except InputError as error:
            fault = error.faults[0]
            raise Complaint(fault.message, self.column, self.stop - self.column, fault.hint, fault.place) from None

    @abstractmethod
    def evaluate(self, names: Names) -> Value:
        """Return the value, given ``names``; raises Complaint if there is none."""


@dataclass(frozen=True, slots=True)
class Literal(ExpressionNode):
    """A number or a text."""

    value: int | float | str

    def evaluate(self, names: Names) -> Value:
        return self.value


@dataclass(frozen=True, slots=True)
class NameExpression(ExpressionNode):
    """Name, looked up in its scope."""

    name: str

    def evaluate(self, names: Names) -> Value:
        value = names.find(self.name)
        if value is None:
            raise self.unknown(names)
        if isinstance(value, Broken):
            raise Silent("already reported")
        if isinstance(value, Symbol):
            if value.silent:
                raise Silent("already reported")
            raise Complaint(f"unknown name {value.name}", hint=value.hint, place=value.place)
        return value

    def unknown(self, names: Names) -> Complaint:
        if names.incomplete:
            return Silent("perhaps defined by a line that could not be read")
        return self.complain(f"unknown name {self.name}", suggestion(self.name, names.visible()))


@dataclass(frozen=True, slots=True)
class Template(ExpressionNode):
    """Name with computed parts: ``fadd{n}``."""

    parts: tuple[str | ExpressionNode, ...]

    def text(self, names: Names) -> str:
        return "".join(part if isinstance(part, str) else _name_part(part, names) for part in self.parts)

    def evaluate(self, names: Names) -> Value:
        parts, words = list(self.parts), []
        while len(parts) > 1 and isinstance(last := parts[-1], NameExpression) and last.name in names.braces:
            words.append(last.name)
            parts.pop()
        bare = Template(self.column, self.stop, tuple(parts)).text(names)
        value = NameExpression(self.column, self.stop, bare).evaluate(names)
        return Modified(value, tuple(reversed(words))) if words else value


@dataclass(frozen=True, slots=True)
class Braced(ExpressionNode):
    """An operand with words in braces after it: ``[r1 + 64]{float16}{1to16}``."""

    inner: ExpressionNode
    words: tuple[str, ...]

    def evaluate(self, names: Names) -> Value:
        for word in self.words:
            if word not in names.braces:
                raise self.complain(f"{{{word}}} means nothing here")
        return Modified(self.inner.evaluate(names), self.words)


@dataclass(frozen=True, slots=True)
class Index(ExpressionNode):
    """A byte of a range or parameter: ``x[2]``."""

    target: NameExpression | Template
    index: ExpressionNode

    def evaluate(self, names: Names) -> Value:
        target = self.target.evaluate(names)
        index = whole(self.index, names)
        match target:
            case Range():
                try:
                    return target[index]
                except InputError as error:
                    raise self.index.complain(error.faults[0].message) from None
            case Mem():
                return target[index]
            case bool() | int():
                return Mem(target + index)
        raise self.target.complain(f"{shown(target)} has no bytes to count off with [ ]")


@dataclass(frozen=True, slots=True)
class CallExpression(ExpressionNode):
    """A function of the language: ``min(a, b)``."""

    function: str
    arguments: tuple[ExpressionNode, ...]

    def evaluate(self, names: Names) -> Value:
        known = FUNCTIONS.get(self.function)
        if known is None:
            hint = suggestion(self.function, FUNCTIONS, "functions: " + ", ".join(FUNCTIONS))
            raise Complaint(f"unknown function {self.function}", self.column, len(self.function), hint)
        low, high, apply = known
        if not low <= len(self.arguments) <= high:
            wanted = str(low) if low == high else f"at least {low}"
            count = len(self.arguments)
            raise self.complain(f"{self.function} takes {wanted} argument{'s' * (low != 1)}, not {count}")
        values = [argument.evaluate(names) for argument in self.arguments]
        try:
            return apply(*values)
        except ValueError as error:
            raise self.complain(str(error)) from None


@dataclass(frozen=True, slots=True)
class Unary(ExpressionNode):
    """``-x``, ``+x``, ``~x`` or ``!x``."""

    operator: str
    operand: ExpressionNode

    def evaluate(self, names: Names) -> Value:
        value = self.operand.evaluate(names)
        if self.operator == "!":
            return int(not truth(value, self.operand))
        if isinstance(value, float) and self.operator != "~":
            return -value if self.operator == "-" else value
        if not isinstance(value, int):
            raise self.operand.complain(f"{self.operator} needs a number, not {shown(value)}")
        return {"-": -value, "+": value, "~": ~value}[self.operator]


@dataclass(frozen=True, slots=True)
class Binary(ExpressionNode):
    """Operator between two expressions."""

    operator: str
    left: ExpressionNode
    right: ExpressionNode

    def evaluate(self, names: Names) -> Value:
        left, right = self.left.evaluate(names), self.right.evaluate(names)
        if left.__class__ is int and right.__class__ is int:
            try:
                return ARITHMETIC[self.operator](left, right)
            except ValueError as error:
                raise self.complain(str(error)) from None
        try:
            return arithmetic(self.operator, left, right)
        except ValueError as error:
            raise self.complain(str(error)) from None


@dataclass(frozen=True, slots=True)
class Logical(ExpressionNode):
    """``&&`` and ``||``: the right side is evaluated only where it matters."""

    both: bool
    left: ExpressionNode
    right: ExpressionNode

    def evaluate(self, names: Names) -> Value:
        if truth(self.left.evaluate(names), self.left) != self.both:
            return int(not self.both)
        return int(truth(self.right.evaluate(names), self.right))


@dataclass(frozen=True, slots=True)
class Immediate(ExpressionNode):
    """An operand ``#value``."""

    inner: ExpressionNode

    def evaluate(self, names: Names) -> Value:
        value = self.inner.evaluate(names)
        match value:
            case bool() | int():
                if not -128 <= value <= 255:
                    raise self.complain(f"#{value} is not a byte", "allowed: #-128..#255")
                return Imm(value)
            case Imm():
                return value
            case Mem(offset, base) if base is not None:
                return Imm(offset, base)
            case Mem() | Range():
                raise self.complain(f"{shown(value)} is not a number", "for its address write #addr(..)")
        raise self.complain(f"{shown(value)} is not a byte", "allowed: #-128..#255")


@dataclass(frozen=True, slots=True)
class Address(ExpressionNode):
    """An operand ``[address]``."""

    inner: ExpressionNode

    def evaluate(self, names: Names) -> Value:
        value = self.inner.evaluate(names)
        match value:
            case bool() | int():
                return Mem(value)
            case Mem():
                return value
            case Range():
                return value.mem
        raise self.inner.complain(f"{shown(value)} is not an address")


def truth(value: Value, node: ExpressionNode) -> bool:
    if isinstance(value, int | float):
        return value != 0
    raise node.complain(f"a condition needs a number, not {shown(value)}")


def whole(node: ExpressionNode, names: Names) -> int:
    """Evaluate a node that must give an integer."""
    value = node.evaluate(names)
    if not isinstance(value, int):
        raise node.complain(f"an integer is needed here, not {shown(value)}")
    return value


def _name_part(node: ExpressionNode, names: Names) -> str:
    if isinstance(node, NameExpression):
        value = names.find(node.name)
        if isinstance(value, Symbol):
            return value.name
    value = node.evaluate(names)
    if not isinstance(value, int) or value < 0:
        raise node.complain(f"a name can take in a natural number or a name, not {shown(value)}")
    return str(value)


def name_text(node: NameExpression | Template, names: Names) -> str:
    """Return the name of a node without looking it up."""
    return node.name if isinstance(node, NameExpression) else node.text(names)


# Statements of the .mc language, with the expressions inside as nodes.


class Include(NamedTuple):
    """``include "file" with NAME = value``"""

    path: Literal
    bindings: tuple[tuple[NameExpression, ExpressionNode], ...]


class Const(NamedTuple):
    """``const NAME = value``"""

    name: NameExpression | Template
    value: ExpressionNode


class RoutineParameter(NamedTuple):
    """``param NAME = value``"""

    name: NameExpression
    value: ExpressionNode


class RangeDef(NamedTuple):
    """``range name[size] at address: form`` or ``overlay name[size] at address: form``"""

    name: NameExpression | Template
    size: ExpressionNode
    at: ExpressionNode | None
    overlay: bool
    form: RangeForm | None = None


class Data(NamedTuple):
    """``data where: kind values``"""

    where: ExpressionNode
    kind: DataKind
    values: tuple[ExpressionNode, ...]


class Macro(NamedTuple):
    """``macro name(parameters)``"""

    name: NameExpression | Template
    parameters: tuple[NameExpression, ...]


class Repeat(NamedTuple):
    """``repeat variable in low .. high``"""

    variable: NameExpression
    low: ExpressionNode
    high: ExpressionNode


class Condition(NamedTuple):
    """``if test``"""

    test: ExpressionNode


class Otherwise(NamedTuple):
    """``else`` (no test) or ``else if test``"""

    test: ExpressionNode | None


class EndStatement(NamedTuple):
    """``end``"""


class RoutineDef(NamedTuple):
    """``routine name(parameters) whole .. apart .. uses scratch`` or, without START, ``proc``"""

    name: NameExpression | Template
    parameters: tuple[NameExpression, ...]
    uses: tuple[ExpressionNode, ...]
    started: bool
    entire: tuple[NameExpression, ...] = ()
    """Parameters that may be the same place as another one, but not overlap it by a part."""
    apart: tuple[NameExpression, ...] = ()
    """Parameters that overlap no other one."""


class Loop(NamedTuple):
    """``loop turns``"""

    turns: ExpressionNode


class StreamStatement(NamedTuple):
    """``stream eigc`` or ``stream tigc``"""

    name: NameExpression


class Assertion(NamedTuple):
    """``assert test, message``"""

    test: ExpressionNode
    message: tuple[ExpressionNode, ...]


class NeedsStatement(NamedTuple):
    """``needs "key" = value, why``: a required value of the machine's configuration"""

    key: Literal
    value: ExpressionNode
    why: tuple[ExpressionNode, ...]


class Message(NamedTuple):
    """``error message``"""

    message: tuple[ExpressionNode, ...]


class OperationStatement(NamedTuple):
    """Instruction or macro call; only its scope distinguishes them. ``suffix`` follows the dot."""

    name: NameExpression | Template
    suffix: NameExpression | None
    operands: tuple[ExpressionNode, ...]


Statement: TypeAlias = (
    Include | Const | RoutineParameter | RangeDef | Data | Macro | Repeat | Condition | Otherwise | EndStatement
    | RoutineDef | Loop | StreamStatement | Assertion | NeedsStatement | Message | OperationStatement
)  # fmt: skip


@dataclass(slots=True)
class Branch:
    """Branch of an ``if``: the line that opens it, its test (None for ``else``), and its body."""

    line: Line
    test: ExpressionNode | None
    body: list[StatementItem] = field(default_factory=list)


@dataclass(slots=True)
class StatementItem:
    """Line of a tree: label, statement, and the body of its block up to ``end``."""

    line: Line
    label: NameExpression | Template | None
    statement: Statement | None
    body: list[StatementItem] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    end: Line | None = None


# Names that a line can see.


class MacroValue(NamedTuple):
    """Macro: its lines, and the scope of its definition, in which its body looks names up."""

    name: str
    definition: Macro
    item: StatementItem
    scope: Scope


@dataclass(slots=True, eq=False)
class Scope:
    """Names defined at one level: a file, a routine, one expansion of a macro, one turn of a repeat.

    A file sees its own names and those of the files it includes, and nothing of the files that include it.
    """

    target: ProgramTarget[AssembledProgram]
    """Machine that the text is for."""
    parent: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)
    imported: dict[str, Value] = field(default_factory=dict)
    macros: dict[str, MacroValue] = field(default_factory=dict)
    imported_macros: dict[str, MacroValue] = field(default_factory=dict)
    parameters: list[str] = field(default_factory=list)
    """Names of a file's ``param`` statements."""
    damaged: bool = False
    """True if a line of this file could not be read, which may have defined a missing name."""
    fixed: Mapping[str, Value] = field(init=False, default_factory=dict)
    """Names that cannot be redefined: those of the target, and numbers."""

    def __post_init__(self) -> None:
        self.fixed = {**self.target.names, **NUMBERS} if self.parent is None else self.parent.fixed

    def inside(self, names: Mapping[str, Value]) -> Scope:
        """Return a new scope inside this one, with the given names."""
        return Scope(self.target, self, dict(names))

    def _outwards(self) -> Iterator[Scope]:
        """Yield this scope and those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    @property
    def braces(self) -> frozenset[str]:
        """Words that may follow an operand in braces."""
        return self.target.braces

    @property
    def incomplete(self) -> bool:
        return any(scope.damaged for scope in self._outwards())

    def find(self, name: str) -> Value | None:
        """Return the value of a name, or None."""
        if name in self.fixed:
            return self.fixed[name]
        scope: Scope | None = self
        while scope is not None:
            value = scope.names.get(name)
            if value is None:
                value = scope.imported.get(name)
            if value is not None:
                return value
            scope = scope.parent
        return None

    def find_macro(self, name: str) -> MacroValue | None:
        """Return a macro by name, or None."""
        macros = (scope.macros.get(name) or scope.imported_macros.get(name) for scope in self._outwards())
        return next((macro for macro in macros if macro is not None), None)

    def visible(self) -> list[str]:
        """Return all names visible from here."""
        return [*self.fixed, *(name for scope in self._outwards() for name in (*scope.names, *scope.imported))]

    def visible_macros(self) -> list[str]:
        """Return all macros visible from here."""
        return [name for scope in self._outwards() for name in (*scope.macros, *scope.imported_macros)]

    def take(self, other: Scope) -> None:
        """Import the names of an included file; a later include hides an earlier one."""
        self.imported |= other.imported | other.names
        self.imported_macros |= other.imported_macros | other.macros
        self.damaged = self.damaged or other.damaged

    # --- definitions -----------------------------------------------------------------------------------------------

    def checked(self, name: str, node: ExpressionNode) -> str:
        """Return a name that may be defined; raises Complaint for a name of the machine."""
        if name in self.fixed or name in self.target.instructions:
            raise node.complain(f"{name} is a name of the machine and cannot be defined")
        return name

    def check_parameters(self, parameters: tuple[NameExpression, ...]) -> None:
        """Raise Complaint for a parameter whose name is not allowed or not unique."""
        seen: set[str] = set()
        for parameter in parameters:
            self.checked(parameter.name, parameter)
            if parameter.name in seen:
                raise parameter.complain(f"parameter {parameter.name} is here twice")
            seen.add(parameter.name)

    def define_macro(self, statement: Macro, item: StatementItem) -> None:
        """Define a macro, whose body is that of the item; raises Complaint."""
        name = self.checked(name_text(statement.name, self), statement.name)
        if name in self.macros:
            first = self.macros[name].item.line.number
            raise statement.name.complain(f"macro {name} is defined twice, first in line {first}")
        self.check_parameters(statement.parameters)
        self.macros[name] = MacroValue(name, statement, item, self)

    def unknown_parameter(self, name: str) -> tuple[str, str | None]:
        """Return message and hint for a ``param`` that this file does not have."""
        known = ", ".join(sorted(self.parameters))
        hint = suggestion(name, self.parameters, f"its params: {known}" if known else None)
        return f"the file has no param {name}", hint
