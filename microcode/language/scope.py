"""The names that a line can see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from microcode.language.expressions import ExpressionNode, NameExpression, name_text
from microcode.language.functions import NUMBERS
from microcode.language.statements import Macro, StatementItem
from microcode.language.values import Value
from pixelflow.simd.errors import nearest
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.isa.target import ProgramTarget

__all__ = ["MacroValue", "Scope"]


@dataclass(frozen=True, slots=True, eq=False)
class MacroValue:
    """A macro: its lines, and the scope it was defined in, where its body looks names up."""

    name: str
    definition: Macro
    item: StatementItem
    scope: Scope


@dataclass(slots=True, eq=False)
class Scope:
    """Names defined at one level: a file, a routine, one expansion of a macro, one turn of a repeat.

    A file sees its own names and those of the files it includes, and nothing of the files that include it.
    """

    target: ProgramTarget[AssembledProgram]
    """What the text is for."""
    parent: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)
    imported: dict[str, Value] = field(default_factory=dict)
    macros: dict[str, MacroValue] = field(default_factory=dict)
    imported_macros: dict[str, MacroValue] = field(default_factory=dict)
    parameters: list[str] = field(default_factory=list)
    """The ``param`` names of a file."""
    damaged: bool = False
    """A line of this file could not be read, so that a name may be missing through no fault of its user."""
    fixed: Mapping[str, Value] = field(init=False, default_factory=dict)
    """Names that cannot be defined: those of the target, and numbers."""

    def __post_init__(self) -> None:
        self.fixed = {**self.target.names, **NUMBERS} if self.parent is None else self.parent.fixed

    def inside(self, names: Mapping[str, Value]) -> Scope:
        """Return a scope inside this one, with names of its own."""
        return Scope(self.target, self, dict(names))

    def _outwards(self) -> Iterator[Scope]:
        """Yield this scope and those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    @property
    def braces(self) -> frozenset[str]:
        """Words that may follow an operand in braces."""
        return self.target.braces

    @property
    def incomplete(self) -> bool:
        return any(scope.damaged for scope in self._outwards())

    def find(self, name: str) -> Value | None:
        """Return the value of a name, or None."""
        if name in self.fixed:
            return self.fixed[name]
        scope: Scope | None = self
        while scope is not None:
            value = scope.names.get(name)
            if value is None:
                value = scope.imported.get(name)
            if value is not None:
                return value
            scope = scope.parent
        return None

    def find_macro(self, name: str) -> MacroValue | None:
        """Return a macro by name, or None."""
        found = (scope.macros.get(name) or scope.imported_macros.get(name) for scope in self._outwards())
        return next((macro for macro in found if macro is not None), None)

    def visible(self) -> list[str]:
        """Return every name that can be seen from here."""
        return [*self.fixed, *(name for scope in self._outwards() for name in (*scope.names, *scope.imported))]

    def visible_macros(self) -> list[str]:
        """Return every macro that can be seen from here."""
        return [name for scope in self._outwards() for name in (*scope.macros, *scope.imported_macros)]

    def take(self, other: Scope) -> None:
        """See the names of an included file; a later include hides an earlier one."""
        self.imported |= other.imported | other.names
        self.imported_macros |= other.imported_macros | other.macros
        self.damaged = self.damaged or other.damaged

    # --- definitions -----------------------------------------------------------------------------------------------

    def checked(self, name: str, node: ExpressionNode) -> str:
        """Return a name that may be defined; raises Complaint for one that belongs to the machine."""
        if name in self.fixed or name in self.target.instructions:
            raise node.complain(f"{name} is a name of the machine and cannot be defined")
        return name

    def check_parameters(self, parameters: tuple[NameExpression, ...]) -> None:
        """Raise Complaint for a parameter that cannot have its name, or has another's."""
        seen: set[str] = set()
        for parameter in parameters:
            self.checked(parameter.name, parameter)
            if parameter.name in seen:
                raise parameter.complain(f"parameter {parameter.name} stands here twice")
            seen.add(parameter.name)

    def define_macro(self, statement: Macro, item: StatementItem) -> None:
        """Define a macro, whose body is that of the item; raises Complaint."""
        name = self.checked(name_text(statement.name, self), statement.name)
        if name in self.macros:
            first = self.macros[name].item.line.number
            raise statement.name.complain(f"macro {name} is defined twice, first in line {first}")
        self.check_parameters(statement.parameters)
        self.macros[name] = MacroValue(name, statement, item, self)

    def unknown_parameter(self, name: str) -> tuple[str, str | None]:
        """Return message and hint for a ``param`` that this file does not have."""
        near = nearest(name, self.parameters)
        known = ", ".join(sorted(self.parameters))
        hint = f"did you mean {near}?" if near else f"its params: {known}" if known else None
        return f"the file has no param {name}", hint
