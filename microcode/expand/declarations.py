"""What the statements do that define names and memory: include, const, param, range, overlay, data, macro."""

from __future__ import annotations

from collections.abc import Callable

from microcode.expand.expander import Expander, Handler
from microcode.language import statements as s
from microcode.language.expressions import ExpressionNode, NameExpression, Template, name_text, whole
from microcode.language.scope import Scope
from microcode.language.source import Complaint
from microcode.language.values import Broken, Range, Value, shown
from pixelflow.simd.errors import InputError
from pixelflow.simd.isa.operands import Mem

__all__ = ["HANDLERS"]


def bind(scope: Scope, node: NameExpression | Template, make: Callable[[str], Value]) -> None:
    """Define a name; where its value is wrong the name exists all the same, so that its uses stay silent."""
    name = scope.checked(name_text(node, scope), node)
    if name in scope.names:
        if not isinstance(scope.names[name], Broken):
            raise node.complain(f"{name} is defined twice")
        return
    scope.names[name] = Broken()
    scope.names[name] = make(name)


def _include(expander: Expander, statement: s.Include, item: s.StatementItem, scope: Scope) -> None:
    given = {name.name: value.evaluate(scope) for name, value in statement.bindings}
    try:
        included = expander.include(str(statement.path.value), given)
    except InputError:
        scope.damaged = True
        raise
    except Complaint as complaint:
        scope.damaged = True
        raise statement.path.complain(complaint.message, complaint.hint) from None
    scope.take(included)
    for name, _ in statement.bindings:
        if name.name not in included.parameters:
            raise name.complain(*included.unknown_parameter(name.name))


def _const(expander: Expander, statement: s.Const, item: s.StatementItem, scope: Scope) -> None:
    bind(scope, statement.name, lambda name: statement.value.evaluate(scope))


def _param(expander: Expander, statement: s.RoutineParameter, item: s.StatementItem, scope: Scope) -> None:
    if scope.parent is not None:
        raise Complaint("a param stands at the top level of a file", *item.line.first_word)
    scope.parameters.append(statement.name.name)
    overrides = expander.overrides
    bind(
        scope,
        statement.name,
        lambda name: overrides[name] if name in overrides else statement.value.evaluate(scope),
    )


def _range(expander: Expander, statement: s.RangeDef, item: s.StatementItem, scope: Scope) -> None:

    def declare(name: str) -> Range:
        size = whole(statement.size, scope)
        at = None if statement.at is None else _absolute(statement.at, scope)
        with statement.name.blamed():
            if statement.overlay and at is not None:
                return expander.draft.overlay(name, size, at, form=statement.form)
            return expander.draft.range(name, size, at, form=statement.form)

    bind(scope, statement.name, declare)


def _absolute(node: ExpressionNode, scope: Scope) -> int:
    value = node.evaluate(scope)
    match value:
        case int():
            return value
        case Range():
            return value.start
        case Mem(offset, None):
            return offset
    raise node.complain(f"an address is needed here, not {shown(value)}")


def _data(expander: Expander, statement: s.Data, item: s.StatementItem, scope: Scope) -> None:
    where = statement.where.evaluate(scope)
    if not isinstance(where, Range):
        where = Mem(_absolute(statement.where, scope))
    values = tuple(value.evaluate(scope) for value in statement.values)
    with statement.where.blamed():
        expander.draft.data(where, *values, kind=statement.kind)


def _macro(expander: Expander, statement: s.Macro, item: s.StatementItem, scope: Scope) -> None:
    # Plain macros at the top level were defined before anything else.
    if scope.parent is not None or isinstance(statement.name, Template):
        scope.define_macro(statement, item)


HANDLERS: dict[type[s.Statement], Handler] = {
    s.Include: _include,
    s.Const: _const,
    s.RoutineParameter: _param,
    s.RangeDef: _range,
    s.Data: _data,
    s.Macro: _macro,
}
