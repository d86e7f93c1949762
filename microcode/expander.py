"""Expander: from a tree of items to code in a draft, statement by statement.

A fault is recorded and expansion continues with the next line, so that one run finds many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple

from microcode import syntax
from microcode.draft import Draft, OperandError
from microcode.kept import Included
from microcode.language import Broken, Complaint, LabelReference, Line, Range, Source, Symbol, Value, shown, source_of
from microcode.linker import link_faults
from microcode.places import LIBRARY
from microcode.reader import STATEMENTS, find_source, parse
from microcode.syntax import (
    Binary,
    ExpressionNode,
    Macro,
    MacroValue,
    NameExpression,
    OperationStatement,
    RoutineParameter,
    Scope,
    Silent,
    Statement,
    StatementItem,
    StreamStatement,
    Template,
    Unary,
    name_text,
    truth,
    whole,
)
from pixelflow.simd.errors import Fault, InputError, suggestion
from pixelflow.simd.isa.declare import Flow
from pixelflow.simd.isa.operands import Mem

MACRO_DEPTH = 32
INCLUDE_DEPTH = 16
STEPS = STATEMENTS
"""Most lines that a text may expand to; a runaway repeat ends here."""
FAULTS = 50
"""Faults after which expansion stops."""


class ExpansionStop(Exception):
    """End of an expansion at a limit; the fault is recorded."""


class _Call(NamedTuple):
    """Macro being expanded, and the line that called it."""

    macro: str
    line: Line
    column: int


Handler = Callable[["Expander", Any, StatementItem, Scope], None]
"""Handler of one kind of statement, which is its second argument."""


KEPT_FILES = 32
"""Library files with their parameters, each as a draft that has nothing else, that a process keeps."""


class _Kept(NamedTuple):
    """A library file expanded: a draft, the names of the file, its lines, and the files that it includes."""

    draft: Draft
    scope: Scope
    steps: int
    included: list[Included]


_library: dict[tuple[object, ...], _Kept] = {}


def _opens(draft: Draft, source: Source, including: Source | None) -> bool:
    """Return whether a file is of the library and included by a text outside of it, before anything else."""
    inside = including is not None and including.path is not None and including.path.is_relative_to(LIBRARY)
    return source.path is not None and source.path.is_relative_to(LIBRARY) and not inside and draft.only_lines


class Expander:
    """Expansion of one assembly's text into a draft, with its faults."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.faults: list[Fault] = []
        self.overrides: Mapping[str, Value] = {}
        """Values for the params of the file being expanded."""
        self.attempted: set[str] = set()
        """Routines whose definition was seen, right or wrong: calls of them are not further faults."""
        self._seen: set[tuple[str, str]] = set()
        self._calls: list[_Call] = []
        self._including: list[Source] = []
        self._steps = 0

    # --- files ---------------------------------------------------------------------------------------------------

    def file(self, source: Source, parameters: Mapping[str, Value], scope: Scope | None = None) -> Scope:
        """Expand a whole source and return its names; faults are recorded, not raised."""
        scope = scope or Scope(self.draft.target)
        parsed = parse(source, self.draft.target)
        for fault in parsed.faults:
            self._record(fault)
        scope.damaged = parsed.damaged
        for item in parsed.items:
            macro = item.statement
            if isinstance(macro, Macro) and isinstance(macro.name, NameExpression):
                self.guarded(partial(_define, macro), item, scope)
        before, self.overrides = self.overrides, parameters
        self._including.append(source)
        try:
            self.body(parsed.items, scope)
        finally:
            self._including.pop()
            self.overrides = before
        return scope

    def include(self, path: str, parameters: Mapping[str, Value]) -> Scope:
        """Expand a file found by the include rules, once for each set of parameters; raises Complaint."""
        including = self._including[-1] if self._including else None
        first = self._including[0] if self._including else None
        source = find_source(path, including, first, self.draft.target.folders)
        assert source.path is not None  # as it is of a file
        self.draft.includes[path, including.path if including else None, source.path] = None
        chain = [open_source.file for open_source in self._including if open_source.path]
        if any(open_source.path == source.path for open_source in self._including if open_source.path):
            raise Complaint(f"{source.file} includes itself", hint=" includes ".join([*chain, source.file]))
        if len(self._including) >= INCLUDE_DEPTH:
            raise Complaint(f"files are included more than {INCLUDE_DEPTH} deep")
        key = (source.path, *sorted((name, repr(value)) for name, value in parameters.items()))
        if key not in self.draft.included:
            with self.draft.at(None), self.draft.inside(self.draft.globals):
                known = self._from_library(source, parameters) if _opens(self.draft, source, including) else None
                self.draft.included[key] = known or self.file(source, parameters)
        return self.draft.included[key]

    def _from_library(self, source: Source, parameters: Mapping[str, Value]) -> Scope | None:
        """Add a library file at the start of a draft as an earlier one of this process has it; None if it cannot be.

        The first such draft is kept, without what follows the file, and its code is shared: routines do not change.
        """
        draft, steps = self.draft, self._steps
        key = draft.target, source, len(draft.lines), repr(sorted(parameters.items()))
        kept = _library.pop(key, None)
        if kept is not None and kept.steps + steps <= STEPS and all(each.still_holds(()) for each in kept.included):
            self._steps += kept.steps
            draft.begin_with(kept.draft)
            _library[key] = kept  # the last to go
            return kept.scope
        if self.faults:
            return None
        scope = self.file(source, parameters)
        if not self.faults and not draft.has_code and not link_faults(draft):
            if len(_library) >= KEPT_FILES:
                del _library[next(iter(_library))]
            copy = Draft("", draft.target)
            copy.begin_with(draft)
            copy.includes.pop(next(iter(copy.includes)))  # that of this file itself
            _library[key] = _Kept(copy, scope, self._steps - steps, copy.included_files)
        return scope

    # --- items ---------------------------------------------------------------------------------------------------

    def body(self, items: Iterable[StatementItem], scope: Scope) -> None:
        """Run items in order."""
        for item in items:
            self.guarded(self._run, item, scope)

    def _run(self, item: StatementItem, scope: Scope) -> None:
        self.count_step(item.line)
        self.draft.set_line(item.line)
        label = item.label
        if label is not None:
            place = item.line.place(label.column, label.stop - label.column)
            with label.blamed():
                self.draft.label(scope.checked(name_text(label, scope), label), place=place)
        if item.statement is not None:
            _HANDLERS[type(item.statement)](self, item.statement, item, scope)

    def count_step(self, line: Line) -> None:
        """Count a line towards the limit of the expansion; raises ExpansionStop beyond it."""
        self._steps += 1
        if self._steps > STEPS:
            message = f"the program expands to more than {STEPS} lines"
            self.complain(Complaint(message, *line.first_word, "is a repeat longer than it should be?"), line)
            raise ExpansionStop

    def guarded(self, step: Callable[[StatementItem, Scope], None], item: StatementItem, scope: Scope) -> None:
        """Take a step and record its faults."""
        try:
            step(item, scope)
        except Silent:
            pass
        except Complaint as complaint:
            self.complain(complaint, item.line)
        except InputError as error:
            for fault in error.faults:
                self.complain(Complaint(fault.message, *item.line.first_word, fault.hint, fault.place), item.line)
        except RecursionError:
            self.complain(Complaint("this is nested too deeply", *item.line.first_word), item.line)

    @contextmanager
    def expanding(self, macro: str, line: Line, column: int) -> Iterator[None]:
        """Add the macro to messages from inside; raises ExpansionStop for macros nested too deeply."""
        if len(self._calls) >= MACRO_DEPTH:
            cycle = " calls ".join(dict.fromkeys(call.macro for call in self._calls[-4:]))
            message = f"macros call each other more than {MACRO_DEPTH} deep"
            self.complain(Complaint(message, column, len(macro), f"{cycle} calls {macro}"), line)
            raise ExpansionStop
        self._calls.append(_Call(macro, line, column))
        try:
            yield
        finally:
            self._calls.pop()

    # --- faults --------------------------------------------------------------------------------------------------

    def complain(self, complaint: Complaint, line: Line) -> None:
        """Record a complaint about a line, with the macros around it."""
        fault = complaint.fault(line)
        notes = [fault.hint] if fault.hint else []
        calls = self._calls if len(self._calls) <= 4 else self._calls[-4:]
        notes += [f"in macro {call.macro} called at {call.line}:{call.column}" for call in reversed(calls)]
        self._record(Fault(fault.message, fault.place, "\n    ".join(notes) or None))

    def _record(self, fault: Fault) -> None:
        key = (fault.message, str(fault.place))
        if key in self._seen:
            return
        self._seen.add(key)
        self.faults.append(fault)
        if len(self.faults) >= FAULTS:
            self.faults.append(Fault(f"more than {FAULTS} errors; the rest is not shown"))
            raise ExpansionStop


