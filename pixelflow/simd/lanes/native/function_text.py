"""LLVM text of one function as it grows: lines, labels, calls; and its values, with the operators of Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class FunctionText:
    """The lines of a function, and what must be declared for them."""

    lines: list[str] = field(default_factory=list)
    declared: dict[str, None] = field(default_factory=dict)
    """Declarations of functions that are called."""
    label: str = "entry"
    """The block of lines that is being written."""
    count: int = 0

    def name(self) -> str:
        """Return a new name."""
        self.count += 1
        return f"%v{self.count}"

    def line(self, text: str) -> str:
        """Add a line that makes a value; return the value's name."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Add a line without a value."""
        self.lines.append(f"  {text}")

    def begin(self, label: str) -> None:
        """Begin a block of lines that others go to."""
        self.lines.append(f"{label}:")
        self.label = label

    def new_label(self, kind: str) -> str:
        """Return a label that is not used yet."""
        self.count += 1
        return f"{kind}{self.count}"

    def go(self, label: str) -> None:
        """Go to a label."""
        self.do(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str, *, seldom: bool = False) -> None:
        """Go to one of two labels; ``seldom`` says that the condition holds once in some thousand times."""
        self.do(f"br i1 {condition}, label %{yes}, label %{no}{', !prof !0' if seldom else ''}")

    def call(self, result: str, function: str, arguments: Sequence[str]) -> str:
        """Return the text of a call of a function that is declared by this; an argument is a type and a value."""
        kinds = [each[: each.index(">") + 1] if each[0] == "<" else each.split(" ")[0] for each in arguments]
        self.declared[f"declare {result} @{function}({', '.join(kinds)})"] = None
        return f"call {result} @{function}({', '.join(arguments)})"

    def joined(self, here: LaneVector, first: str, there: LaneVector, second: str) -> LaneVector:
        """Return the value from one of two blocks, at the beginning of a block after both."""
        return here.made(f"phi {here.kind} [{here.name}, %{first}], [{there.name}, %{second}]")

    def leave_where(self, condition: LaneVector, label: str) -> None:
        """Go to a label, for good, where a condition holds in any lane, which it seldom does."""
        on = self.new_label("on")
        self.branch(condition.anywhere().name, label, on, seldom=True)
        self.begin(on)

    # --- values ---------------------------------------------------------------------------------------------

    def value(self, text: str, element: str, size: int = 0) -> LaneVector:
        """Add a line that makes a value of a type; return it."""
        return LaneVector(self, self.line(text), size, element)

    def place(self, element: str, base: str, number: LaneVector | int) -> LaneVector:
        """Return the addresses of elements by their numbers; number 0 is at ``base``."""
        index, size = (number.typed, number.size) if isinstance(number, LaneVector) else (f"i64 {number}", 0)
        return self.value(f"getelementptr {element}, ptr {base}, {index}", "ptr", size)

    def constant(self, number: int | str, size: int, element: str) -> LaneVector:
        """Return a number in every element."""
        return LaneVector(self, literal(number, size, element), size, element)

    def constants(self, element: str, numbers: Sequence[int] | range) -> LaneVector:
        """Return numbers."""
        text = ", ".join(f"{element} {number}" for number in numbers)
        return LaneVector(self, f"<{text}>", len(numbers), element)


def literal(number: int | str, size: int, element: str) -> str:
    """Return the text of a number in every element."""
    if element == "i1" and isinstance(number, int):
        number = "true" if number else "false"
    return f"splat ({element} {number})" if size else str(number)


_SHORT = {"float": "f32", "double": "f64"}
"""Types in the names of functions, other than those of integers."""


def _bits(element: str) -> int:
    return int(_SHORT.get(element, element)[1:])


