"""The grid of a sweep: what ``--set NAME=VALUES`` means, and the points that all of them together make."""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.config import THESIS, Value, leaves
from pixelflow.simd.errors import nearest
from pixelflow.simd.report import number

__all__ = ["Axis", "Grid", "axis_of", "option_name"]

LARGEST_RANGE = 1_000_000
"""A range with more values than this is a slip of the finger."""

_RANGE = re.compile(r"(-?\d+):(-?\d+)(?::(\d+))?")
_PARAMETER = "param."


@dataclass(frozen=True, slots=True)
class Axis:
    """One name of the grid and the values it takes, in the order written; ``words`` makes a value an option."""

    name: str
    values: tuple[Value, ...]
    words: Callable[[Value], list[str]]
    is_parameter: bool = False
    """Whether it changes the source of the program."""


@dataclass(frozen=True, slots=True)
class Grid:
    """All combinations of the values of the axes; the last axis varies fastest."""

    axes: tuple[Axis, ...]

    def __len__(self) -> int:
        total = 1
        for axis in self.axes:
            total *= len(axis.values)
        return total

    def __str__(self) -> str:
        return " x ".join(f"{len(axis.values)} {axis.name}" for axis in self.axes)

    def points(self) -> Iterator[dict[str, Value]]:
        """Yield the values of each point by name."""
        for values in itertools.product(*(axis.values for axis in self.axes)):
            yield dict(zip((axis.name for axis in self.axes), values, strict=True))

    def words(self, point: dict[str, Value]) -> list[str]:
        """Return the options that make a command line do a point."""
        return [word for axis in self.axes for word in axis.words(point[axis.name])]


def axis_of(text: str, options: Sequence[argparse.Action], *, parameters: bool) -> Axis:
    """Return what one ``--set`` says: a configuration key, an option of the command, or ``param.NAME`` of the source.

    Raises UsageError for an unknown name, and for values that cannot be read; whether they are allowed is asked later.
    """
    name, equals, written = (part.strip() for part in text.partition("="))
    shown = f"--set {text}"
    if not equals or not name or not written:
        raise UsageError(shown, "expected NAME=VALUE,VALUE or NAME=FIRST:LAST", "example: --set sdram.trp_cycles=2:4")
    keys = [key for key, _, _, _ in leaves(THESIS)]
    by_name = {option_name(action): action for action in options}
    values = tuple(_values(shown, written))
    if name in keys:
        return Axis(name, values, lambda value: ["-D", f"{name}={written_as(value)}"])
    if name in by_name:
        action = by_name[name]
        values = tuple(_current(action, value) for value in values)
        return Axis(name, values, lambda value: _option_words(shown, action, value))
    if parameters and name.startswith(_PARAMETER):
        return Axis(name, values, lambda value: ["-P", f"{name.removeprefix(_PARAMETER)}={written_as(value)}"], True)
    found = nearest(name, [*keys, *by_name])
    hint = f"did you mean {found}?" if found else "see: pixelflow config show, and this command's --help"
    raise UsageError(shown, f"{name} is neither a configuration key nor an option that can be swept", hint)


def option_name(action: argparse.Action) -> str:
    """Return the name of an option as ``--set`` takes it: ``--mantissa-bytes`` is ``mantissa-bytes``."""
    return action.option_strings[-1].lstrip("-")


def written_as(value: Value) -> str:
    """Return a value as a user writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _option_words(shown: str, action: argparse.Action, value: Value) -> list[str]:
    option = action.option_strings[-1]
    if action.nargs != 0:
        return [option, written_as(value)]
    if not isinstance(value, bool):
        raise UsageError(shown, f"{option} is a switch", "its values are true and false")
    return [option] if value else []


def _current(action: argparse.Action, value: Value) -> Value:
    """Return a value as the option has it, where that has former names for some; a wrong one stays as it is."""
    named = action.type
    return str(named(value)) if action.choices and isinstance(value, str) and callable(named) else value


def _values(shown: str, text: str) -> Iterator[Value]:
    """Yield the values of a list; a part ``2:6`` or ``2:10:4`` is a range, both ends included."""
    seen = set()
    for part in (word.strip() for word in text.split(",")):
        for value in _range(shown, part):
            if (type(value), value) in seen:
                raise UsageError(shown, f"the value {written_as(value)} comes twice")
            seen.add((type(value), value))
            yield value


def _range(shown: str, part: str) -> Sequence[Value]:
    if not part:
        raise UsageError(shown, "a value is empty")
    found = _RANGE.fullmatch(part)
    if found is None:
        return [_value(part)]
    if any(len(number or "") > 18 for number in found.groups()):
        raise UsageError(shown, "a number of the range is too long")
    first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
    if step == 0 or last < first:
        raise UsageError(shown, f"{part} is an empty range", "FIRST:LAST or FIRST:LAST:STEP, both ends included")
    numbers = range(first, last + 1, step)
    if len(numbers) > LARGEST_RANGE:
        raise UsageError(shown, f"{part} has {number(len(numbers))} values", f"at most {number(LARGEST_RANGE)}")
    return numbers


def _value(text: str) -> Value:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?(0|[1-9]\d{0,30})", text) else text