def _define(macro: Macro, item: StatementItem, scope: Scope) -> None:
    scope.define_macro(macro, item)


# Statements that make code or steer the expansion: instructions, macros, repeat, if, routine, loop.


def _operation(expander: Expander, statement: OperationStatement, item: StatementItem, scope: Scope) -> None:
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


def _unknown(word: str, statement: OperationStatement, scope: Scope) -> Complaint:
    if scope.incomplete:
        return Silent("perhaps a macro that could not be read")
    hint = suggestion(word, [*scope.target.instructions, *scope.visible_macros()], f"see: {scope.target.manual}")
    return statement.name.complain(f"unknown instruction or macro {word}", hint)


def _operand(node: ExpressionNode, scope: Scope) -> Value:
    value = node.evaluate(scope)
    if value.__class__ is Mem and node.__class__ in (Binary, Unary):
        raise node.complain("a computed address needs [ ]", "write [x + 2] or x[2]")
    return value


def _target(node: ExpressionNode, item: StatementItem, scope: Scope, expander: Expander) -> LabelReference:
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
    expander: Expander,
    macro: MacroValue,
    statement: OperationStatement,
    item: StatementItem,
    scope: Scope,
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


def _argument(node: ExpressionNode, item: StatementItem, scope: Scope, expander: Expander) -> Value:
    """Return the value of a macro argument; an unknown name may be a label."""
    if isinstance(node, NameExpression):
        value = scope.find(node.name)
        if isinstance(value, Symbol):
            return value
        if value is None:
            place = item.line.place(node.column, node.stop - node.column)
            hint = suggestion(node.name, scope.visible())
            return Symbol(node.name, expander.draft.scope, place, hint, scope.incomplete)
    return node.evaluate(scope)


