"""The `.mc` language as data: source lines, values, expressions that evaluate themselves, statements."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from operator import add, and_, mul, or_, sub, truediv, xor
from pathlib import Path
from typing import Protocol

from pixelflow.simd.errors import Fault, InputError, Place, nearest
from pixelflow.simd.files import SOURCE, read_text
from pixelflow.simd.isa.operands import Imm, Mem, RegisterOperand
from pixelflow.simd.isa.program import AssembledProgram, RangeForm
from pixelflow.simd.isa.target import ProgramTarget
from pixelflow.simd.report import counted

# Source text: files as lines, and places in them for messages.


SHOWN = 160
"""Characters of a line that a message shows, unless the fault is further right."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of source text; ``number`` counts from 1."""

    file: str
    number: int
    text: str

    def place(self, column: int = 1, length: int = 1) -> Place:
        """Return the place of ``length`` characters that start at ``column`` (from 1)."""
        kept = self.text if len(self.text) <= SHOWN else self.text[: max(SHOWN, column + 20)]
        # Control characters of a damaged file must not reach the terminal.
        text = "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in kept)
        return Place(self.file, self.number, column, text, max(1, min(length, len(text) - column + 1)))

    @property
    def first_word(self) -> tuple[int, int]:
        """Column and length of the first word."""
        return first_word(self.text)

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


@dataclass(frozen=True, slots=True)
class Source:
    """Source text: its name in messages, the text, and the file, if there is one."""

    file: str
    text: str
    path: Path | None = None

    @property
    def lines(self) -> Iterator[Line]:
        """Lines, made one by one, so that an early stop saves the rest."""
        start, number, text = 0, 0, self.text
        while start < len(text):
            number += 1
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            yield Line(self.file, number, text[start:end].removesuffix("\r"))
            start = end + 1


def first_word(text: str, offset: int = 0) -> tuple[int, int]:
    """Return column and length of the first word of a text that begins ``offset`` characters into its line."""
    stripped = text.lstrip()
    word = stripped.split(maxsplit=1)[0] if stripped else ""
    return len(text) - len(stripped) + 1 + offset, len(word)


class Complaint(Exception):
    """Fault of part of a line, raised where the line is not known and caught where it is.

    ``column`` and ``length`` are in the current line; ``place`` overrides them for a fault elsewhere.
    """

    def __init__(
        self, message: str, column: int = 1, length: int = 1, hint: str | None = None, place: Place | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.column, self.length, self.hint, self.place = message, column, length, hint, place

    def fault(self, line: Line) -> Fault:
        return Fault(self.message, self.place or line.place(self.column, self.length), self.hint)


def source_of(text: str, file: str = "<text>", path: Path | None = None) -> Source:
    """Return the source of a text; lines end in LF or CRLF, except perhaps the last."""
    return Source(file, text.removeprefix("\ufeff"), path)


def read_source(path: Path, shown: str) -> Source:
    """Read a file, named ``shown`` in messages; raises InputError if it is missing, not text, or absurdly large."""
    return source_of(read_text(path, SOURCE, shown), shown, path)


# Values of names and expressions of the .mc language.


@dataclass(frozen=True, slots=True)
class Range:
    """Named range of PE memory: ``size`` bytes at address ``start``. Indexing gives a checked byte of it."""

    name: str
    start: int
    size: int

    def __getitem__(self, index: int) -> Mem:
        if not 0 <= index < self.size:
            raise InputError(f"{self.name}[{index}] is outside the range: {self.name} has {counted(self.size, 'byte')}")
        return Mem(self.start + index)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Mem]:
        return (Mem(self.start + index) for index in range(self.size))

    @property
    def mem(self) -> Mem:
        """The first byte."""
        return Mem(self.start)

    @property
    def end(self) -> int:
        return self.start + self.size


@dataclass(frozen=True, slots=True)
class LabelReference:
    """Label or routine by name, resolved by the linker.

    ``scope`` is where the search begins (None: the scope of the instruction).
    """

    name: str
    scope: object | None = None
    place: Place | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Symbol:
    """Name without a value, passed to a macro: a label, or a mistake that its use will show."""

    name: str
    scope: object | None
    place: Place
    hint: str | None
    silent: bool = False
    """True if a line that could not be read may define the name."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Value of a name whose definition was reported as a fault; its uses are not further faults."""


@dataclass(frozen=True, slots=True)
class Modified:
    """Value with words in braces after it: ``v1{k1}``, ``[r1 + 64]{float16}{1to16}``."""

    value: object
    words: tuple[str, ...]


Value = int | float | str | Enum | Imm | Mem | Range | Symbol | Broken | Modified | RegisterOperand
"""Registers are members of an enumeration, or operands of another class of the instruction set."""
Written = Value | LabelReference
"""Value of an operand as a user writes it."""


