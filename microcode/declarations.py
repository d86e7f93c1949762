"""What the statements do that define names and memory: include, const, param, range, overlay, data, macro."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from microcode import statements as s
from microcode.expressions import Name, Node, Template, name_text, whole
from microcode.parser import first_word
from microcode.scope import MacroValue, Scope
from microcode.source import Complaint
from microcode.values import Broken, Mem, Range, Value, shown
from pixelflow.simd.errors import InputError, nearest

if TYPE_CHECKING:
    from microcode.expander import Expander

__all__ = ["HANDLERS", "at_node", "checked_name", "define_macro"]


@contextmanager
def at_node(node: Node) -> Iterator[None]:
    """Turn what the builder refuses inside into complaints about a node."""
    try:
        yield
    except InputError as error:
        fault = error.faults[0]
        raise Complaint(fault.message, node.column, node.stop - node.column, fault.hint, fault.place) from None


def checked_name(name: str, node: Node, scope: Scope) -> str:
    """Return a name that may be defined; raises Complaint for one that belongs to the machine."""
    if name in scope.target.names or name in scope.target.instructions:
        raise node.complain(f"{name} is a name of the machine and cannot be defined")
    return name


def bind(scope: Scope, node: Name | Template, make: Callable[[str], Value]) -> None:
    """Define a name; where its value is wrong the name exists all the same, so that its uses stay silent."""
    name = checked_name(name_text(node, scope), node, scope)
    if name in scope.names:
        if not isinstance(scope.names[name], Broken):
            raise node.complain(f"{name} is defined twice")
        return
    scope.names[name] = Broken()
    scope.names[name] = make(name)


def _include(expander: Expander, item: s.Item, scope: Scope) -> None:
    statement: s.Include = item.statement
    given = {name.name: value.evaluate(scope) for name, value in statement.bindings}
    try:
        included = expander.include(statement.path.value, given)
    except InputError:
        scope.damaged = True
        raise
    except Complaint as complaint:
        scope.damaged = True
        raise statement.path.complain(complaint.message, complaint.hint) from None
    scope.take(included)
    for name, _ in statement.bindings:
        if name.name not in included.parameters:
            raise name.complain(*unknown_parameter(name.name, included))


def unknown_parameter(name: str, scope: Scope) -> tuple[str, str | None]:
    """Return message and hint for a parameter that a file does not have."""
    near = nearest(name, scope.parameters)
    known = ", ".join(sorted(scope.parameters))
    hint = f"did you mean {near}?" if near else f"its params: {known}" if known else None
    return f"the file has no param {name}", hint


def _const(expander: Expander, item: s.Item, scope: Scope) -> None:
    statement: s.Const = item.statement
    bind(scope, statement.name, lambda name: statement.value.evaluate(scope))


def _param(expander: Expander, item: s.Item, scope: Scope) -> None:
    statement: s.Param = item.statement
    if scope.parent is not None:
        raise Complaint("a param stands at the top level of a file", *first_word(item.line))
    scope.parameters.append(statement.name.name)
    overrides = expander.overrides
    bind(
        scope,
        statement.name,
        lambda name: overrides[name] if name in overrides else statement.value.evaluate(scope),
    )


def _range(expander: Expander, item: s.Item, scope: Scope) -> None:
    statement: s.RangeDef = item.statement

    def declare(name: str) -> Range:
        size = whole(statement.size, scope)
        at = None if statement.at is None else _absolute(statement.at, scope)
        with at_node(statement.name):
            if statement.overlay:
                return expander.builder.overlay(name, size, at)
            return expander.builder.range(name, size, at)

    bind(scope, statement.name, declare)


def _absolute(node: Node, scope: Scope) -> int:
    value = node.evaluate(scope)
    match value:
        case int():
            return value
        case Range():
            return value.start
        case Mem(offset, None):
            return offset
    raise node.complain(f"an address is needed here, not {shown(value)}")


def _data(expander: Expander, item: s.Item, scope: Scope) -> None:
    statement: s.Data = item.statement
    where = statement.where.evaluate(scope)
    if not isinstance(where, Range):
        where = Mem(_absolute(statement.where, scope))
    values = tuple(value.evaluate(scope) for value in statement.values)
    with at_node(statement.where):
        expander.builder.data(where, *values, kind=statement.kind)


def define_macro(expander: Expander, item: s.Item, scope: Scope) -> None:
    """Define the macro of an item; macros at the top level of a file are defined before its other lines run."""
    statement: s.Macro = item.statement
    name = checked_name(name_text(statement.name, scope), statement.name, scope)
    if name in scope.macros:
        first = scope.macros[name].item.line.number
        raise statement.name.complain(f"macro {name} is defined twice, first in line {first}")
    check_parameters(statement.parameters, scope)
    scope.macros[name] = MacroValue(name, item, scope)


def check_parameters(parameters: tuple[Name, ...], scope: Scope) -> None:
    """Raise Complaint for a parameter that cannot have its name, or has another's."""
    seen: set[str] = set()
    for parameter in parameters:
        checked_name(parameter.name, parameter, scope)
        if parameter.name in seen:
            raise parameter.complain(f"parameter {parameter.name} stands here twice")
        seen.add(parameter.name)


def _macro(expander: Expander, item: s.Item, scope: Scope) -> None:
    # Plain macros at the top level were defined before anything else.
    if scope.parent is not None or isinstance(item.statement.name, Template):
        define_macro(expander, item, scope)


HANDLERS: dict[type, Callable[[Expander, s.Item, Scope], None]] = {
    s.Include: _include,
    s.Const: _const,
    s.Param: _param,
    s.RangeDef: _range,
    s.Data: _data,
    s.Macro: _macro,
}