def _repeat(expander: Expander, statement: syntax.Repeat, item: StatementItem, scope: Scope) -> None:
    low, high = whole(statement.low, scope), whole(statement.high, scope)
    variable = scope.checked(statement.variable.name, statement.variable)
    for turn in range(low, high + 1):
        expander.count_step(item.line)
        with expander.draft.label_scope():
            expander.body(item.body, scope.inside({variable: turn}))


def _condition(expander: Expander, statement: syntax.Condition, item: StatementItem, scope: Scope) -> None:
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


def _routine(expander: Expander, statement: syntax.RoutineDef, item: StatementItem, scope: Scope) -> None:
    name = scope.checked(name_text(statement.name, scope), statement.name)
    expander.attempted.add(name)
    parameters = tuple(parameter.name for parameter in statement.parameters)
    scope.check_parameters(statement.parameters)
    if len(parameters) > scope.target.parameters:
        message = f"{name} has {len(parameters)} parameters, at most {scope.target.parameters} are passed"
        raise statement.parameters[scope.target.parameters].complain(message)
    for node in (*statement.entire, *statement.apart):
        if node.name not in parameters:
            raise node.complain(f"{node.name} is not a parameter of {name}", suggestion(node.name, parameters))
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
    areas: list[tuple[int, int] | Range] = []
    rest = list(nodes)
    while rest:
        node = rest.pop(0)
        value = node.evaluate(scope)
        if isinstance(value, Range):
            areas.append(value)
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
        areas.append((start, whole(rest.pop(0), scope)))
    return areas


def _loop(expander: Expander, statement: syntax.Loop, item: StatementItem, scope: Scope) -> None:
    count = whole(statement.turns, scope)
    with statement.turns.blamed():
        expander.draft.emit(scope.target.mnemonic(Flow.LOOP), count)
    expander.body(item.body, scope)
    expander.draft.set_line(item.end or item.line)
    expander.draft.emit(scope.target.mnemonic(Flow.END_LOOP))


def _stream(expander: Expander, statement: StreamStatement, item: StatementItem, scope: Scope) -> None:
    with statement.name.blamed():
        expander.draft.stream(statement.name.name)


def _words(nodes: tuple[ExpressionNode, ...], scope: Scope) -> str:
    values = [node.evaluate(scope) for node in nodes]
    return " ".join(str(value) if isinstance(value, int | float | str) else shown(value) for value in values)


def _assertion(expander: Expander, statement: syntax.Assertion, item: StatementItem, scope: Scope) -> None:
    if not truth(statement.test.evaluate(scope), statement.test):
        message = _words(statement.message, scope) or "the assertion does not hold"
        raise statement.test.complain(message)


def _needs(expander: Expander, statement: syntax.NeedsStatement, item: StatementItem, scope: Scope) -> None:
    value = statement.value.evaluate(scope)
    if not isinstance(value, int | str):
        raise statement.value.complain(f"a whole number or a text is needed here, not {shown(value)}")
    why = _words(statement.why, scope)
    with statement.key.blamed():
        expander.draft.need(str(statement.key.value), value, why)


def _message(expander: Expander, statement: syntax.Message, item: StatementItem, scope: Scope) -> None:
    raise Complaint(_words(statement.message, scope), *item.line.first_word)


# Statements that define names and memory: include, const, param, range, overlay, data, macro.


def bind(scope: Scope, node: NameExpression | Template, make: Callable[[str], Value]) -> None:
    """Define a name; with a wrong value it exists too, so that its uses are not further faults."""
    name = scope.checked(name_text(node, scope), node)
    if name in scope.names:
        if not isinstance(scope.names[name], Broken):
            raise node.complain(f"{name} is defined twice")
        return
    scope.names[name] = Broken()
    scope.names[name] = make(name)


