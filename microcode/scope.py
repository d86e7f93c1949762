"""The names that a line can see."""

from __future__ import annotations

from dataclasses import dataclass, field

from microcode.statements import Item
from microcode.target import BUILT_IN, PIXELFLOW, Target
from microcode.values import Value
from pixelflow.simd.records import record

__all__ = ["BUILT_IN", "MacroValue", "Scope"]


@record(eq=False)
class MacroValue:
    """A macro: its lines, and the scope it was defined in, where its body looks names up."""

    name: str
    item: Item
    scope: Scope


@dataclass(slots=True, eq=False)
class Scope:
    """Names defined at one level: a file, a routine, one expansion of a macro, one turn of a repeat.

    A file sees its own names and those of the files it includes, and nothing of the files that include it.
    """

    parent: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)
    imported: dict[str, Value] = field(default_factory=dict)
    macros: dict[str, MacroValue] = field(default_factory=dict)
    imported_macros: dict[str, MacroValue] = field(default_factory=dict)
    parameters: list[str] = field(default_factory=list)
    """The ``param`` names of a file."""
    damaged: bool = False
    """A line of this file could not be read, so that a name may be missing through no fault of its user."""
    target: Target = PIXELFLOW
    """What the text is for; inner scopes have that of the scope around them."""

    def __post_init__(self) -> None:
        if self.parent is not None:
            self.target = self.parent.target

    @property
    def braces(self) -> frozenset[str]:
        """Words that may follow an operand in braces."""
        return self.target.braces

    @property
    def incomplete(self) -> bool:
        scope: Scope | None = self
        while scope is not None:
            if scope.damaged:
                return True
            scope = scope.parent
        return False

    def find(self, name: str) -> Value | None:
        """Return the value of a name, or None."""
        if name in self.target.names:
            return self.target.names[name]
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
        scope: Scope | None = self
        while scope is not None:
            macro = scope.macros.get(name) or scope.imported_macros.get(name)
            if macro is not None:
                return macro
            scope = scope.parent
        return None

    def visible(self) -> list[str]:
        """Return every name that can be seen from here."""
        found = list(self.target.names)
        scope: Scope | None = self
        while scope is not None:
            found += [*scope.names, *scope.imported]
            scope = scope.parent
        return found

    def visible_macros(self) -> list[str]:
        """Return every macro that can be seen from here."""
        found: list[str] = []
        scope: Scope | None = self
        while scope is not None:
            found += [*scope.macros, *scope.imported_macros]
            scope = scope.parent
        return found

    def take(self, other: Scope) -> None:
        """See the names of an included file; a later include hides an earlier one."""
        self.imported |= other.imported | other.names
        self.imported_macros |= other.imported_macros | other.macros
        self.damaged = self.damaged or other.damaged