@dataclass(slots=True, eq=False)
class LaneVector:
    """``size`` values of a type, or a single one where that is 0.

    Integers are modulo the size of their type. Comparisons by operators are of unsigned numbers; they give bits, of
    type i1.
    """

    text: FunctionText
    name: str
    size: int
    element: str

    @property
    def kind(self) -> str:
        """Its type in the IR."""
        return f"<{self.size} x {self.element}>" if self.size else self.element

    @property
    def typed(self) -> str:
        """Its type and name."""
        return f"{self.kind} {self.name}"

    def made(self, text: str, element: str | None = None, size: int | None = None) -> LaneVector:
        """Add a line that makes a value of this type, or another one."""
        size = self.size if size is None else size
        return LaneVector(self.text, self.text.line(text), size, element or self.element)

    def same(self, other: LaneVector | int | str) -> str:
        """Return the name of a value of this type."""
        return other.name if isinstance(other, LaneVector) else literal(other, self.size, self.element)

    def filled(self, number: int | str) -> LaneVector:
        """Return a value of this type with a number in every element."""
        return self.text.constant(number, self.size, self.element)

    # --- arithmetic -----------------------------------------------------------------------------------------

    def step(self, name: str, other: LaneVector | int | str) -> LaneVector:
        """Return the result of an instruction."""
        return self.made(f"{name} {self.kind} {self.name}, {self.same(other)}")

    def __add__(self, other: LaneVector | int) -> LaneVector:
        return self.step("add", other)

    def __sub__(self, other: LaneVector | int) -> LaneVector:
        return self.step("sub", other)

    def __mul__(self, other: LaneVector | int) -> LaneVector:
        return self.step("mul", other)

    def __and__(self, other: LaneVector | int) -> LaneVector:
        return self.step("and", other)

    def __or__(self, other: LaneVector | int) -> LaneVector:
        return self.step("or", other)

    def __xor__(self, other: LaneVector | int) -> LaneVector:
        return self.step("xor", other)

    def __lshift__(self, other: LaneVector | int) -> LaneVector:
        return self.step("shl", other)

    def __rshift__(self, other: LaneVector | int) -> LaneVector:
        return self.step("lshr", other)

    def __invert__(self) -> LaneVector:
        return self ^ -1

    def __neg__(self) -> LaneVector:
        return self.filled(0) - self

    def called(self, name: str, *others: LaneVector | int | str) -> LaneVector:
        """Return the result of a function of LLVM; a text among its arguments has its own type."""
        form = f"{f'v{self.size}' if self.size else ''}{_SHORT.get(self.element, self.element)}"
        given = [each if isinstance(each, str) else f"{self.kind} {self.same(each)}" for each in (self, *others)]
        return self.made(self.text.call(self.kind, f"llvm.{name}.{form}", given))

    def reduced(self, name: str) -> LaneVector:
        """Return a single value made of all elements."""
        text = self.text.call(self.element, f"llvm.vector.reduce.{name}.v{self.size}{self.element}", [self.typed])
        return self.made(text, size=0)

    # --- comparisons, and what follows from bits ------------------------------------------------------------

    def compared(self, how: str, other: LaneVector | int | str) -> LaneVector:
        """Return where a condition of LLVM holds."""
        step = "fcmp" if self.element in _SHORT else "icmp"
        return self.made(f"{step} {how} {self.kind} {self.name}, {self.same(other)}", "i1")

    def equals(self, other: LaneVector | int) -> LaneVector:
        return self.compared("eq", other)

    def differs(self, other: LaneVector | int) -> LaneVector:
        return self.compared("ne", other)

    def __lt__(self, other: LaneVector | int) -> LaneVector:
        return self.compared("ult", other)

    def __ge__(self, other: LaneVector | int) -> LaneVector:
        return self.compared("uge", other)

    def __gt__(self, other: LaneVector | int) -> LaneVector:
        return self.compared("ugt", other)

    def negative(self) -> LaneVector:
        """Return where the top bit is set."""
        return self.compared("slt", 0)

    def is_nan(self) -> LaneVector:
        """Return where a float is a NaN."""
        return self.compared("uno", self)

    def of(self, yes: LaneVector | int | str, no: LaneVector | int | str) -> LaneVector:
        """Return ``yes`` where this bit is set, ``no`` elsewhere; one of them at least is not a text."""
        like = yes if isinstance(yes, LaneVector) else no
        assert isinstance(like, LaneVector), "of two texts the type is not known"
        return like.made(f"select {self.typed}, {like.kind} {like.same(yes)}, {like.kind} {like.same(no)}")

    def as_number(self) -> LaneVector:
        """Return the bits of all elements as one number of as many bits."""
        return self.made(f"bitcast {self.typed} to i{self.size}", f"i{self.size}", 0)

    def as_bits(self) -> LaneVector:
        """Return as many elements as a number has bits."""
        size = _bits(self.element)
        return self.made(f"bitcast {self.typed} to <{size} x i1>", "i1", size)

    def anywhere(self) -> LaneVector:
        """Return a bit that is set where any is."""
        return self.as_number().differs(0) if self.size else self

    # --- other types ----------------------------------------------------------------------------------------

    def converted(self, step: str, element: str) -> LaneVector:
        """Return the result of a conversion, element by element."""
        size = f"<{self.size} x {element}>" if self.size else element
        return self.made(f"{step} {self.typed} to {size}", element)

    def viewed(self, element: str) -> LaneVector:
        """Return the same bytes as elements of another type."""
        size = self.size * _bits(self.element) // _bits(element)
        return self.made(f"bitcast {self.typed} to {f'<{size} x {element}>' if size else element}", element, size)

    def shuffled(self, other: LaneVector | None, order: Sequence[int] | range) -> LaneVector:
        """Return elements by number; those of ``other`` are numbered after this one's."""
        mask = ", ".join(f"i32 {at}" for at in order)
        second = "poison" if other is None else other.name
        text = f"shufflevector {self.typed}, {self.kind} {second}, <{len(order)} x i32> <{mask}>"
        return self.made(text, size=len(order))

    def spread(self, size: int) -> LaneVector:
        """Return a single value in every one of ``size`` elements."""
        kind = f"<{size} x {self.element}>"
        first = self.text.line(f"insertelement {kind} poison, {self.typed}, i64 0")
        return self.made(f"shufflevector {kind} {first}, {kind} poison, <{size} x i32> zeroinitializer", size=size)
