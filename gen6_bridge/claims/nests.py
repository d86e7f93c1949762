"""Random nests of control flow: as a program with targets, and channel by channel through the structure."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.program import assemble_eu
from gen6_bridge.unit import ExecutionUnit

_COMPARES = {
    "l": np.less,
    "le": np.less_equal,
    "g": np.greater,
    "ge": np.greater_equal,
    "e": np.equal,
    "ne": np.not_equal,
}
VARIABLES = 4
"""Registers of the data: variable v is the pair of registers that starts at 10 + 2 v."""
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class _Condition:
    variable: int
    compare: str
    constant: int


@dataclass(frozen=True, slots=True)
class _Change:
    operation: str
    variable: int
    constant: int


@dataclass(frozen=True, slots=True)
class _Choice:
    condition: _Condition
    first: tuple[object, ...]
    second: tuple[object, ...] | None


@dataclass(frozen=True, slots=True)
class _Loop:
    depth: int
    turns: int
    body: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Leave:
    """BREAK, or CONT."""

    condition: _Condition
    again: bool


def _nest(source: random.Random, depth: int = 0, loops: int = 0, length: int = 3) -> tuple[object, ...]:
    """Return statements, a few levels deep."""
    found: list[object] = []
    for _ in range(source.randint(1, length)):
        kind = source.random()
        if depth < _DEEPEST and kind < 0.35:
            second = _nest(source, depth + 1, loops) if source.random() < 0.6 else None
            found.append(_Choice(_condition(source), _nest(source, depth + 1, loops), second))
        elif depth < _DEEPEST and loops < 2 and kind < 0.55:
            found.append(_Loop(loops, source.randint(1, 4), _nest(source, depth + 1, loops + 1)))
        elif loops and kind < 0.75:
            found.append(_Leave(_condition(source), source.random() < 0.5))
        else:
            operation = source.choice(("add", "xor", "and"))
            found.append(_Change(operation, source.randrange(VARIABLES), source.randint(-20, 20)))
    return tuple(found)


def _condition(source: random.Random) -> _Condition:
    return _Condition(source.randrange(VARIABLES), source.choice(tuple(_COMPARES)), source.randint(-15, 15))


@dataclass
class _Program:
    """Text of statements; the label of a block's end is known before its body is written."""

    lines: list[str] = field(default_factory=list)
    labels: int = 0

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def write(self, statements: Sequence[object], end: str, loop: tuple[str, str, _Loop] | None) -> None:
        """Write statements of a block that ends at ``end``, in a loop with its last and its next label."""
        for each in statements:
            match each:
                case _Change(operation, variable, constant):
                    register = 10 + 2 * variable
                    self.lines.append(f"{operation} (16) g{register}<1>D g{register}<8,8,1>D {constant}D")
                case _Choice(test, first, second):
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
                case _Loop(depth, _, body):
                    top, last, past = self.label(), self.label(), self.label()
                    counter = 30 + 2 * depth
                    self.lines += [f"mov (16) g{counter}<1>D 0D", f"{top}:"]
                    self.lines.append(f"add (16) g{counter}<1>D g{counter}<8,8,1>D 1D")
                    self.write(body, last, (last, past, each))
                    self.turns(each)
                    self.lines += [f"{last}:", f"(+f0.1) while (16) {top}", f"{past}:"]
                case _Leave(test, again):
                    assert loop is not None
                    if again:
                        self.turns(loop[2])  # the flag that the WHILE will see
                    self.compare(test, "f0.0")
                    self.lines.append(
                        f"(+f0.0) {'cont' if again else 'break'} (16) {end} {loop[0] if again else loop[1]}"
                    )

    def compare(self, test: _Condition, flag: str) -> None:
        self.lines.append(f"cmp.{test.compare}.{flag} (16) null<1>D g{10 + 2 * test.variable}<8,8,1>D {test.constant}D")

    def turns(self, loop: _Loop) -> None:
        self.lines.append(f"cmp.l.f0.1 (16) null<1>D g{30 + 2 * loop.depth}<8,8,1>D {loop.turns}D")


class _Left(Exception):
    def __init__(self, again: bool) -> None:
        self.again = again


def _through(statements: Sequence[object], values: list[int]) -> None:
    """Execute statements for one channel."""
    for each in statements:
        match each:
            case _Change(operation, variable, constant):
                value = values[variable]
                values[variable] = {"add": value + constant, "xor": value ^ constant, "and": value & constant}[
                    operation
                ]
            case _Choice(test, first, second):
                if _COMPARES[test.compare](values[test.variable], test.constant):
                    _through(first, values)
                elif second is not None:
                    _through(second, values)
            case _Loop(_, turns, body):
                for _ in range(turns):
                    try:
                        _through(body, values)
                    except _Left as left:
                        if not left.again:
                            break
            case _Leave(test, again):
                if _COMPARES[test.compare](values[test.variable], test.constant):
                    raise _Left(again)


def _expected(
    statements: Sequence[object], values: NDArray[np.int32], dispatched: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Return int32[threads, variable, channel] after statements; channels that do not exist keep their values."""
    after = values.copy()
    for thread, channel in zip(*np.nonzero(dispatched), strict=True):
        row = values[thread, :, channel].tolist()
        _through(statements, row)
        after[thread, :, channel] = row
    return after


def random_nest(seed: int, length: int = 5) -> tuple[str, tuple[object, ...]]:
    """Return the source of a random nest and its statements; ``length`` bounds those of the outermost block."""
    statements = _nest(random.Random(seed), length=length)
    program = _Program()
    program.write(statements, "END", None)
    return "\n".join([*program.lines, "END:", "nop"]), statements


def wrong_channels(seed: int, threads: int) -> int:
    """Return the count of channels that a random nest leaves with other data than each channel has alone.

    ``threads`` have sixteen channels each; every other thread dispatches only some of them.
    """
    text, statements = random_nest(seed)
    numbers = np.random.default_rng(seed)
    values = numbers.integers(-20, 21, (threads, VARIABLES, 16), np.int32)
    masks = np.where(np.arange(threads) % 2, 0xFFFF, numbers.integers(1, 1 << 16, threads))
    unit = ExecutionUnit(assemble_eu(text).code, threads, dispatch=masks)
    unit.set_register(10, values.reshape(threads, -1))
    unit.run(limit=100_000)
    found = np.ascontiguousarray(unit.general[:, 10 : 10 + 2 * VARIABLES]).reshape(threads, -1).view(np.int32)
    dispatched = (masks[:, None] >> np.arange(16) & 1).astype(np.bool_)
    differs = found.reshape(values.shape) != _expected(statements, values, dispatched)
    return int(differs.any(axis=1).sum())
