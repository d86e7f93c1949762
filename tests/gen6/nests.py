"""Random nests of control flow: as a program with targets, and channel by channel through the structure."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

COMPARES = {
    "l": np.less,
    "le": np.less_equal,
    "g": np.greater,
    "ge": np.greater_equal,
    "e": np.equal,
    "ne": np.not_equal,
}
VARIABLES = 4
"""Registers of the data: variable v is the pair of registers from 10 + 2 v on."""
DEEPEST = 4


@dataclass(frozen=True)
class Condition:
    variable: int
    compare: str
    constant: int


@dataclass(frozen=True)
class Change:
    operation: str
    variable: int
    constant: int


@dataclass(frozen=True)
class Choice:
    condition: Condition
    first: tuple[object, ...]
    second: tuple[object, ...] | None


@dataclass(frozen=True)
class Loop:
    depth: int
    turns: int
    body: tuple[object, ...]


@dataclass(frozen=True)
class Leave:
    """BREAK, or CONT."""

    condition: Condition
    again: bool


def nest(source: random.Random, depth: int = 0, loops: int = 0, length: int = 3) -> tuple[object, ...]:
    """Return statements, a few levels deep."""
    found: list[object] = []
    for _ in range(source.randint(1, length)):
        kind = source.random()
        if depth < DEEPEST and kind < 0.35:
            second = nest(source, depth + 1, loops) if source.random() < 0.6 else None
            found.append(Choice(condition(source), nest(source, depth + 1, loops), second))
        elif depth < DEEPEST and loops < 2 and kind < 0.55:
            found.append(Loop(loops, source.randint(1, 4), nest(source, depth + 1, loops + 1)))
        elif loops and kind < 0.75:
            found.append(Leave(condition(source), source.random() < 0.5))
        else:
            operation = source.choice(("add", "xor", "and"))
            found.append(Change(operation, source.randrange(VARIABLES), source.randint(-20, 20)))
    return tuple(found)


def condition(source: random.Random) -> Condition:
    return Condition(source.randrange(VARIABLES), source.choice(tuple(COMPARES)), source.randint(-15, 15))


@dataclass
class Program:
    """The text of statements: what each block's end is called is known before it is written."""

    lines: list[str] = field(default_factory=list)
    labels: int = 0

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def write(self, statements: Sequence[object], end: str, loop: tuple[str, str, Loop] | None) -> None:
        """Write statements of a block that ends at ``end``, in a loop with its last and its next label."""
        for each in statements:
            match each:
                case Change(operation, variable, constant):
                    register = 10 + 2 * variable
                    self.lines.append(f"{operation} (16) g{register}<1>D g{register}<8,8,1>D {constant}D")
                case Choice(test, first, second):
                    otherwise, over = self.label(), self.label()
                    self.compare(test, "f0.0")
                    self.lines.append(f"(+f0.0) if (16) {otherwise}")
                    self.write(first, over if second is None else otherwise + "E", loop)
                    if second is not None:
                        self.lines += [f"{otherwise}E:", f"else (16) {over}", f"{otherwise}:"]
                        self.write(second, over, loop)
                    else:
                        self.lines.append(f"{otherwise}:")
                    self.lines += [f"{over}:", f"endif (16) {end}"]
                case Loop(depth, _, body):
                    top, last, past = self.label(), self.label(), self.label()
                    counter = 30 + 2 * depth
                    self.lines += [f"mov (16) g{counter}<1>D 0D", f"{top}:"]
                    self.lines.append(f"add (16) g{counter}<1>D g{counter}<8,8,1>D 1D")
                    self.write(body, last, (last, past, each))
                    self.turns(each)
                    self.lines += [f"{last}:", f"(+f0.1) while (16) {top}", f"{past}:"]
                case Leave(test, again):
                    assert loop is not None
                    if again:
                        self.turns(loop[2])  # the WHILE sees the flag as it is left here
                    self.compare(test, "f0.0")
                    self.lines.append(
                        f"(+f0.0) {'cont' if again else 'break'} (16) {end} {loop[0] if again else loop[1]}"
                    )

    def compare(self, test: Condition, flag: str) -> None:
        self.lines.append(f"cmp.{test.compare}.{flag} (16) null<1>D g{10 + 2 * test.variable}<8,8,1>D {test.constant}D")

    def turns(self, loop: Loop) -> None:
        self.lines.append(f"cmp.l.f0.1 (16) null<1>D g{30 + 2 * loop.depth}<8,8,1>D {loop.turns}D")


class _Left(Exception):
    def __init__(self, again: bool) -> None:
        self.again = again


def through(statements: Sequence[object], values: list[int]) -> None:
    """Carry statements out for one channel."""
    for each in statements:
        match each:
            case Change(operation, variable, constant):
                value = values[variable]
                values[variable] = {"add": value + constant, "xor": value ^ constant, "and": value & constant}[
                    operation
                ]
            case Choice(test, first, second):
                if COMPARES[test.compare](values[test.variable], test.constant):
                    through(first, values)
                elif second is not None:
                    through(second, values)
            case Loop(_, turns, body):
                for _ in range(turns):
                    try:
                        through(body, values)
                    except _Left as left:
                        if not left.again:
                            break
            case Leave(test, again):
                if COMPARES[test.compare](values[test.variable], test.constant):
                    raise _Left(again)


def expected(
    statements: Sequence[object], values: NDArray[np.int32], dispatched: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Return int32[threads, variable, channel] after statements, channels that do not exist as they were."""
    found = values.copy()
    for thread, channel in zip(*np.nonzero(dispatched), strict=True):
        row = values[thread, :, channel].tolist()
        through(statements, row)
        found[thread, :, channel] = row
    return found
