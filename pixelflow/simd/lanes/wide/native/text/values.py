"""Values of native code for groups of lanes, the text of a function as it grows, and what all floats in it have alike.

A value is a word or a truth value, the same in all lanes of a group (a scalar) or of its own in each (a vector).
Results of float operations are left unsettled for a while: which NaN comes out is looked at once for many of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pixelflow.simd.lanes.form import FormStep, Op

__all__ = ["DOUBLE", "FLOAT", "FloatText", "FloatType", "FunctionBody", "GroupValue", "Tree", "constant"]

_OUT_OF_RANGE = 0x80000000
_ROUNDS = ("roundeven", "floor", "ceil", "trunc")
"""Functions of LLVM by the number of a `Rounding`."""
_FUSES = (Op.FLOAT_FUSE, Op.DOUBLE_FUSE)
_OPERATORS = {
    Op.FLOAT_ADD: "fadd",
    Op.FLOAT_MULTIPLY: "fmul",
    Op.FLOAT_DIVIDE: "fdiv",
    Op.DOUBLE_ADD: "fadd",
    Op.DOUBLE_MULTIPLY: "fmul",
}
_CONDITIONS = {
    Op.FLOAT_EQUAL: "oeq",
    Op.DOUBLE_EQUAL: "oeq",
    Op.FLOAT_LESS: "olt",
    Op.DOUBLE_LESS: "olt",
}

Tree = int | tuple[str, "Tree", "Tree"]
"""A number that depends on truth values: it, or the name of one with what it is where that is set and where not."""


@dataclass(frozen=True, slots=True)
class FloatType:
    """A format of IEEE 754 as LLVM names it, and its NaNs."""

    element: str
    """Its type."""
    bits: str
    """The type of integers of its size."""
    short: str
    """Its name in those of functions."""
    quiet: int
    """The bit that tells quiet NaNs from signalling ones."""
    indefinite: int
    """The NaN of an operation that has no answer."""


FLOAT = FloatType("float", "i32", "f32", 1 << 22, 0xFFC0 << 16)
DOUBLE = FloatType("double", "i64", "f64", 1 << 51, 0xFFF8 << 48)


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


@dataclass(slots=True)
class FloatText(FunctionBody):
    """The body of a function with what is alike for floats of both formats; all of it returns names."""

    def operated(self, of: FloatType, op: Op, single: bool, names: Sequence[str]) -> str:
        """Add an operation; which NaN comes out is left open."""
        if op in _FUSES:
            return self._function(of, "fma", single, names)
        return self.line(f"{_OPERATORS[op]} {self.of(of.element, single)} {names[0]}, {names[1]}")

    def _function(self, of: FloatType, name: str, single: bool, names: Sequence[str]) -> str:
        kind, suffix = self.of(of.element, single), of.short if single else f"v{self.group}{of.short}"
        return self.call(kind, f"llvm.{name}.{suffix}", [f"{kind} {each}" for each in names])

    def with_care(self, of: FloatType, single: bool, names: Sequence[str], result: str) -> str:
        """Add what makes each NaN in a result what it has to be: the first operand's, quieted, or indefinite."""
        kind, bits, flags = self.of(of.element, single), self.of(of.bits, single), self.of("i1", single)
        chosen = self.splat(of.bits, of.indefinite, single)
        for name in reversed(names):
            is_nan = self.line(f"fcmp uno {kind} {name}, {name}")
            words = self.line(f"bitcast {kind} {name} to {bits}")
            quiet = self.line(f"or {bits} {words}, {self.splat(of.bits, of.quiet, single)}")
            chosen = self.line(f"select {flags} {is_nan}, {bits} {quiet}, {bits} {chosen}")
        is_nan = self.line(f"fcmp uno {kind} {result}, {result}")
        words = self.line(f"bitcast {kind} {result} to {bits}")
        settled = self.line(f"select {flags} {is_nan}, {bits} {chosen}, {bits} {words}")
        return self.line(f"bitcast {bits} {settled} to {kind}")

    def compared(self, of: FloatType, op: Op, single: bool, names: Sequence[str]) -> str:
        """Add a compare, which no NaN meets."""
        return self.line(f"fcmp {_CONDITIONS[op]} {self.of(of.element, single)} {names[0]}, {names[1]}")

    def from_integer(self, of: FloatType, step: FormStep, number: GroupValue) -> str:
        """Add the conversion of a word, signed or not."""
        how, kind = "sitofp" if step.detail else "uitofp", self.of(of.element, number.single)
        return self.line(f"{how} {self.kind(number)} {self.named(number)} to {kind}")

    def to_integer(self, of: FloatType, step: FormStep, single: bool, name: str) -> str:
        """Add the conversion to a signed word; a NaN and what is out of range give 0x80000000."""
        kind, word, flags = self.of(of.element, single), self.of("i32", single), self.of("i1", single)
        whole = self._function(of, _ROUNDS[step.detail], single, [name])
        low, past = (self.splat(of.element, edge, single) for edge in ("-2147483648.0", "2147483648.0"))
        least = self.line(f"fcmp oge {kind} {whole}, {low}")
        most = self.line(f"fcmp olt {kind} {whole}, {past}")
        fits = self.line(f"and {flags} {least}, {most}")
        safe = self.line(f"select {flags} {fits}, {kind} {whole}, {kind} {self.splat(of.element, '0.0', single)}")
        number = self.line(f"fptosi {kind} {safe} to {word}")
        none = self.splat("i32", _OUT_OF_RANGE, single)
        return self.line(f"select {flags} {fits}, {word} {number}, {word} {none}")


def constant(bits: int, number: int) -> GroupValue:
    """Return a value that is known."""
    text = str(number) if bits > 1 else ("true" if number else "false")
    return GroupValue(bits, True, text, number, tree=number)


def _vector(argument: str) -> str:
    return argument[: argument.index(">") + 1]
