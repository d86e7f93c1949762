"""Expressions over vectors, written as LLVM IR.

A `Text` collects lines; a `LaneVector` is a value in it with the operators of Python. Results are modulo the size of
the elements; comparisons are of unsigned numbers and give a `VectorChoice`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Text:
    """The lines of one function as they grow, and what must be declared for them."""

    lines: list[str] = field(default_factory=list)
    declared: set[str] = field(default_factory=set)

    def line(self, text: str) -> str:
        """Add a line that gives a value; return its name."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def act(self, text: str) -> None:
        """Add a line that gives none."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        """Begin a block of lines that others jump to."""
        self.lines.append(f"{name}:")

    def joined(self, here: LaneVector, first: str, there: LaneVector, second: str) -> LaneVector:
        """Return the value from one of two blocks, at the beginning of a block after both."""
        text = f"phi {here.kind} [{here.name}, %{first}], [{there.name}, %{second}]"
        return LaneVector(self, self.line(text), here.size, here.bits)

    def load(self, size: int, place: str) -> LaneVector:
        """Return ``size`` bytes of memory."""
        return LaneVector(self, self.line(f"load <{size} x i8>, ptr {place}, align 16"), size, 8)

    def constant(self, value: int, size: int, bits: int) -> LaneVector:
        """Return a number in every element."""
        return LaneVector(self, _splat(value, bits), size, bits)


def _splat(value: int, bits: int) -> str:
    value &= (1 << bits) - 1
    return f"splat (i{bits} {value})" if value else "zeroinitializer"


@dataclass(frozen=True, slots=True, eq=False)
class LaneVector:
    """``size`` numbers of ``bits`` bits."""

    text: Text
    name: str
    size: int
    bits: int

    @property
    def kind(self) -> str:
        """Its type in the IR."""
        return f"<{self.size} x i{self.bits}>"

    def _made(self, text: str, bits: int | None = None, size: int | None = None) -> LaneVector:
        return LaneVector(self.text, self.text.line(text), size or self.size, bits or self.bits)

    def _other(self, other: LaneVector | int) -> str:
        return _splat(other, self.bits) if isinstance(other, int) else other.name

    def _with(self, name: str, other: LaneVector | int) -> LaneVector:
        return self._made(f"{name} {self.kind} {self.name}, {self._other(other)}")

    def __add__(self, other: LaneVector | int) -> LaneVector:
        return self._with("add", other)

    def __sub__(self, other: LaneVector | int) -> LaneVector:
        return self._with("sub", other)

    def __mul__(self, other: LaneVector | int) -> LaneVector:
        return self._with("mul", other)

    def __and__(self, other: LaneVector | int) -> LaneVector:
        return self._with("and", other)

    def __or__(self, other: LaneVector | int) -> LaneVector:
        return self._with("or", other)

    def __xor__(self, other: LaneVector | int) -> LaneVector:
        return self._with("xor", other)

    def __lshift__(self, other: LaneVector | int) -> LaneVector:
        return self._with("shl", other)

    def __rshift__(self, other: LaneVector | int) -> LaneVector:
        return self._with("lshr", other)

    def __invert__(self) -> LaneVector:
        return self ^ -1

    def __neg__(self) -> LaneVector:
        return self._made(f"sub {self.kind} zeroinitializer, {self.name}")

    def filled(self, value: int) -> LaneVector:
        """Return a vector of the same kind with a number in every element."""
        return self.text.constant(value, self.size, self.bits)

    # --- comparisons ----------------------------------------------------------------------------------------

    def _compared(self, how: str, other: LaneVector | int) -> VectorChoice:
        name = self.text.line(f"icmp {how} {self.kind} {self.name}, {self._other(other)}")
        return VectorChoice(self.text, name, self.size)

    def equals(self, other: LaneVector | int) -> VectorChoice:
        return self._compared("eq", other)

    def differs(self, other: LaneVector | int) -> VectorChoice:
        return self._compared("ne", other)

    def __lt__(self, other: LaneVector | int) -> VectorChoice:
        return self._compared("ult", other)

    def __ge__(self, other: LaneVector | int) -> VectorChoice:
        return self._compared("uge", other)

    def negative(self) -> VectorChoice:
        """Return where the top bit is set."""
        return self._compared("slt", 0)

    # --- larger steps ---------------------------------------------------------------------------------------

    def least(self, other: LaneVector | int) -> LaneVector:
        """Return the smaller of two."""
        return self._called("umin", self._other(other))

    def most(self, other: LaneVector | int) -> LaneVector:
        """Return the larger of two."""
        return self._called("umax", self._other(other))

    def leading_zeros(self) -> LaneVector:
        """Return how many bits above the highest one are 0; all of them for 0."""
        intrinsic = f"llvm.ctlz.v{self.size}i{self.bits}"
        self.text.declared.add(f"declare {self.kind} @{intrinsic}({self.kind}, i1 immarg)")
        return self._made(f"call {self.kind} @{intrinsic}({self.kind} {self.name}, i1 false)")

    def _called(self, name: str, other: str) -> LaneVector:
        intrinsic = f"llvm.{name}.v{self.size}i{self.bits}"
        self.text.declared.add(f"declare {self.kind} @{intrinsic}({self.kind}, {self.kind})")
        return self._made(f"call {self.kind} @{intrinsic}({self.kind} {self.name}, {self.kind} {other})")

    def viewed(self, bits: int) -> LaneVector:
        """Return the same bytes as elements of another size."""
        size = self.size * self.bits // bits
        return self._made(f"bitcast {self.kind} {self.name} to <{size} x i{bits}>", bits, size)

    def shuffled(self, other: LaneVector | None, order: Sequence[int]) -> LaneVector:
        """Return elements by number; those of ``other`` are numbered after this one's."""
        mask = ", ".join(f"i32 {at}" for at in order)
        second = "poison" if other is None else other.name
        text = f"shufflevector {self.kind} {self.name}, {self.kind} {second}, <{len(order)} x i32> <{mask}>"
        return self._made(text, size=len(order))

    def in_floats(self, step: str, other: LaneVector) -> LaneVector:
        """Return the pattern that a step gives on two patterns of binary32."""
        kind = f"<{self.size} x float>"
        a, b = (self.text.line(f"bitcast {each.kind} {each.name} to {kind}") for each in (self, other))
        found = self.text.line(f"{step} {kind} {a}, {b}")
        return self._made(f"bitcast {kind} {found} to {self.kind}")

    def root_of_floats(self) -> LaneVector:
        """Return the patterns of the square roots of patterns of binary32."""
        kind = f"<{self.size} x float>"
        intrinsic = f"llvm.sqrt.v{self.size}f32"
        self.text.declared.add(f"declare {kind} @{intrinsic}({kind})")
        value = self.text.line(f"bitcast {self.kind} {self.name} to {kind}")
        found = self.text.line(f"call {kind} @{intrinsic}({kind} {value})")
        return self._made(f"bitcast {kind} {found} to {self.kind}")

    def through_double(self, step: str) -> str:
        """Return the numbers, which are below 2^31, as binary64; ``step`` names the conversion."""
        return self.text.line(f"{step} {self.kind} {self.name} to <{self.size} x double>")


