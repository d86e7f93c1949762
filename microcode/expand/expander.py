"""From a tree of items to code in a draft: runs the statements in order and keeps the faults.

What each kind of statement does is given, because blocks run statements again. Every fault of a line is recorded and
the next line is taken up, so that one run finds many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from microcode.language import statements as s
from microcode.language.expressions import NameExpression, Silent, name_text
from microcode.language.scope import Scope
from microcode.language.source import Complaint, Line, Source
from microcode.language.values import Value
from microcode.linking.draft import Draft
from microcode.read.blocks import STATEMENTS, parse
from microcode.read.files import Files
from pixelflow.simd.errors import Fault, InputError

__all__ = ["Expander"]

MACRO_DEPTH = 32
INCLUDE_DEPTH = 16
STEPS = STATEMENTS
"""Most lines that a text may expand to; a runaway repeat ends here."""
FAULTS = 50
"""Faults after which the rest is not worth reporting."""


class ExpansionStop(Exception):
    """Expansion cannot go on: a limit was reached. The fault is recorded."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A macro being expanded, and the line that called it."""

    macro: str
    line: Line
    column: int


Handler = Callable[["Expander", Any, s.StatementItem, Scope], None]
"""What one kind of statement does: the second argument is a statement of that kind."""


class Expander:
    """Expands the text of one assembly into a draft, and keeps the faults."""

    def __init__(self, draft: Draft, handlers: Mapping[type[s.Statement], Handler], files: Files | None = None) -> None:
        self.draft = draft
        self.files = files or Files(draft.target.folders)
        self._handlers = handlers
        """What each kind of statement does."""
        self.faults: list[Fault] = []
        self.overrides: Mapping[str, Value] = {}
        """Values for the params of the file being expanded."""
        self.attempted: set[str] = set()
        """Routines whose definition was met, whether or not it was right: calling them is no further fault."""
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
            if isinstance(macro, s.Macro) and isinstance(macro.name, NameExpression):
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
        source = self.files.find(path, including, self._including[0] if self._including else None)
        chain = [open_source.file for open_source in self._including if open_source.path]
        if any(open_source.path == source.path for open_source in self._including if open_source.path):
            raise Complaint(f"{source.file} includes itself", hint=" includes ".join([*chain, source.file]))
        if len(self._including) >= INCLUDE_DEPTH:
            raise Complaint(f"files are included more than {INCLUDE_DEPTH} deep")
        key = (source.path, *sorted((name, repr(value)) for name, value in parameters.items()))
        if key not in self.draft.included:
            with self.draft.at(None), self.draft.inside(self.draft.globals):
                self.draft.included[key] = self.file(source, parameters)
        return self.draft.included[key]

    # --- items ---------------------------------------------------------------------------------------------------

    def body(self, items: Iterable[s.StatementItem], scope: Scope) -> None:
        """Run items in order."""
        for item in items:
            self.guarded(self._run, item, scope)

    def _run(self, item: s.StatementItem, scope: Scope) -> None:
        self.count_step(item.line)
        self.draft.set_line(item.line)
        label = item.label
        if label is not None:
            place = item.line.place(label.column, label.stop - label.column)
            with label.blamed():
                self.draft.label(scope.checked(name_text(label, scope), label), place=place)
        if item.statement is not None:
            self._handlers[type(item.statement)](self, item.statement, item, scope)

    def count_step(self, line: Line) -> None:
        """Count a line towards the limit of the expansion; raises Stop beyond it."""
        self._steps += 1
        if self._steps > STEPS:
            message = f"the program expands to more than {STEPS} lines"
            self.complain(Complaint(message, *line.first_word, "is a repeat longer than it should be?"), line)
            raise ExpansionStop

    def guarded(self, step: Callable[[s.StatementItem, Scope], None], item: s.StatementItem, scope: Scope) -> None:
        """Take a step; what is wrong with it is recorded."""
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
        """Messages inside say that they are in a macro; raises Stop where macros call each other too deep."""
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
        """Record a complaint about a line, with the macros that led there."""
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


def _define(macro: s.Macro, item: s.StatementItem, scope: Scope) -> None:
    scope.define_macro(macro, item)