def shown(value: object) -> str:
    """Return a value in words, for messages."""
    match value:
        case bool() | int() | float():
            return f"the number {value}"
        case str():
            return f'the text "{value}"'
        case Enum():
            return f"register {value.name}"
        case RegisterOperand():
            return "a register"
        case Range(name):
            return f"range {name}"
        case Mem(offset, None):
            return f"the memory byte [{offset}]"
        case Mem():
            return "a parameter"
        case Imm(number, None):
            return f"the immediate #{number}"
        case Imm():
            return "an immediate parameter"
        case Symbol(name):
            return f"the name {name}"
        case Modified(value, words):
            return shown(value) + "".join(f" with {{{word}}}" for word in words)
    return "nothing"


# Arithmetic and functions of .mc expressions. They raise ValueError with a message for the user.


NUMBERS: dict[str, Value] = {"inf": float("inf"), "nan": float("nan")}
"""Numbers with a name."""

NUMBER_BITS = 128
"""Largest size of integers, which keeps ``1 << 1000000000`` from filling the memory."""


def _limited(value: int) -> int:
    if value.bit_length() > NUMBER_BITS:
        raise ValueError(f"the number is too large: more than {NUMBER_BITS} bits")
    return value


def _divided(left: int, right: int) -> tuple[int, int]:
    if right == 0:
        raise ValueError("division by zero")
    return divmod(left, right)


def _shift(left: int, right: int, *, up: bool) -> int:
    if not 0 <= right <= NUMBER_BITS:
        raise ValueError(f"a shift by {right} bits, allowed: 0..{NUMBER_BITS}")
    return _limited(left << right) if up else left >> right


# fmt: off
_COMPARE: dict[str, Callable[[float, float], int]] = {
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "<": lambda left, right: int(left < right),
    "<=": lambda left, right: int(left <= right),
    ">": lambda left, right: int(left > right),
    ">=": lambda left, right: int(left >= right),
}
ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda left, right: _limited(left + right),
    "-": lambda left, right: _limited(left - right),
    "*": lambda left, right: _limited(left * right),
    "/": lambda left, right: _divided(left, right)[0],
    "%": lambda left, right: _divided(left, right)[1],
    "<<": lambda left, right: _shift(left, right, up=True),
    ">>": lambda left, right: _shift(left, right, up=False),
    "&": and_,
    "|": or_,
    "^": xor,
    **_COMPARE,
}
# fmt: on
_ON_FLOATS: dict[str, Callable[[float, float], float]] = {"+": add, "-": sub, "*": mul, "/": truediv}


def arithmetic(operator: str, left: Value, right: Value) -> Value:
    """Apply an operator to any two values: integers, floats, or places in memory."""
    if isinstance(left, int) and isinstance(right, int):
        return ARITHMETIC[operator](left, right)
    if isinstance(left, int | float) and isinstance(right, int | float):
        return _floats(operator, float(left), float(right))
    if isinstance(left, str) and isinstance(right, str) and operator in ("==", "!="):
        return int((left == right) == (operator == "=="))
    return _places(operator, _mem(left), _mem(right), (left, right))


def _floats(operator: str, left: float, right: float) -> int | float:
    if operator in _COMPARE:
        return _COMPARE[operator](left, right)
    if operator not in _ON_FLOATS:
        raise ValueError(f"{operator} needs integers")
    if operator == "/" and right == 0:
        raise ValueError("division by zero")
    return _ON_FLOATS[operator](left, right)


def _mem(value: Value) -> Value:
    return value.mem if isinstance(value, Range) else value


def _places(operator: str, left: Value, right: Value, given: tuple[Value, Value]) -> Value:
    match operator, left, right:
        case "+", Mem(), int():
            return left[right]
        case "+", int(), Mem():
            return right[left]
        case "-", Mem(), int():
            return left[-right]
        case "-", Mem(), Mem() if left.base == right.base:
            return left.offset - right.offset
        case (("==" | "!="), Mem(), Mem()):
            return int((left == right) == (operator == "=="))
        case (("<" | "<=" | ">" | ">="), Mem(), Mem()) if left.base == right.base:
            return ARITHMETIC[operator](left.offset, right.offset)
        case (("==" | "!="), _, _) if left.__class__ is right.__class__:
            return int((left == right) == (operator == "=="))
    raise ValueError(f"{operator} does not work on {shown(given[0])} and {shown(given[1])}")


def _number(value: Value) -> int | float:
    if not isinstance(value, int | float):
        raise ValueError(f"a number is needed, not {shown(value)}")
    return value


