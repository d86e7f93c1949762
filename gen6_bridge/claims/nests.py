"""Random nests of control flow: as a program with targets, and channel by channel through the structure."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

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


Condition = tuple[int, str, int]
"""Variable, compare, constant."""
Statements: TypeAlias = "list[Statement]"
Statement: TypeAlias = (
    "tuple[Literal['change'], str, int, int] | tuple[Literal['choice'], Condition, Statements, Statements | None]"
    "| tuple[Literal['loop'], int, int, Statements] | tuple[Literal['leave'], Condition, bool]"
)
"""``change``, operation, variable, constant; ``choice``, condition, statements, others or None; ``loop``, depth, turns,
body; ``leave``, condition, and whether it is CONT instead of BREAK."""


def _nest(source: random.Random, depth: int = 0, loops: int = 0, length: int = 3) -> Statements:
    """Return statements, a few levels deep."""
    nest: Statements = []
    for _ in range(source.randint(1, length)):
        kind = source.random()
        if depth < _DEEPEST and kind < 0.35:
            second = _nest(source, depth + 1, loops) if source.random() < 0.6 else None
            nest.append(("choice", _condition(source), _nest(source, depth + 1, loops), second))
        elif depth < _DEEPEST and loops < 2 and kind < 0.55:
            nest.append(("loop", loops, source.randint(1, 4), _nest(source, depth + 1, loops + 1)))
        elif loops and kind < 0.75:
            nest.append(("leave", _condition(source), source.random() < 0.5))
        else:
            operation = source.choice(("add", "xor", "and"))
            nest.append(("change", operation, source.randrange(VARIABLES), source.randint(-20, 20)))
    return nest


def _condition(source: random.Random) -> Condition:
    return source.randrange(VARIABLES), source.choice(tuple(_COMPARES)), source.randint(-15, 15)


@dataclass
class _Program:
    """Text of statements; the label of a block's end is known before its body is written."""

    lines: list[str] = field(default_factory=list)
    labels: int = 0

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def write(
        self, statements: Sequence[Statement], end: str, loop: tuple[str, str, tuple[int, int]] | None = None
    ) -> None:
        """Write a block that ends at ``end``, in a loop with its last and its next label, depth and turns."""
        for each in statements:
            match each:
                case ("change", operation, variable, constant):
                    register = 10 + 2 * variable
                    self.lines.append(f"{operation} (16) g{register}<1>D g{register}<8,8,1>D {constant}D")
                case ("choice", test, first, second):
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
                case ("loop", depth, turns, body):
                    top, last, past = self.label(), self.label(), self.label()
                    counter = 30 + 2 * depth
                    self.lines += [f"mov (16) g{counter}<1>D 0D", f"{top}:"]
                    self.lines.append(f"add (16) g{counter}<1>D g{counter}<8,8,1>D 1D")
                    self.write(body, last, (last, past, (depth, turns)))
                    self.turns(depth, turns)
                    self.lines += [f"{last}:", f"(+f0.1) while (16) {top}", f"{past}:"]
                case ("leave", test, again):
                    assert loop is not None
                    if again:
                        self.turns(*loop[2])  # the flag that the WHILE will see
                    self.compare(test, "f0.0")
                    self.lines.append(
                        f"(+f0.0) {'cont' if again else 'break'} (16) {end} {loop[0] if again else loop[1]}"
                    )

    def compare(self, test: Condition, flag: str) -> None:
        variable, compare, constant = test
        self.lines.append(f"cmp.{compare}.{flag} (16) null<1>D g{10 + 2 * variable}<8,8,1>D {constant}D")

    def turns(self, depth: int, turns: int) -> None:
        self.lines.append(f"cmp.l.f0.1 (16) null<1>D g{30 + 2 * depth}<8,8,1>D {turns}D")


class _Left(Exception):
    def __init__(self, again: bool) -> None:
        self.again = again


def _holds(test: Condition, values: list[int]) -> bool:
    variable, compare, constant = test
    return bool(_COMPARES[compare](values[variable], constant))


def _through(statements: Sequence[Statement], values: list[int]) -> None:
    """Execute statements for one channel."""
    for each in statements:
        match each:
            case ("change", operation, variable, constant):
                value = values[variable]
                results = {"add": value + constant, "xor": value ^ constant, "and": value & constant}
                values[variable] = results[operation]
            case ("choice", test, first, second):
                if _holds(test, values):
                    _through(first, values)
                elif second is not None:
                    _through(second, values)
            case ("loop", _, turns, body):
                for _ in range(turns):
                    try:
                        _through(body, values)
                    except _Left as left:
                        if not left.again:
                            break
            case ("leave", test, again):
                if _holds(test, values):
                    raise _Left(again)


def _expected(
    statements: Sequence[Statement], values: NDArray[np.int32], dispatched: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Return int32[threads, variable, channel] after statements; channels that do not exist keep their values."""
    after = values.copy()
    for thread, channel in zip(*np.nonzero(dispatched), strict=True):
        row = values[thread, :, channel].tolist()
        _through(statements, row)
        after[thread, :, channel] = row
    return after


def random_nest(seed: int, length: int = 5) -> tuple[str, list[Statement]]:
    """Return the source of a random nest and its statements; ``length`` bounds those of the outermost block."""
    statements = _nest(random.Random(seed), length=length)
    program = _Program()
    program.write(statements, "END")
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
    after = np.ascontiguousarray(unit.general[:, 10 : 10 + 2 * VARIABLES]).reshape(threads, -1).view(np.int32)
    dispatched = (masks[:, None] >> np.arange(16) & 1).astype(np.bool_)
    differs = after.reshape(values.shape) != _expected(statements, values, dispatched)
    return int(differs.any(axis=1).sum())