@dataclass(frozen=True, slots=True, eq=False)
class VectorChoice:
    """A bit for each element."""

    text: Text
    name: str
    size: int

    def _with(self, name: str, other: str) -> VectorChoice:
        return VectorChoice(self.text, self.text.line(f"{name} <{self.size} x i1> {self.name}, {other}"), self.size)

    def __and__(self, other: VectorChoice) -> VectorChoice:
        return self._with("and", other.name)

    def __or__(self, other: VectorChoice) -> VectorChoice:
        return self._with("or", other.name)

    def __invert__(self) -> VectorChoice:
        return self._with("xor", "splat (i1 true)")

    def anywhere(self) -> str:
        """Return the name of a bit that is set where any is."""
        bits = self.text.line(f"bitcast <{self.size} x i1> {self.name} to i{self.size}")
        return self.text.line(f"icmp ne i{self.size} {bits}, 0")

    def of(self, yes: LaneVector | int, no: LaneVector) -> LaneVector:
        """Return ``yes`` where the bit is set, ``no`` elsewhere."""
        taken = _splat(yes, no.bits) if isinstance(yes, int) else yes.name
        text = f"select <{self.size} x i1> {self.name}, {no.kind} {taken}, {no.kind} {no.name}"
        return LaneVector(self.text, self.text.line(text), no.size, no.bits)

    def number(self, bits: int) -> LaneVector:
        """Return 1 where the bit is set, 0 elsewhere."""
        name = self.text.line(f"zext <{self.size} x i1> {self.name} to <{self.size} x i{bits}>")
        return LaneVector(self.text, name, self.size, bits)


# Binary32: fields, rounding, the ends of the range.
#
# An unrounded result has a sign, an exponent one less than the biased one, and a mantissa with its leading bit and
# eight bits below it, the lowest of which is sticky.


FLOAT_BYTES = 4
STORED = 23
"""Stored bits of the mantissa, the lowest place of the exponent."""
INFINITY = 255 << STORED
QUIET = INFINITY | 1 << (STORED - 1)
"""The only NaN."""
_SIGN = 1 << 31


def sign_of(x: LaneVector) -> LaneVector:
    """Return 1 for negative patterns, 0 for others."""
    return x >> 31


def magnitude_of(x: LaneVector) -> LaneVector:
    """Return a pattern without its sign."""
    return x & (_SIGN - 1)


def exponent_of(x: LaneVector) -> LaneVector:
    """Return the biased exponent."""
    return (x >> STORED) & 255


def fraction_of(x: LaneVector) -> LaneVector:
    """Return the stored bits of the mantissa."""
    return x & ((1 << STORED) - 1)


def mantissa_of(x: LaneVector) -> LaneVector:
    """Return the mantissa with a leading bit, which zeros get as well."""
    return fraction_of(x) | 1 << STORED


def is_nan(x: LaneVector) -> VectorChoice:
    """Return where a pattern is a NaN."""
    return magnitude_of(x) >= INFINITY + 1


def normalised(x: LaneVector) -> tuple[LaneVector, LaneVector]:
    """Return a number shifted so that its top bit is set, and the distance, which is undefined for 0."""
    zeros = x.leading_zeros()
    return x << (zeros & 31), zeros


def packed(exponent: LaneVector, mantissa: LaneVector) -> LaneVector:
    """Return the pattern without sign, rounded to nearest even; ``mantissa`` has its leading bit at the top.

    The leading bit adds 1 to the exponent, and a carry of the rounding propagates into it, up to infinity.
    """
    kept = mantissa >> 8
    rounded = ((mantissa & 255) + (kept & 1) + 127) >> 8
    return (exponent << STORED) + kept + rounded


def signed(pattern: LaneVector, sign: LaneVector) -> LaneVector:
    """Return a pattern with a sign of 0 or 1 in front."""
    return pattern | sign << 31
