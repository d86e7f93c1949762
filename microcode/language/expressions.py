"""Expressions of the .mc language: nodes that evaluate themselves in a scope."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from microcode.language.functions import ARITHMETIC, FUNCTIONS, arithmetic
from microcode.language.source import Complaint
from microcode.language.values import Broken, Modified, Range, Symbol, Value, shown
from pixelflow.simd.errors import InputError, nearest
from pixelflow.simd.isa.operands import Imm, Mem

__all__ = [
    "Address",
    "Binary",
    "Braced",
    "CallExpression",
    "ExpressionNode",
    "Immediate",
    "Index",
    "Literal",
    "Logical",
    "NameExpression",
    "Names",
    "Silent",
    "Template",
    "Unary",
    "name_text",
    "whole",
]


class Names(Protocol):
    """What an expression needs to know: the values of names, and which names there are."""

    @property
    def braces(self) -> frozenset[str]: ...

    def find(self, name: str) -> Value | None: ...

    def visible(self) -> list[str]: ...

    @property
    def incomplete(self) -> bool: ...


class Silent(Complaint):
    """A complaint that was already reported in another shape."""


@dataclass(frozen=True, slots=True)
class ExpressionNode(ABC):
    """A piece of a line: its first column (from 1) and the column after its last character."""

    column: int
    stop: int

    def complain(self, message: str, hint: str | None = None) -> Complaint:
        return Complaint(message, self.column, self.stop - self.column, hint)

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Turn what is refused inside into complaints about this node."""
        try:
            yield
        except InputError as error:
            fault = error.faults[0]
            raise Complaint(fault.message, self.column, self.stop - self.column, fault.hint, fault.place) from None

    @abstractmethod
    def evaluate(self, names: Names) -> Value:
        """Return the value where ``names`` are known; raises Complaint where it has none."""


@dataclass(frozen=True, slots=True)
class Literal(ExpressionNode):
    """A number or a text."""

    value: int | float | str

    def evaluate(self, names: Names) -> Value:
        return self.value


@dataclass(frozen=True, slots=True)
class NameExpression(ExpressionNode):
    """A name, looked up where it stands."""

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
    """A name with parts to be computed: ``fadd{n}``."""

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
        found = FUNCTIONS.get(self.function)
        if found is None:
            near = nearest(self.function, FUNCTIONS)
            hint = f"did you mean {near}?" if near else "functions: " + ", ".join(FUNCTIONS)
            raise Complaint(f"unknown function {self.function}", self.column, len(self.function), hint)
        low, high, apply = found
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
    """An operator between two expressions."""

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
    """Return the name that a node spells, without looking it up."""
    return node.name if isinstance(node, NameExpression) else node.text(names)
