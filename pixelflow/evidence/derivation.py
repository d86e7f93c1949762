"""Derivations: expressions of named numbers, shown as they were evaluated.

A figure that is *predicted* or that another place of a paper gives is not a number written down next to the
measured one, but a text such as ``reads * (slot + overhead)`` and the numbers of its names, from which a report
computes it.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from typing import NamedTuple

Number = int | float
"""A count, or a rate or share that is not a whole number."""

_OPERATORS: dict[type[ast.AST], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_PRECISION = 1e-9
"""How far two ways of computing the same quotient may differ, in proportion."""


def same(one: Number | None, other: Number | None) -> bool:
    """True where two figures are one: whole numbers to the last digit, others but for how binary fractions round."""
    if one is None or other is None:
        return one is other
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    return math.isclose(one, other, rel_tol=_PRECISION)


def figure_text(value: Number | None) -> str:
    """Return a count in full and a fraction with five digits; a dash where there is none."""
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.5g}"


def rounded(value: Number, step: Number) -> Number:
    """Return the multiple of ``step`` that is nearest, the greater one half way between two."""
    whole, unit = Decimal(str(value)), Decimal(str(step))
    found = (whole / unit + Decimal("0.5")) // 1 * unit
    return int(found) if found == int(found) else float(found)


_FUNCTIONS: dict[str, Callable[..., Number]] = {"max": max, "min": min, "rounded": rounded}


class Derivation(NamedTuple):
    """An expression in the notation of Python: numbers, names, + - * / //, max(), min() and rounded(value, step)."""

    expression: str
    names: tuple[tuple[str, Number], ...] = ()
    parts: tuple[tuple[str, Derivation], ...] = ()
    """Derivations of some of the numbers, by name."""

    @property
    def value(self) -> Number:
        """Value of the expression; raises ValueError for anything outside the notation."""
        return _value(_parsed(self.expression), dict(self.names))

    @property
    def shown(self) -> str:
        """The expression with the number of every name after it."""
        numbers = dict(self.names)
        return re.sub(
            r"[a-zA-Z_]\w*",
            lambda name: f"{name[0]} {_text(numbers[name[0]])}" if name[0] in numbers else name[0],
            self.expression,
        )

    @property
    def full(self) -> tuple[str, ...]:
        """The expression with its value, and those of its numbers that are derived themselves, a line each."""
        lines = [f"{self.shown} = {_text(self.value)}"]
        for name, part in self.parts:
            first, *rest = part.full
            lines += [f"{name}: {first}", *rest]
        return tuple(dict.fromkeys(lines))


@cache
def _parsed(expression: str) -> ast.expr:
    return ast.parse(expression, mode="eval").body


def derived(expression: str, **names: Number | Derivation) -> Derivation:
    """Return a derivation; every name must be used. A number can be derived itself."""
    unused = names.keys() - set(re.findall(r"[a-zA-Z_]\w*", expression))
    if unused:
        raise ValueError(f"{expression}: nothing is called {', '.join(sorted(unused))}")
    numbers = ((name, each.value if isinstance(each, Derivation) else each) for name, each in names.items())
    parts = ((name, each) for name, each in names.items() if isinstance(each, Derivation))
    return Derivation(expression, tuple(numbers), tuple(parts))


def _text(value: Number) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _value(node: ast.expr, names: Mapping[str, Number]) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(argument, names) for argument in arguments))
    raise ValueError(f"{ast.unparse(node)} is not part of the notation of derivations")
