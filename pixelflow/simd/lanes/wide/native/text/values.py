"""Values of native code for groups of lanes, and the text of a function as it grows.

A value is a word or a truth value, the same in all lanes of a group (a scalar) or of its own in each (a vector).
Results of float operations are left unsettled for a while: which NaN comes out is looked at once for many of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

__all__ = ["FunctionBody", "GroupValue", "Tree", "constant"]

Tree = int | tuple[str, "Tree", "Tree"]
"""A number that depends on truth values: it, or the name of one with what it is where that is set and where not."""


@dataclass(eq=False, slots=True)
class GroupValue:
    """A value; ``single`` where it is the same in all lanes of a group."""

    bits: int
    single: bool
    word: str | None = None
    """Its name as a word or truth value, once it has one."""
    constant: int | None = None
    tree: Tree | None = None
    """Which numbers it may be, where that is known."""
    series: tuple[int, ...] | None = None
    """What it is in each lane, where that is known."""
    begin: tuple[GroupValue, tuple[int, ...]] | None = None
    """A scalar, and what is added to it in each lane."""
    later: Callable[[], str] | None = None
    """What makes its name."""
    floating: str | None = None
    """Its name as a float, once it has one."""
    unsettled: bool = False
    """Whether a NaN in it may still be another one than it has to be."""
    summands: tuple[GroupValue, GroupValue, GroupValue] | None = None
    """What it is the sum of."""
    spread: str | None = None
    """Its name as a vector, where it is a scalar that was needed as one."""


@dataclass(slots=True)
class FunctionBody:
    """The text of a function; ``group`` lanes are worked on at once."""

    group: int
    lines: list[str] = field(default_factory=list)
    label: str = "entry"
    """The block of text that is being written."""
    count: int = 0
    declared: dict[str, None] = field(default_factory=dict)
    """Declarations of functions that are called."""

    # --- text -----------------------------------------------------------------------------------------------

    def name(self, kind: str = "v") -> str:
        """Return a new name."""
        self.count += 1
        return f"%{kind}{self.count}"

    def line(self, text: str) -> str:
        """Add a line that makes a value; return the value's name."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Add a line without a value."""
        self.lines.append(f"  {text}")

    def begin(self, label: str) -> None:
        """Begin a block of text."""
        self.lines.append(f"{label}:")
        self.label = label

    def new_label(self, kind: str) -> str:
        """Return a label that is not used yet."""
        self.count += 1
        return f"{kind}{self.count}"

    def branch(self, condition: str, rare: str, mostly: str) -> None:
        """End a block of text: go to ``rare`` where the condition holds, which it seldom does."""
        self.do(f"br i1 {condition}, label %{rare}, label %{mostly}, !prof !0")

    def leave_where(self, condition: str, label: str) -> None:
        """Go to a label, for good, where a condition holds."""
        on = self.new_label("on")
        self.branch(condition, label, on)
        self.begin(on)

    def call(self, result: str, function: str, arguments: Sequence[str], types: Sequence[str] | None = None) -> str:
        """Add a call of a function that is declared by this; return the name of what it returns."""
        kinds = types or [argument.split(" ")[0] if argument[0] != "<" else _vector(argument) for argument in arguments]
        self.declared[f"declare {result} @{function}({', '.join(kinds)})"] = None
        return self.line(f"call {result} @{function}({', '.join(arguments)})")

    # --- types ----------------------------------------------------------------------------------------------

    def of(self, element: str, single: bool = False) -> str:
        """Return the type of an element, or of a vector of a group of them."""
        return element if single else f"<{self.group} x {element}>"

    def kind(self, value: GroupValue) -> str:
        """Return the type of a value."""
        return self.of("i1" if value.bits == 1 else "i32", value.single)

    def splat(self, element: str, number: int | str, single: bool = False) -> str:
        """Return a constant, in every lane where it is a vector."""
        if element == "i1":
            number = "true" if number in (1, -1, "true") else "false"
        return str(number) if single else f"splat ({element} {number})"

    # --- values ---------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Make every result of float operations the one that it has to be; the rest is up to the arithmetic."""

    def named(self, value: GroupValue) -> str:
        """Return the name of a value, as a word or truth value."""
        if value.unsettled:
            self.settle()
        if value.word is None:
            if value.floating is not None:
                value.word = self.line(
                    f"bitcast {self.of('float', value.single)} {value.floating} to {self.kind(value)}"
                )
            else:
                assert value.later is not None, "a value without a name says how it gets one"
                value.word = value.later()
        return value.word

    def vector(self, value: GroupValue) -> str:
        """Return the name of a value as a vector."""
        if not value.single:
            return self.named(value)
        if value.constant is not None:
            return self.splat("i1" if value.bits == 1 else "i32", value.constant)
        if value.spread is None:
            value.spread = self.broadcast("i1" if value.bits == 1 else "i32", self.named(value))
        return value.spread

    def broadcast(self, element: str, name: str) -> str:
        """Return a vector that has a scalar in every lane."""
        kind = self.of(element)
        first = self.line(f"insertelement {kind} poison, {element} {name}, i64 0")
        return self.line(f"shufflevector {kind} {first}, {kind} poison, {self.of('i32')} zeroinitializer")

    def alike(self, values: Iterable[GroupValue]) -> tuple[bool, list[str]]:
        """Return the names of values as scalars, where all are, or as vectors; and which of the two they are."""
        values = list(values)
        if all(value.single for value in values):
            return True, [self.named(value) for value in values]
        return False, [self.vector(value) for value in values]

    def mask_number(self, mask: str) -> str:
        """Return a vector of truth values as a number of as many bits."""
        return self.line(f"bitcast {self.of('i1')} {mask} to i{self.group}")

    def any_of(self, mask: str) -> str:
        """Return whether any lane of a vector of truth values is set."""
        return self.line(f"icmp ne i{self.group} {self.mask_number(mask)}, 0")


def constant(bits: int, number: int) -> GroupValue:
    """Return a value that is known."""
    text = str(number) if bits > 1 else ("true" if number else "false")
    return GroupValue(bits, True, text, number, tree=number)


def _vector(argument: str) -> str:
    return argument[: argument.index(">") + 1]
