"""What the statements do that make code or steer the expansion: instructions, macros, repeat, if, routine, loop."""

from __future__ import annotations

from contextlib import ExitStack

from microcode.expand.expander import Expander, Handler
from microcode.language import statements as s
from microcode.language.expressions import (
    Binary,
    ExpressionNode,
    NameExpression,
    Silent,
    Template,
    Unary,
    name_text,
    truth,
    whole,
)
from microcode.language.scope import MacroValue, Scope
from microcode.language.source import Complaint
from microcode.language.values import LabelReference, Range, Symbol, Value, shown
from microcode.linking.operands import OperandError
from pixelflow.simd.errors import nearest
from pixelflow.simd.isa.declare import Flow
from pixelflow.simd.isa.operands import Mem

__all__ = ["HANDLERS"]


def _operation(expander: Expander, statement: s.OperationStatement, item: s.StatementItem, scope: Scope) -> None:
    word = name_text(statement.name, scope)
    target = scope.target
    declaration = target.instructions.get(word)
    if declaration is None:
        macro = scope.find_macro(word)
        if macro is not None and statement.suffix is None:
            _expand(expander, macro, statement, item, scope)
            return
        raise _unknown(word, statement, scope)
    suffix = statement.suffix
    if suffix is not None and suffix.name != target.gate:
        hint = f"the only suffix is .{target.gate}: act where enabled" if target.gate else None
        raise suffix.complain(f"unknown suffix .{suffix.name}", hint)
    if suffix is not None and not declaration.gateable:
        raise suffix.complain(f"{word} has no .{suffix.name} form", f"usage: {declaration.synopsis}")
    labels = target.label_positions(word)
    operands = [
        _target(node, item, scope, expander) if position in labels else _operand(node, scope)
        for position, node in enumerate(statement.operands)
    ]
    try:
        expander.draft.emit(word, *operands, gated=suffix is not None)
    except OperandError as error:
        node: ExpressionNode = statement.name
        if error.operand is not None and error.operand < len(statement.operands):
            node = statement.operands[error.operand]
        fault = error.faults[0]
        raise node.complain(fault.message, fault.hint) from None


def _unknown(word: str, statement: s.OperationStatement, scope: Scope) -> Complaint:
    if scope.incomplete:
        return Silent("perhaps a macro that could not be read")
    near = nearest(word, [*scope.target.instructions, *scope.visible_macros()])
    hint = f"did you mean {near}?" if near else f"see: {scope.target.manual}"
    return statement.name.complain(f"unknown instruction or macro {word}", hint)


def _operand(node: ExpressionNode, scope: Scope) -> Value:
    value = node.evaluate(scope)
    if value.__class__ is Mem and node.__class__ in (Binary, Unary):
        raise node.complain("an address that is computed stands in [ ]", "write [x + 2] or x[2]")
    return value


def _target(node: ExpressionNode, item: s.StatementItem, scope: Scope, expander: Expander) -> LabelReference:
    """Return the label that an operand names."""
    place = item.line.place(node.column, node.stop - node.column)
    if not isinstance(node, NameExpression | Template):
        raise node.complain("the name of a label or routine is needed here")
    if isinstance(node, NameExpression):
        value = scope.find(node.name)
        if isinstance(value, Symbol):
            return LabelReference(value.name, value.scope, value.place)
    return LabelReference(name_text(node, scope), None, place)


def _expand(
    expander: Expander, macro: MacroValue, statement: s.OperationStatement, item: s.StatementItem, scope: Scope
) -> None:
    parameters, given = macro.definition.parameters, statement.operands
    if len(parameters) != len(given):
        count = f"{len(parameters)} argument{'s' * (len(parameters) != 1)}" if parameters else "no arguments"
        usage = f"usage: {macro.name} {', '.join(parameter.name for parameter in parameters)}".rstrip()
        node = given[len(parameters)] if len(given) > len(parameters) else statement.name
        raise node.complain(f"macro {macro.name} takes {count}, not {len(given)}", usage)
    values = [_argument(node, item, scope, expander) for node in given]
    inner = macro.scope.inside(dict(zip((parameter.name for parameter in parameters), values, strict=True)))
    with (
        expander.expanding(macro.name, item.line, statement.name.column),
        expander.draft.label_scope(),
    ):
        expander.body(macro.item.body, inner)
    expander.draft.set_line(item.line)


def _argument(node: ExpressionNode, item: s.StatementItem, scope: Scope, expander: Expander) -> Value:
    """Return the value of a macro argument; a name that means nothing here may yet be a label."""
    if isinstance(node, NameExpression):
        value = scope.find(node.name)
        if isinstance(value, Symbol):
            return value
        if value is None:
            near = nearest(node.name, scope.visible())
            place = item.line.place(node.column, node.stop - node.column)
            hint = f"did you mean {near}?" if near else None
            return Symbol(node.name, expander.draft.scope, place, hint, scope.incomplete)
    return node.evaluate(scope)