def _include(expander: Expander, statement: syntax.Include, item: StatementItem, scope: Scope) -> None:
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


def _const(expander: Expander, statement: syntax.Const, item: StatementItem, scope: Scope) -> None:
    bind(scope, statement.name, lambda name: statement.value.evaluate(scope))


def _param(expander: Expander, statement: RoutineParameter, item: StatementItem, scope: Scope) -> None:
    if scope.parent is not None:
        raise Complaint("a param belongs to the top level of a file", *item.line.first_word)
    scope.parameters.append(statement.name.name)
    overrides = expander.overrides
    bind(
        scope,
        statement.name,
        lambda name: overrides[name] if name in overrides else statement.value.evaluate(scope),
    )


def _range(expander: Expander, statement: syntax.RangeDef, item: StatementItem, scope: Scope) -> None:

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


def _data(expander: Expander, statement: syntax.Data, item: StatementItem, scope: Scope) -> None:
    where = statement.where.evaluate(scope)
    if not isinstance(where, Range):
        where = Mem(_absolute(statement.where, scope))
    values = tuple(value.evaluate(scope) for value in statement.values)
    with statement.where.blamed():
        expander.draft.data(where, *values, kind=statement.kind)


def _macro(expander: Expander, statement: Macro, item: StatementItem, scope: Scope) -> None:
    # Plain macros at the top level are defined first.
    if scope.parent is not None or isinstance(statement.name, Template):
        scope.define_macro(statement, item)


_HANDLERS: dict[type[Statement], Handler] = {
    syntax.Include: _include,
    syntax.Const: _const,
    RoutineParameter: _param,
    syntax.RangeDef: _range,
    syntax.Data: _data,
    Macro: _macro,
    syntax.Repeat: _repeat,
    syntax.Condition: _condition,
    syntax.RoutineDef: _routine,
    syntax.Loop: _loop,
    StreamStatement: _stream,
    syntax.Assertion: _assertion,
    syntax.NeedsStatement: _needs,
    syntax.Message: _message,
    OperationStatement: _operation,
}
"""Handler of each kind of statement."""


# Expansion of whole sources, with all faults in one error.


def expand(draft: Draft, source: Source, parameters: Mapping[str, Value], scope: Scope | None = None) -> Scope:
    """Expand a source into a draft and return its names; raises InputError with every fault."""
    return _expanded(draft, parameters, lambda expander: expander.file(source, parameters, scope))


def expand_file(draft: Draft, path: str, parameters: Mapping[str, Value]) -> Mapping[str, Value]:
    """Expand a file found by the include rules, once; return its names. Raises InputError."""
    scope = _expanded(draft, parameters, lambda expander: expander.include(path, parameters))
    return scope.imported | scope.names


def expand_text(draft: Draft, text: str, values: Mapping[str, Value]) -> Mapping[str, Value]:
    """Expand a text into a draft and return its names; ``values`` are names that it may use."""
    scope = Scope(draft.target, names=dict(values)).inside({})
    return expand(draft, source_of(text), {}, scope).names


def _expanded(draft: Draft, parameters: Mapping[str, Value], work: Callable[[Expander], Scope]) -> Scope:
    expander = Expander(draft)
    scope = Scope(draft.target, damaged=True)
    try:
        with draft.at(None):
            scope = work(expander)
    except ExpansionStop:
        pass
    except Complaint as complaint:
        raise InputError(Fault(complaint.message, hint=complaint.hint)) from None
    if not scope.damaged:
        for name in [name for name in parameters if name not in scope.parameters]:
            message, hint = scope.unknown_parameter(name)
            expander.faults.append(Fault(message, hint=hint))
        if expander.faults:
            # There will be no linking, so report its faults now.
            expander.faults += _without_echoes(link_faults(draft, expander.attempted), expander.faults)
    if expander.faults:
        raise InputError(_in_order(expander.faults))
    return scope


def _without_echoes(link: list[Fault], faults: list[Fault]) -> list[Fault]:
    """Return faults of linking without ENDLs whose LOOP was left out as a fault."""
    lost = sum("LOOP" in (fault.place.text or "").split(";")[0].split() for fault in faults if fault.place is not None)
    kept = []
    for fault in link:
        if lost and fault.message == "ENDL without LOOP":
            lost -= 1
        else:
            kept.append(fault)
    return kept


def _in_order(faults: list[Fault]) -> list[Fault]:
    """Return faults in the order of the text, and files in the order in which they were read."""
    order: dict[str, int] = {}
    for fault in faults:
        order.setdefault(fault.place.file if fault.place else "", len(order))
    return sorted(
        faults, key=lambda fault: (order[fault.place.file], fault.place.line or 0) if fault.place else (len(order), 0)
    )
