"""The `.mc` language as data: source lines, values, and what expressions do with them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from operator import add, and_, mul, or_, sub, truediv, xor
from pathlib import Path
from typing import NamedTuple

from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.files import SOURCE, read_text
from pixelflow.simd.isa.operands import Imm, Mem, RegisterOperand
from pixelflow.simd.report import counted

# Source text: files as lines, and places in them for messages.


SHOWN = 160
"""Characters of a line that a message shows, unless the fault is further right."""


class Line(NamedTuple):
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


class Source(NamedTuple):
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


class LabelReference(NamedTuple):
    """Label or routine by name, resolved by the linker.

    ``scope`` is where the search begins (None: the scope of the instruction).
    """

    name: str
    scope: object | None = None
    place: Place | None = None


class Symbol(NamedTuple):
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


class Modified(NamedTuple):
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