def _repeat(expander: Expander, statement: s.Repeat, item: s.StatementItem, scope: Scope) -> None:
    low, high = whole(statement.low, scope), whole(statement.high, scope)
    variable = scope.checked(statement.variable.name, statement.variable)
    for turn in range(low, high + 1):
        expander.count_step(item.line)
        with expander.draft.label_scope():
            expander.body(item.body, scope.inside({variable: turn}))


def _condition(expander: Expander, statement: s.Condition, item: s.StatementItem, scope: Scope) -> None:
    for branch in item.branches:
        try:
            chosen = branch.test is None or truth(branch.test.evaluate(scope), branch.test)
        except Complaint as complaint:
            if isinstance(complaint, Silent) or branch.line is item.line:
                raise
            expander.complain(complaint, branch.line)
            return
        if chosen:
            expander.body(branch.body, scope)
            return


def _routine(expander: Expander, statement: s.RoutineDef, item: s.StatementItem, scope: Scope) -> None:
    name = scope.checked(name_text(statement.name, scope), statement.name)
    expander.attempted.add(name)
    parameters = tuple(parameter.name for parameter in statement.parameters)
    scope.check_parameters(statement.parameters)
    if len(parameters) > scope.target.parameters:
        message = f"{name} has {len(parameters)} parameters, at most {scope.target.parameters} are passed"
        raise statement.parameters[scope.target.parameters].complain(message)
    for node in (*statement.entire, *statement.apart):
        if node.name not in parameters:
            near = nearest(node.name, parameters)
            raise node.complain(f"{node.name} is no parameter of {name}", f"did you mean {near}?" if near else None)
    uses = _uses(statement.uses, scope)
    contract = {
        "entire": tuple(node.name for node in statement.entire),
        "apart": tuple(node.name for node in statement.apart),
    }
    with ExitStack() as stack:
        with statement.name.blamed():
            values = stack.enter_context(
                expander.draft.routine(name, parameters, uses, started=statement.started, **contract)
            )
        expander.body(item.body, scope.inside(dict(zip(parameters, values, strict=True))))
        expander.draft.set_line(item.end or item.line)


def _uses(nodes: tuple[ExpressionNode, ...], scope: Scope) -> list[tuple[int, int] | Range]:
    """Return the scratch areas of a routine: ranges by name, or address and size."""
    found: list[tuple[int, int] | Range] = []
    rest = list(nodes)
    while rest:
        node = rest.pop(0)
        value = node.evaluate(scope)
        if isinstance(value, Range):
            found.append(value)
            continue
        match value:
            case Mem(offset, None):
                start = offset
            case int():
                start = value
            case _:
                raise node.complain(f"scratch is a range or an address, not {shown(value)}")
        if not rest:
            raise node.complain("the size of the scratch is missing", "write: uses address, size")
        found.append((start, whole(rest.pop(0), scope)))
    return found


def _loop(expander: Expander, statement: s.Loop, item: s.StatementItem, scope: Scope) -> None:
    count = whole(statement.count, scope)
    with statement.count.blamed():
        expander.draft.emit(scope.target.mnemonic(Flow.LOOP), count)
    expander.body(item.body, scope)
    expander.draft.set_line(item.end or item.line)
    expander.draft.emit(scope.target.mnemonic(Flow.END_LOOP))


def _stream(expander: Expander, statement: s.StreamStatement, item: s.StatementItem, scope: Scope) -> None:
    with statement.name.blamed():
        expander.draft.stream(statement.name.name)


def _words(nodes: tuple[ExpressionNode, ...], scope: Scope) -> str:
    values = [node.evaluate(scope) for node in nodes]
    return " ".join(str(value) if isinstance(value, int | float | str) else shown(value) for value in values)


def _assertion(expander: Expander, statement: s.Assertion, item: s.StatementItem, scope: Scope) -> None:
    if not truth(statement.test.evaluate(scope), statement.test):
        message = _words(statement.message, scope) or "the assertion does not hold"
        raise statement.test.complain(message)


def _needs(expander: Expander, statement: s.NeedsStatement, item: s.StatementItem, scope: Scope) -> None:
    value = statement.value.evaluate(scope)
    if not isinstance(value, int | str):
        raise statement.value.complain(f"a whole number or a text is needed here, not {shown(value)}")
    why = _words(statement.why, scope)
    with statement.key.blamed():
        expander.draft.need(str(statement.key.value), value, why)


def _message(expander: Expander, statement: s.Message, item: s.StatementItem, scope: Scope) -> None:
    raise Complaint(_words(statement.message, scope), *item.line.first_word)


HANDLERS: dict[type[s.Statement], Handler] = {
    s.Repeat: _repeat,
    s.Condition: _condition,
    s.RoutineDef: _routine,
    s.Loop: _loop,
    s.StreamStatement: _stream,
    s.Assertion: _assertion,
    s.NeedsStatement: _needs,
    s.Message: _message,
    s.OperationStatement: _operation,
}