def _log2(value: Value) -> int:
    if not isinstance(value, int) or value < 1:
        raise ValueError(f"log2 needs a positive integer, not {shown(value)}")
    return value.bit_length() - 1


def binary32(value: Value) -> int:
    """Return the bits of a number as IEEE binary32, rounded to nearest even."""
    number = _number(value)
    try:
        return int.from_bytes(struct.pack("<f", number), "little")
    except (OverflowError, struct.error):  # a float past the largest one; an integer of more than 128 bits
        raise ValueError(f"{number} does not fit binary32: the largest is 3.4028235e38") from None


def _byte(value: Value, index: Value) -> int:
    if not isinstance(value, int) or not isinstance(index, int) or not 0 <= index < NUMBER_BITS // 8:
        raise ValueError(f"byte(x, i) needs two integers with i in 0..{NUMBER_BITS // 8 - 1}")
    return value >> 8 * index & 0xFF


def _size(value: Value) -> int:
    if not isinstance(value, Range):
        raise ValueError(f"only a range has a size, not {shown(value)}")
    return value.size


def _address(value: Value) -> int:
    place = _mem(value)
    if not isinstance(place, Mem) or place.base is not None:
        raise ValueError(f"{shown(value)} has no address that is known now")
    return place.offset


_MANY = 1 << 16
FUNCTIONS: dict[str, tuple[int, int, Callable[..., Value]]] = {
    "min": (1, _MANY, lambda *values: min([_number(value) for value in values])),
    "max": (1, _MANY, lambda *values: max([_number(value) for value in values])),
    "abs": (1, 1, lambda value: abs(_number(value))),
    "log2": (1, 1, _log2),
    "float": (1, 1, binary32),
    "byte": (2, 2, _byte),
    "size": (1, 1, _size),
    "addr": (1, 1, _address),
}
"""Functions: fewest and most arguments, and the function itself."""


# Initial PE memory: bytes of the values of a data section.


LANE_BYTES = 8
"""Largest lane number that a data section writes, in bytes."""


class DataKind(Enum):
    """Type of the values of a data section."""

    BYTE = "byte"
    WORD = "word"
    """32 bits, low byte first."""
    FLOAT = "float"
    """IEEE binary32, low byte first."""
    LANE = "lane"
    """Each PE's lane number, low byte first; the one value is its size in bytes, by default that of the range."""


def _integer(value: Value, bits: int) -> int:
    if not isinstance(value, int) or not -(1 << bits - 1) <= value < 1 << bits:
        allowed = f"{-(1 << bits - 1)}..{(1 << bits) - 1}"
        raise ValueError(f"{shown(value)} does not fit {bits} bits, allowed: {allowed}")
    return value & (1 << bits) - 1


def data_bytes(kind: DataKind, values: Iterable[Value]) -> tuple[int, ...]:
    """Return the bytes of data values, low byte first; raises ValueError for one that does not fit."""
    content = bytearray()
    for value in values:
        match kind:
            case DataKind.BYTE:
                content.append(_integer(value, 8))
            case DataKind.WORD:
                content += _integer(value, 32).to_bytes(4, "little")
            case DataKind.FLOAT:
                content += binary32(value).to_bytes(4, "little")
            case DataKind.LANE:
                raise ValueError("lane data takes no values")
    return tuple(content)


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
        return self.complain(f"unknown name {self.name}", suggestion(self.name, names))


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
            near = nearest(self.function, FUNCTIONS)
            hint = f"did you mean {near}?" if near else "functions: " + ", ".join(FUNCTIONS)
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


def suggestion(name: str, names: Names) -> str | None:
    near = nearest(name, names.visible())
    return f"did you mean {near}?" if near else None


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


@dataclass(frozen=True, slots=True)
class Statement:
    """Statement of the language."""


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
    """Parameters that may be the same place as another one, but not overlap it by a part."""
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
    """``needs "key" = value, why``: a required value of the machine's configuration"""

    key: Literal
    value: ExpressionNode
    why: tuple[ExpressionNode, ...]


@dataclass(frozen=True, slots=True)
class Message(Statement):
    """``error message``"""

    message: tuple[ExpressionNode, ...]


@dataclass(frozen=True, slots=True)
class OperationStatement(Statement):
    """Instruction or macro call; only its scope distinguishes them. ``suffix`` follows the dot."""

    name: NameExpression | Template
    suffix: NameExpression | None
    operands: tuple[ExpressionNode, ...]


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


@dataclass(frozen=True, slots=True, eq=False)
class MacroValue:
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
        near = nearest(name, self.parameters)
        known = ", ".join(sorted(self.parameters))
        hint = f"did you mean {near}?" if near else f"its params: {known}" if known else None
        return f"the file has no param {name}", hint
